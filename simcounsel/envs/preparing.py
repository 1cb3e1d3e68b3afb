"""What an environment is made from: numbers within their bounds, the world with the models that
were named, and the client of an episode.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.llm.catalog import open_chats, open_embed
from simcounsel.llm.switchboard import Switchboard
from simcounsel.specs.practice import check_locale
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.world import World


def chosen_client(
    options: Mapping[str, Any], clients: Sequence[ResidentSpec]
) -> ResidentSpec | None:
    """The client that the options name; None when they name none. SpecError otherwise."""
    unknown = sorted(set(options) - {"client"})
    if unknown:
        raise SpecError([f"options: unknown {unknown[0]!r}; there is client"])
    if "client" not in options:
        return None
    found = next((one for one in clients if one.name == options["client"]), None)
    if found is None:
        raise SpecError(
            [
                f"options: no client {options['client']!r} in this environment; there are"
                f" {', '.join(one.name for one in clients)}"
            ]
        )
    return found


def check_numbers(**numbers: tuple[int | None, int, int]) -> None:
    """Each number within its bounds, or None where that is allowed."""
    wrong = [
        f"{name}: {value!r}; a whole number from {low} to {high}"
        for name, (value, low, high) in numbers.items()
        if not (value is None and name == "max_turns")
        and (not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high)
    ]
    if wrong:
        raise SpecError(wrong)


def world_with(world: World, model: str | None, judge: str | None) -> World:
    """The world with other models, if wanted; the scripted one brings its own vectors."""
    roles: dict[str, str | None] = (
        {} if model is None else {"reason": model, "quick": None, "judge": None}
    )
    if model == "scripted":
        roles["embed"] = "scripted"
    if judge is not None:
        roles["judge"] = judge
    check_locale(world.safety)
    world = (
        world.with_one_model(roles)
        if model is not None
        else world.model_copy(update={"models": world.models.model_copy(update=roles)})
    )
    replaying = next(
        (name for name in world.model_names().values() if name.startswith("recorded:")), None
    )
    if replaying:
        raise SpecError(
            [
                f"model: {replaying!r} repeats what was said in a run, and cannot answer anybody"
                " else; name a model that can"
            ]
        )
    return world


def open_models(world: World) -> Switchboard:
    """The models that the world names. ModelError says what is missing."""
    roles = world.model_names()
    return Switchboard(open_chats(roles), open_embed(roles["embed"]))
