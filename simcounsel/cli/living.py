"""`run`, `resume`, `fork`: lives in a world."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcounsel.cli import app
from simcounsel.cli.options import (
    BudgetCalls,
    BudgetUsd,
    HumanName,
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
)
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.errors import SimcounselError

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.runs.run import Run
    from simcounsel.specs.world import World
    from simcounsel.standins.human import Board


@app.command()
def run(
    world: Annotated[
        Path, typer.Argument(metavar="WORLD", help="A world file, such as worlds/insomnia.yaml.")
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
    human: HumanName = None,
    human_seconds: HumanSeconds = 120,
    port: HumanPort = 0,
) -> None:
    """Live through a world and leave a run behind.

    Without an API key it uses the embedded models; their weights (about 190 MB to fetch) come on
    first use. Ctrl-C loses nothing: `resume` goes on.
    """
    from simcounsel.specs.world_file import load_world

    changes = changes_of(sets)
    if seed is not None:
        changes["seed"] = seed
    if condition is not None:
        changes["condition"] = condition
    if model is not None:
        from simcounsel.llm.catalog import roles_for

        changes["models"] = roles_for(model)
    loaded = load_world(world, **changes)
    if model is not None and not any(".models" in key for key in changes):
        loaded = loaded.with_one_model({})
    board = _board(loaded, human, human_seconds)
    from simcounsel.engine.opening import begin_run, check_models

    console = console_of()
    fetch_weights(loaded.model_names(), console, quiet)
    check_models(loaded)
    table = price_table(prices)
    live(
        begin_run(loaded, out),
        ticks,
        quiet,
        in_flight,
        budget_usd,
        budget_calls,
        table,
        console,
        board,
        port,
    )


@app.command()
def resume(
    run: RunFolder,
    ticks: Ticks = None,
    quiet: Quiet = False,
    in_flight: InFlight = 64,
    budget_usd: BudgetUsd = None,
    budget_calls: BudgetCalls = None,
    prices: PricesFile = None,
    human: HumanName = None,
    human_seconds: HumanSeconds = 120,
    port: HumanPort = 0,
) -> None:
    """Go on with a run that was stopped, after the last complete tick; replies already paid for are
    used again.

    A synthesis goes on after its last complete wave; --ticks are waves then.
    """
    from simcounsel.runs.run import Run

    opened = Run.open(run)
    if opened.ticks_done() >= opened.length:
        if opened.manifest.world:
            typer.echo(
                f"{run} is complete ({opened.length} ticks); `simcounsel fork {run} --at TICK`"
                " lives on from any tick"
            )
        else:
            typer.echo(
                f"{run} is complete ({opened.length} waves); `simcounsel fork {run} --at WAVE` goes"
                " on from any wave"
            )
        return
    if opened.manifest.synthesis:
        from simcounsel.cli.synthesize import write

        console = console_of()
        fetch_weights(opened.manifest.models, console, quiet)
        write(
            opened, ticks, quiet, in_flight, budget_usd, budget_calls, price_table(prices), console
        )
        return
    board = _board(opened.world, human, human_seconds)
    console = console_of()
    fetch_weights(opened.manifest.models, console, quiet)
    live(
        opened,
        ticks,
        quiet,
        in_flight,
        budget_usd,
        budget_calls,
        price_table(prices),
        console,
        board,
        port,
    )


@app.command()
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
    human: HumanName = None,
    human_seconds: HumanSeconds = 120,
    port: HumanPort = 0,
) -> None:
    """A what-if: the same past, another future. Of a synthesis: the same waves before --at, others
    from there on.

    Example: simcounsel fork runs/RUN --at 36 --set condition=client_only
    """
    from simcounsel.engine.forking import fork as fork_run
    from simcounsel.runs.run import Run

    table = price_table(prices)
    new = fork_run(Run.open(run), at, changes_of(sets), out)
    if new.manifest.synthesis:
        from simcounsel.cli.synthesize import write

        console = console_of()
        fetch_weights(new.manifest.models, console, quiet)
        write(new, ticks, quiet, in_flight, budget_usd, budget_calls, table, console)
        return
    board = _board(new.world, human, human_seconds)
    console = console_of()
    fetch_weights(new.manifest.models, console, quiet)
    live(new, ticks, quiet, in_flight, budget_usd, budget_calls, table, console, board, port)


def _board(world: "World", human: str | None, seconds: float) -> "Board | None":
    """Where the turns of a human who takes part wait for their lines."""
    if human is None:
        return None
    from simcounsel.viewer.turns import board_for

    return board_for(world, human, seconds)


def live(
    run: "Run",
    ticks: int | None,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: int | None,
    prices: "Prices",
    console: "Console",
    board: "Board | None" = None,
    port: int = 0,
) -> None:
    """Live through a run on the screen, then say what happened and how to go on. board: a human
    takes part.
    """
    from simcounsel.cli.run_display import LiveScreen, PlainScreen
    from simcounsel.engine.opening import models_for
    from simcounsel.engine.simulation import Limits, Simulation

    plain = quiet or not console.is_terminal
    screen = PlainScreen(console) if plain else LiveScreen(console, run.world.ticks)
    models = models_for(run, in_flight=in_flight, prices=prices)
    if not plain:
        console.print(
            f"{run.folder}: Ctrl-C stops, `simcounsel resume` goes on",
            markup=False,
            highlight=False,
        )
    stopped: str | None = None
    try:
        with _taking_part(run, models, board, port), screen:
            simulation = Simulation(
                run.world,
                run=run,
                models=models,
                limits=Limits(
                    in_flight=in_flight, budget_usd=budget_usd, budget_calls=budget_calls
                ),
                on_event=screen.on_event,
            )
            screen.watch(simulation)
            if run.dropped:
                typer.echo(run.dropped, err=True)
            simulation.run(ticks)
            stopped = simulation.stopped_because
    except KeyboardInterrupt:
        stopped = "stopped by Ctrl-C; the unfinished tick is lived again on resume"
    except SimcounselError:
        _closing(run, None, console)
        raise
    _closing(run, stopped, console)


@contextmanager
def _taking_part(
    run: "Run", models: "Switchboard", board: "Board | None", port: int
) -> Iterator[None]:
    """The page on which a human takes part, if one does, for as long as the run goes on."""
    if board is None:
        yield
        return
    from simcounsel.viewer.turns import taking_part

    with taking_part(run.folder, models, board, port) as address:
        typer.echo(f"you speak for {board.who}: open {address}")
        typer.echo(
            f"{board.seconds:g} s for each line; without one a polite line is said for you, and the"
            " run goes on"
        )
        yield


def _closing(run: "Run", stopped: str | None, console: "Console") -> None:
    """What happened, and the commands to go on."""
    from simcounsel.runs.summary import summary_lines

    for line in summary_lines(run):
        typer.echo(line)
    if stopped:
        typer.echo(f"stopped        {stopped}")
    typer.echo("go on with")
    if run.ticks_done() < run.world.ticks:
        typer.echo(f"  simcounsel resume {run.folder}")
    typer.echo(f"  simcounsel view {run.folder}")
    if number := _telling(run):
        typer.echo(f"  simcounsel show {run.folder} --conversation {number}")
    if run.ticks_done():
        typer.echo(
            f"  simcounsel fork {run.folder} --at {max(1, run.ticks_done() // 2)} --set"
            " condition=client_only"
        )


def _telling(run: "Run") -> int | None:
    """The number of the first conversation with a counselor, or else of the first; None when nobody
    talked.
    """
    from simcounsel.events import ConversationStarted

    counselors = {one.name for one in run.world.residents if one.role == "counselor"}
    talks = [entry.event for entry in run.entries() if isinstance(entry.event, ConversationStarted)]
    return next(
        (number for number, talk in enumerate(talks, 1) if counselors & set(talk.who)),
        1 if talks else None,
    )
