"""`run`, `resume`, `fork`: lives in a world."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.asking import asks_models
from simcounsel.cli.completing import names_of
from simcounsel.cli.dry import say_run
from simcounsel.cli.execution import live
from simcounsel.cli.going_on import make_ready, of_any_kind, rewound
from simcounsel.cli.guest_options import takes_guests
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
from simcounsel.cli.weights import console_of, fetch_weights, price_table

if TYPE_CHECKING:
    from simcounsel.llm.prices import Prices
    from simcounsel.runs.run import Run
    from simcounsel.specs.world import World
    from simcounsel.viewer.human import Board


@app.command()
@asks_models
@runs_code
@takes_guests
def run(
    world: Annotated[
        Path,
        typer.Argument(
            metavar="WORLD",
            help="A world file, or the name of one that is included, such as insomnia"
            " (`simcounsel list` lists them).",
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
    """Run a world: its people live through their days, and all is logged.

    Without an API key the embedded models answer; their weights (190 MB) are fetched on first use.
    Ctrl-C loses nothing: `resume` goes on. --dry-run says what it would cost.

    Example: simcounsel run insomnia --ticks 24
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

    table = price_table(prices)
    if dry_run:
        say_run(loaded, min(ticks or loaded.ticks, loaded.ticks), out, table)
        return
    make_ready(
        loaded,
        check_models,
        quiet=quiet,
        budget_usd=budget_usd,
        budget_calls=budget_calls,
        prices=table,
    )
    begun = begin_run(loaded, out)
    if begun.world.prompts and not loaded.prompts:
        typer.echo(
            f"prompts: {begun.world.prompts.name}, as its model needs; --set prompts=usual for the"
            " usual ones"
        )
    live(
        begun, ticks, quiet, in_flight, budget_usd, budget_calls, table, console_of(), boards, port
    )


@app.command()
@asks_models
@runs_code
@of_any_kind
def resume(
    run: RunFolder,
    again_from: Annotated[
        int | None,
        typer.Option(
            "--from",
            metavar="TICK",
            min=0,
            help=(
                "Run again from this tick: what came after is moved into RUN/aside, and"
                " all of it is asked again."
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
    """Go on with a run that was stopped. Replies that came already are used again.

    It begins after the last complete tick. A synthesis goes on after its last complete wave, and
    --ticks counts waves.
    """
    from simcounsel.runs.run import Run

    opened = Run.open(run)
    if not rewound(opened, again_from, ticks):
        return
    limits = quiet, in_flight, budget_usd, budget_calls
    _go_on(opened, ticks, *limits, price_table(prices), human, human_seconds, human_hints, port)


@app.command()
@asks_models
@runs_code
@takes_guests
@of_any_kind
def fork(
    run: RunFolder,
    at: Annotated[
        int, typer.Option("--at", metavar="TICK", min=1, help="The first tick that is run again.")
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
    """Run again from a moment of a run, with something changed.

    Example: simcounsel fork runs/RUN --at 36 --set condition=client_only
    """
    from simcounsel.engine.forking import fork as fork_run
    from simcounsel.runs.run import Run

    table = price_table(prices)
    opened = Run.open(run)
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
    """Go on in a world."""
    console = console_of()
    boards = _boards(run.world, human, human_seconds, human_hints)
    _say_left(run, [board.who for board in boards])
    fetch_weights(run.manifest.models, console, quiet)
    limits = quiet, in_flight, budget_usd, budget_calls
    live(run, ticks, *limits, prices, console, boards, port)


def _say_left(run: "Run", seated: list[str]) -> None:
    """Say for whom a person spoke so far and nobody does now."""
    from simcounsel.measuring.targets import record_until

    spoken_for = record_until(run, None)[0].seated if run.ticks_done() else {}
    for who in spoken_for:
        if who not in seated:
            typer.echo(
                f"a person spoke for {who} so far; from here on the model speaks for {who}, and"
                f" questionnaires of {who} stay without an answer; --human {who} seats a person"
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
