"""`bench protocol`: crises played with a counselor, and how it dealt with them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel import interrupts
from simcounsel.bench.commands import bench, counting
from simcounsel.cli.asking import asks_models
from simcounsel.cli.options import BudgetCalls, BudgetUsd, Fallbacks, InFlight, PricesFile, Quiet
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from simcounsel.bench.folder import Folder, Manifest
    from simcounsel.bench.protocol.counselor import Seat
    from simcounsel.bench.protocol.crises import Crisis
    from simcounsel.bench.protocol.playing import Transcript
    from simcounsel.llm.models import ChatModel
    from simcounsel.llm.prices import Prices
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.specs.world_settings import FallbackLimits


@bench.command("protocol")
@asks_models
def protocol(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A YAML list of crises, a folder of such files, or `crises`: the 60 that come"
            " with simcounsel.",
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", help="Who counsels; `simcounsel models` lists the forms.")
    ],
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help=(
                "A counselor that follows it, and MODEL words it: socratic, supportive, unguided,"
                " single:MANUAL, staged:MANUAL, course:THERAPY (a name or a .yaml file). Without it"
                " MODEL answers alone."
            ),
        ),
    ] = None,
    protected: Annotated[
        bool,
        typer.Option(
            "--protocol/--no-protocol", help="Whether the safety protocol is before the policy."
        ),
    ] = True,
    client_model: Annotated[
        str | None,
        typer.Option(
            "--client-model",
            help="Who plays the clients, keeping to their scripts; without it the scripts answer.",
        ),
    ] = None,
    turns: Annotated[
        int,
        typer.Option(
            "--turns", min=6, max=200, help="Lines of a talk in all; open danger moves its end."
        ),
    ] = 30,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample", min=1, help="So many crises, by danger; a later call may take more."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws the sample, and is sent to the models.")
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder; benches/protocol-[POLICY-]MODEL if not given. The same folder goes on.",
        ),
    ] = None,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    fallbacks: Fallbacks = None,
    quiet: Quiet = False,
) -> None:
    """Clients in crisis talk with a counselor; rates, with 95% intervals, of what it did: detects,
    clarifies, guides to human help, communicates, keeps bounds (five dimensions after VERA-MH).

    Only what a rule can check is counted: asked by name, help named by number of the right country,
    no secrecy, no means, one question at a time, not ended while danger is open. Whether it was
    done well people say: `simcounsel study rate-page OUT/transcripts --instrument crisis_handling`,
    or a judge: `simcounsel corpus rate OUT/transcripts --instrument crisis_handling --model JUDGE`.

    A client says what its file has for what was asked, found by its words. All is kept as it comes:
    the same command goes on after Ctrl-C or a crash.
    """
    from simcounsel.bench.folder import Folder
    from simcounsel.bench.protocol.counselor import Seat
    from simcounsel.bench.protocol.planning import plan_protocol
    from simcounsel.bench.protocol.results import TRANSCRIPTS, protocol_lines, write_results
    from simcounsel.llm.budget import check_budget
    from simcounsel.llm.catalog import open_chat
    from simcounsel.specs.policy_file import policy_named

    if not policy and not protected:
        raise typer.BadParameter(
            "without --policy the model answers alone, and nothing is before it",
            param_hint="--no-protocol",
        )
    counsels = open_chat(model)
    plays = open_chat(client_model) if client_model not in (None, model) else counsels
    manifest, crises = plan_protocol(
        file,
        counsels.name,
        policy=policy,
        protected=protected,
        client_model=plays.name if client_model else None,
        turns=turns,
        sample=sample,
        seed=seed,
    )
    seat = Seat(
        policy=policy_named(policy) if policy else None,
        protected=protected,
        client_model=client_model is not None,
        seed=seed,
    )
    table = price_table(prices)
    names = tuple(dict.fromkeys((counsels.name, *([plays.name] if client_model else []))))
    check_budget(budget_usd, budget_calls, names, table)
    _warn(manifest)
    fetch_weights(dict(zip(names, names, strict=True)), console_of(), quiet)
    folder = out or Path("benches") / _name(manifest)
    with Folder(folder, manifest) as kept:
        models = _models(kept, counsels, plays, in_flight, table)
        _limit(models, folder, budget_usd, budget_calls)
        talks = _play(kept, crises, seat, models, turns, fallbacks, quiet)
        for line in protocol_lines(write_results(kept, crises, talks)):
            typer.echo(line)
    transcripts = (folder / TRANSCRIPTS).parent
    typer.echo(
        f"wrote {folder}/rates.json and {transcripts}; for people to judge: simcounsel study"
        f" rate-page {transcripts} --instrument crisis_handling"
    )


def _models(
    kept: "Folder", counsels: "ChatModel", plays: "ChatModel", in_flight: int, prices: "Prices"
) -> "Switchboard":
    """Whoever is asked; says how many talks there are, and how much was answered before."""
    from simcounsel.llm.catalog import open_embed
    from simcounsel.llm.switchboard import Switchboard

    known = kept.answered()
    typer.echo(
        f"{kept.path}: {len(kept.manifest.cases)} talks"
        + (f"; {len(known)} requests were answered before" if known else "")
    )
    alone = any(one.name.startswith("embedded") for one in (counsels, plays))
    return Switchboard(
        {"reason": counsels, "quick": counsels, "seeker": plays},
        open_embed("scripted"),
        in_flight=1 if alone else in_flight,
        prices=prices,
        recorded=known,
    )


def _limit(
    models: "Switchboard", folder: Path, budget_usd: float | None, budget_calls: float | None
) -> None:
    from simcounsel.bench.folder import calls_of
    from simcounsel.llm.budget import budget_in

    models.limit(budget_in(folder, usd=budget_usd, calls=budget_calls), calls_of(folder))


def _play(
    kept: "Folder",
    crises: "tuple[Crisis, ...]",
    seat: "Seat",
    models: "Switchboard",
    turns: int,
    fallbacks: "FallbackLimits | None",
    quiet: bool,
) -> "tuple[Transcript, ...]":
    """All talks; leaves the program where it was stopped before the end."""
    from simcounsel.bench.protocol.playing import play

    try:
        with counting("talks", len(crises), quiet) as advance:
            return play(
                crises, seat, models, kept, turns=turns, fallbacks=fallbacks, on_done=advance
            )
    except KeyboardInterrupt:
        typer.echo(
            f"stopped by {interrupts.cause()}; what was answered is kept in {kept.path}, the same"
            " command goes on",
            err=True,
        )
        raise typer.Exit(130) from None
    finally:
        models.close()


def _warn(manifest: "Manifest") -> None:
    """What makes the numbers worth less, before any is made."""
    from simcounsel.runs.measurements import is_trial

    if is_trial(manifest.model):
        typer.echo(
            f"{manifest.model} model: it words little by itself; these numbers are about the"
            " protocol's steps and the lines written by hand",
            err=True,
        )
    if is_trial(manifest.options["client-model"]):
        typer.echo(
            f"{manifest.options['client-model']} model: it cannot keep to a script, so what is"
            " known of its clients' danger is wrong; name a capable --client-model, or none",
            err=True,
        )


def _name(manifest: "Manifest") -> str:
    """A folder's name: of the policy if there is one, of the model, of who plays the client."""
    parts = [
        "protocol",
        *([manifest.policy] if manifest.policy else []),
        *(["unprotected"] if manifest.policy and manifest.options["protocol"] == "off" else []),
        manifest.model,
    ]
    if manifest.options["client-model"] != "none":
        parts += ["with", manifest.options["client-model"]]
    return "-".join(re.sub(r"[^\w.+-]+", "-", one).strip("-") for one in parts)
