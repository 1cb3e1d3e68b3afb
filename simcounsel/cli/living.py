"""`run`, `resume`, `fork`: lives in a world."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.completing import names_of
from simcounsel.cli.dry import say_run
from simcounsel.cli.execution import live
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    DryRun,
    HumanHints,
    HumanNames,
    HumanPort,
    HumanSeconds,
    InFlight,
    Model,
    Out,
    PricesFile,
    Quiet,
    RunFolder,
    Sets,
    Ticks,
    changes_of,
    with_model,
)
from simcounsel.cli.running_code import runs_code
from simcounsel.cli.synthesis_run import write
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from simcounsel.llm.prices import Prices
    from simcounsel.runs.run import Run, SynthesisRun, WorldRun
    from simcounsel.specs.world import World
    from simcounsel.standins.human import Board


@app.command()
@asks_models
@runs_code
def run(
    world: Annotated[
        Path,
        typer.Argument(
            metavar="WORLD",
            help="A world file, or the name of one that comes along, such as insomnia"
            " (`simcounsel worlds` lists them).",
            autocompletion=names_of("worlds"),
        ),
    ],
    out: Out = Path("runs"),
    model: Model = None,
    ticks: Ticks = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="In place of the world's.")
    ] = None,
    condition: Annotated[
        str | None,
        typer.Option(
            "--condition", help="client_only, client_layperson, client_counselor or everyone."
        ),
    ] = None,
    sets: Sets = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    dry_run: DryRun = False,
    human: HumanNames = None,
    human_seconds: HumanSeconds = None,
    human_hints: HumanHints = False,
    port: HumanPort = 0,
) -> None:
    """Live through a world and leave a run behind.

    Without an API key it uses the embedded models; their weights (about 190 MB to fetch) come on
    first use. Ctrl-C loses nothing: `resume` goes on. --dry-run says before what it would cost.
    """
    from simcounsel.specs.world_file import load_world

    changes = changes_of(sets)
    if seed is not None:
        changes["seed"] = seed
    if condition is not None:
        changes["condition"] = condition
    loaded = load_world(world, **with_model(changes, model))
    if model is not None and not any(".models" in key for key in changes):
        loaded = loaded.with_one_model({})
    boards = _boards(loaded, human, human_seconds, human_hints)
    from simcounsel.engine.opening import begin_run, check_models
    from simcounsel.llm.budget import check_budget

    table = price_table(prices)
    if dry_run:
        say_run(loaded, ticks, out, table)
        return
    console = console_of()
    check_budget(budget_usd, budget_calls, loaded.model_names().values(), table)
    fetch_weights(loaded.model_names(), console, quiet)
    check_models(loaded)
    live(
        begin_run(loaded, out),
        ticks,
        quiet,
        in_flight,
        budget_usd,
        budget_calls,
        table,
        console,
        boards,
        port,
    )


@app.command()
@asks_models
@runs_code
def resume(
    run: RunFolder,
    again_from: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="TICK",
            min=0,
            help=(
                "Live again from this tick (or wave): what came after is moved into RUN/aside, and"
                " all of it is asked anew."
            ),
        ),
    ] = None,
    ticks: Ticks = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    human: HumanNames = None,
    human_seconds: HumanSeconds = None,
    human_hints: HumanHints = False,
    port: HumanPort = 0,
) -> None:
    """Go on with a run that was stopped, after the last complete tick; replies already paid for are
    used again.

    A synthesis goes on after its last complete wave; --ticks are waves then.
    """
    from simcounsel.llm.byhand import check_inherited
    from simcounsel.runs.run import Run
    from simcounsel.runs.verifying import check_log

    opened = Run.open(run)
    _human_in(opened, human)
    check_inherited(opened.manifest.models.values())
    if again_from is not None:
        from simcounsel.runs.aside import live_again_from

        typer.echo(f"from tick {again_from} on moved to {live_again_from(opened, again_from)}")
    check_log(opened)
    if opened.ticks_done() >= opened.length:
        unit = opened.about.unit
        typer.echo(
            f"{run} is complete ({opened.length} {unit}s); `simcounsel fork {run} --at"
            f" {unit.upper()}` goes on from any {unit}"
        )
        return
    _say_target(opened, ticks)
    limits = quiet, in_flight, budget_usd, budget_calls
    _go_on(opened, ticks, *limits, price_table(prices), human, human_seconds, human_hints, port)


@app.command()
@asks_models
@runs_code
def fork(
    run: RunFolder,
    at: Annotated[
        int, typer.Option("--at", metavar="TICK", min=1, help="The first tick that is lived anew.")
    ],
    sets: Sets = None,
    out: Out = Path("runs"),
    ticks: Ticks = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    human: HumanNames = None,
    human_seconds: HumanSeconds = None,
    human_hints: HumanHints = False,
    port: HumanPort = 0,
) -> None:
    """A what-if: the same past, another future. Of a synthesis: the same waves before --at, others
    from there on.

    Example: simcounsel fork runs/RUN --at 36 --set condition=client_only
    """
    from simcounsel.engine.forking import fork as fork_run
    from simcounsel.runs.run import Run

    table = price_table(prices)
    opened = Run.open(run)
    _human_in(opened, human)
    new = fork_run(opened, at, changes_of(sets), out)
    limits = quiet, in_flight, budget_usd, budget_calls
    _go_on(new, ticks, *limits, table, human, human_seconds, human_hints, port)


def _go_on(
    run: "Run",
    ticks: int | None,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
    human: list[str] | None,
    human_seconds: float | None,
    human_hints: bool,
    port: int,
) -> None:
    """Live on in a world, or write on at a synthesis."""
    limits = quiet, in_flight, budget_usd, budget_calls
    console = console_of()

    def lives(lived: "WorldRun") -> None:
        boards = _boards(lived.world, human, human_seconds, human_hints)
        _say_left(lived, [board.who for board in boards])
        fetch_weights(lived.manifest.models, console, quiet)
        live(lived, ticks, *limits, prices, console, boards, port)

    def writes(written: "SynthesisRun") -> None:
        fetch_weights(written.manifest.models, console, quiet)
        write(written, ticks, *limits, prices, console)

    run.either(world=lives, synthesis=writes)


def _say_target(run: "Run", ticks: int | None) -> None:
    """Say how far the run is, and how far it goes now."""
    done, unit = run.ticks_done(), run.about.unit
    left = run.length - done
    now = (
        f"{ticks} more {'comes' if ticks == 1 else 'come'} now"
        if ticks is not None and ticks < left
        else f"the other {left} come now; --ticks N stops before"
    )
    typer.echo(f"{done} of {run.length} {unit}s are complete; {now}")


def _say_left(run: "WorldRun", seated: list[str]) -> None:
    """Say for whom a person spoke so far and nobody does now."""
    from simcounsel.measuring.targets import record_until

    spoken_for = record_until(run, None)[0].seated if run.ticks_done() else {}
    for who in spoken_for:
        if who not in seated:
            typer.echo(
                f"a person spoke for {who} so far; from here on the model speaks for {who}, and"
                f" questionnaires of {who} stay without an answer; --human {who} seats a person"
            )


def _human_in(run: "Run", human: list[str] | None) -> None:
    """BadParameter where nobody has turns that a human could take; nothing was made or moved
    then.
    """
    if human:
        run.either(world=lambda lived: None, synthesis=_no_turns)


def _no_turns(run: "SynthesisRun") -> NoReturn:
    raise typer.BadParameter(
        f"{run.folder} is a synthesis: nobody lives in it whose turns a human could take; leave"
        " --human out, or take part in a world with `simcounsel run WORLD --human NAME`",
        param_hint="--human",
    )


def _boards(
    world: "World", human: list[str] | None, seconds: float | None, hints: bool
) -> "tuple[Board, ...]":
    """Where the turns of humans who take part wait for their lines, each once."""
    if not human:
        return ()
    from simcounsel.viewer.turns import board_for

    boards = (board_for(world, name, seconds, hints=hints) for name in human)
    return tuple({board.who: board for board in boards}.values())
