"""A synthesis at the terminal: its display, what is said at its end."""

from functools import partial
from typing import TYPE_CHECKING

import typer

from simcounsel.cli.going_on import next_step, say_dropped, to_the_end

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices
    from simcounsel.runs.run import SynthesisRun


def write(
    run: "SynthesisRun",
    waves: int | None,
    quiet: bool,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
    console: "Console",
) -> None:
    """Write sessions at the terminal, then say what came of it and how to go on."""
    from simcounsel.corpus.synthesis import Workshop
    from simcounsel.corpus.synthesis.progress import progress
    from simcounsel.engine.opening import models_for

    plain = quiet or not console.is_terminal
    typer.echo(f"{run.folder}: Ctrl-C stops, `simcounsel resume` goes on")

    def going() -> str | None:
        with progress(console, run.synthesis, plain) as watching:
            workshop = Workshop(
                run,
                models=models_for(run, in_flight=in_flight, prices=prices),
                budget_usd=budget_usd,
                budget_calls=budget_calls,
                on_line=watching.on_line,
                on_wave=watching.on_wave,
            )
            watching.begin(workshop)
            say_dropped(run, plain, console)
            workshop.run(waves)
            return workshop.stopped_because

    unfinished = "the unfinished wave is written again on resume, from the replies that came"
    to_the_end(run, going, partial(_closing, run), unfinished)


def _closing(run: "SynthesisRun", stopped: str | None) -> None:
    """What came of it, and the commands to go on."""
    from simcounsel.corpus.synthesis.account_text import account_lines, checks_line

    for line in account_lines(run):
        typer.echo(line)
    if run.ticks_done():
        typer.echo(checks_line(run))
    if stopped:
        typer.echo(f"stopped        {stopped}")
    next_step(run, stopped)
