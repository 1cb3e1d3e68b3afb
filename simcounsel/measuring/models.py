"""Which model answers for whom, once a run is over."""

from collections.abc import Iterable, Mapping

from simcounsel.errors import RunError, WeightsError
from simcounsel.instruments.kind import Counted
from simcounsel.instruments.scale import Scale
from simcounsel.llm import weights
from simcounsel.llm.catalog import needed_weights, open_chat, open_embed
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.runs.spending import is_by_hand

IN_PLACE_OF_HANDS = "embedded"
"""Who answers afterwards, where answers were written by hand: nobody writes them any more."""


def answering_model(run: Run, who: str) -> str:
    """The `reason` model of a resident, its own or the world's; of a run that replays another, that
    of the other; of one that was answered by hand, the embedded model.
    """
    return asked_afterwards(spoke(run, who))


def spoke(run: Run, who: str) -> str:
    """The model that answered for a resident while the run was made."""
    return source_of(run).manifest.model_of("reason", who)


def asked_afterwards(model: str) -> str:
    """The model that is asked once a run is over, unless another is named."""
    return IN_PLACE_OF_HANDS if is_by_hand(model) else model


def open_models(run: Run, model: str, prices: Prices | None = None) -> Switchboard:
    """That model for the answers, and the run's own for the vectors, since its memories lie among
    them.
    """
    chat = open_chat(model)
    return Switchboard(
        {"reason": chat, "quick": chat, "judge": chat},
        open_embed(roles(run, model)["embed"]),
        prices=prices,
    )


def roles(run: Run, model: str) -> dict[str, str]:
    """Which model does what in an interview."""
    return {"reason": model, "embed": source_of(run).manifest.models["embed"]}


def need_weights(wanted: Mapping[str, str]) -> None:
    """WeightsError with the command that fetches what is missing: a page does not wait for 190 MB.
    wanted: models by role.
    """
    missing = [one for one in weights.state(needed_weights(wanted)) if not one.fetched]
    if missing:
        asked = [one for one in dict.fromkeys(wanted.values()) if needed_weights({"reason": one})]
        names = " ".join(f"--model {one}" for one in asked)
        raise WeightsError(
            f"weights are missing ({', '.join(one.weights.key for one in missing)}); fetch them"
            f" with `simcounsel models --pull {names}`"
        )


def may_cost(run: Run, model: str) -> bool:
    """Whether asking may cost money: true unless the model and the vectors are known to be free."""
    prices = Prices.load()
    return any(
        prices.cost_usd(name, 1_000_000, 1_000_000) != 0 for name in roles(run, model).values()
    )


def source_of(run: Run) -> Run:
    """The run whose models spoke: this one, or the one that it replays."""
    seen = {run.folder}
    while (
        source := next(
            (spec for spec in run.manifest.models.values() if spec.startswith("recorded:")), None
        )
    ) is not None:
        try:
            run = Run.open(source.removeprefix("recorded:"))
        except RunError as error:
            raise RunError(
                f"this run replays {source.removeprefix('recorded:')}, whose model would answer:"
                f" {error}"
            ) from None
        if run.folder in seen:
            raise RunError(f"{run.folder}: it replays itself")
        seen.add(run.folder)
    return run


def default_judge(run: Run, scale: Scale | Counted) -> str:
    """Who answers if nobody else is named: for a self-report the world's `reason`, unless the
    resident has a model of its own, for an observer the run's `judge`.
    """
    models = source_of(run).manifest.models
    return asked_afterwards(models["reason" if scale.respondent == "self" else "judge"])


def own_models(run: Run, people: Iterable[str]) -> dict[str, str]:
    """By name the `reason` models of those who have one of their own."""
    manifest = source_of(run).manifest
    found = {who: manifest.model_of("reason", who) for who in people}
    return {
        who: asked_afterwards(model)
        for who, model in found.items()
        if model != manifest.models["reason"]
    }
