"""A run at the terminal: its display, a human who takes part, what is said at its end."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import typer

from simcounsel.cli.going_on import next_step, say_dropped, to_the_end

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices
    from simcounsel.llm.switchboard import Switchboard
    from simcounsel.runs.run import Run
    from simcounsel.viewer.human import Board


def live(
    run: "Run",
    ticks: int | None,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
    console: "Console",
    boards: "Sequence[Board]" = (),
    port: int = 0,
) -> None:
    """Live through a run at the terminal, then say what happened and how to go on. boards: of the
    humans who take part.
    """
    from simcounsel.cli.run_display import LiveDisplay, PlainDisplay
    from simcounsel.engine.opening import models_for
    from simcounsel.engine.simulation import Limits, Simulation

    plain = quiet or not console.is_terminal
    begins = run.ticks_done()
    if run.world.days == "skipped" and begins:
        begins = next((tick for tick in run.world.appointed() if tick >= begins), begins)
    last = run.world.ticks if ticks is None else min(run.world.ticks, begins + ticks)
    display = PlainDisplay(console, last) if plain else LiveDisplay(console, last)
    models = models_for(run, in_flight=in_flight, prices=prices)
    if not plain:
        console.print(
            f"{run.folder}: Ctrl-C stops, `simcounsel resume` goes on",
            markup=False,
            highlight=False,
        )

    def going() -> str | None:
        with _taking_part(run, models, boards, port), display:
            simulation = Simulation(
                run.world,
                run=run,
                models=models,
                limits=Limits(
                    in_flight=in_flight, budget_usd=budget_usd, budget_calls=budget_calls
                ),
                on_event=display.on_event,
            )
            display.watch(simulation)
            say_dropped(run, plain, console)
            simulation.run(ticks)
            return simulation.stopped_because

    to_the_end(run, going, partial(_closing, run), "the unfinished tick is run again on resume")


@contextmanager
def _taking_part(
    run: "Run", models: "Switchboard", boards: "Sequence[Board]", port: int
) -> Iterator[None]:
    """The pages on which humans take part, if any do, for as long as the run goes on."""
    if not boards:
        yield
        return
    from simcounsel.viewer.turns import taking_part

    with ExitStack() as pages:
        for number, board in enumerate(boards):
            where = port + number if port else 0
            address = pages.enter_context(taking_part(run.folder, models, board, where))
            whose = "you speak" if number == 0 else "somebody else speaks"
            typer.echo(
                f"{whose} for {board.who}: open {address}  (it shows what {board.who} knows)"
            )
        typer.echo(f"to watch the run, elsewhere: simcounsel view {run.folder}")
        seconds = boards[0].seconds
        typer.echo(
            "it waits for your lines as long as you need; --human-seconds sets a limit"
            if seconds is None
            else f"{seconds:g} s for each line; without one that conversation ends, and"
            " nothing is said in your name"
        )
        yield


def _closing(run: "Run", stopped: str | None) -> None:
    """What happened, and what is best done next."""
    from simcounsel.instruments.safety_moves import dangers_in_files, files_text
    from simcounsel.runs.summary import summary_lines

    for line in summary_lines(run, lambda world: files_text(dangers_in_files(world))):
        typer.echo(line)
    if stopped:
        typer.echo(f"stopped        {stopped}")
    next_step(run, stopped)
