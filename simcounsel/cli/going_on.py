"""What beginning and going on with a run at the terminal is made of, whether a world is lived or a
synthesis written.
"""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from simcounsel import interrupts
from simcounsel.cli.weights import console_of, fetch_weights
from simcounsel.entry import INTERRUPTED
from simcounsel.errors import GivenUp, SimcounselError
from simcounsel.named_code import option_for

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices
    from simcounsel.runs.run import Run
    from simcounsel.specs.subject import Subject


def make_ready(
    about: "Subject",
    *,
    quiet: bool,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
) -> None:
    """Before a new run's folder is made: see that the budget can be kept, fetch the weights, and
    see that the models can be opened.
    """
    from simcounsel.engine.opening import check_models
    from simcounsel.llm.budget import check_budget

    names = about.model_names()
    check_budget(budget_usd, budget_calls, names.values(), prices)
    fetch_weights(names, console_of(), quiet)
    check_models(about)


def say_dropped(run: "Run", plain: bool, console: "Console") -> None:
    """Tell of a line that a crash cut short, if one was left out."""
    if run.dropped and plain:
        typer.echo(run.dropped, err=True)
    elif run.dropped:
        console.print(run.dropped)


def to_the_end(
    run: "Run",
    going: Callable[[], str | None],
    closing: Callable[[str | None], None],
    unfinished: str,
) -> None:
    """Go on with a run, then say what came of it, however it ended.

    going: returns why it stopped early, or None. closing: is told that. unfinished: what becomes of
    the work that Ctrl-C or a signal breaks off. GivenUp goes through with the command to go on.
    """
    broken_off = False
    try:
        stopped = going()
    except KeyboardInterrupt:
        broken_off = True
        stopped = f"stopped by {interrupts.cause()}; {unfinished}"
    except GivenUp as error:
        if error.remedy and not run.ticks_done():
            raise  # nothing came of it, and going on would fail the same way
        closing(None)
        more = f" {error.option}" if error.option else ""
        raise error.telling(f"go on with `{_resume(run)}{more}`") from None
    except SimcounselError:
        closing(None)
        raise
    closing(stopped)
    if broken_off:
        sys.exit(INTERRUPTED)


def next_step(run: "Run", stopped: str | None) -> None:
    """The one thing that is best done next: what was broken off is gone on with, the rest is looked
    at. stopped: why it ended before its time, if it did.
    """
    if stopped or not run.ticks_done():
        typer.echo(f"to go on: {_resume(run)}")
    else:
        typer.echo(f"look at it in your browser: simcounsel view {run.folder}")


def _resume(run: "Run") -> str:
    """What to type to go on with it."""
    code = run.about.either(world=lambda world: world.code_names(), synthesis=lambda _: ())
    return f"simcounsel resume {run.folder}{option_for(code)}"
