"""What beginning and going on with a record at the terminal is made of, of whatever kind."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from simcounsel import interrupts
from simcounsel.cli.weights import console_of, fetch_weights
from simcounsel.entry import INTERRUPTED
from simcounsel.errors import GivenUp, SimcounselError
from simcounsel.gallery import located
from simcounsel.named_code import option_for
from simcounsel.record_kinds import About, kind_of

if TYPE_CHECKING:
    from rich.console import Console

    from simcounsel.llm.prices import Prices
    from simcounsel.runs.record import Record

A = TypeVar("A", bound=About)


def of_any_kind(command: Callable[..., None]) -> Callable[..., None]:
    """A command about a run of a world, which hands a record of another kind, with all its options,
    to the command of that name of whoever keeps it.
    """

    @wraps(command)
    def handed(run: Path, **options: Any) -> None:
        (kind_of(Path(located(str(run)))).part(command.__name__) or command)(run, **options)

    return handed


def make_ready(
    about: A,
    check: Callable[[A], None],
    *,
    quiet: bool,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: "Prices",
) -> None:
    """Before a new record's folder is made: see that the budget can be kept, fetch the weights, and
    see that the models can be opened. check: opens them.
    """
    from simcounsel.llm.budget import check_budget

    names = about.model_names()
    check_budget(budget_usd, budget_calls, names.values(), prices)
    fetch_weights(names, console_of(), quiet)
    check(about)


def rewound(run: "Record[Any]", again_from: int | None, ticks: int | None) -> bool:
    """Before a record is gone on with: see that who answered can be asked, move aside what is made
    again from a tick on, and say how far it is; whether anything is left.
    """
    from simcounsel.llm.byhand import check_inherited
    from simcounsel.runs.verifying import check_log

    check_inherited(run.manifest.models.values())
    if again_from is not None:
        from simcounsel.runs.aside import rewind

        typer.echo(f"from {run.kind.unit} {again_from} on moved to {rewind(run, again_from)}")
    check_log(run)
    done, unit = run.ticks_done(), run.kind.unit
    left = run.length - done
    if left <= 0:
        typer.echo(
            f"{run.folder} is complete ({run.length} {unit}s); `simcounsel fork {run.folder} --at"
            f" {unit.upper()}` goes on from any {unit}"
        )
        return False
    now = (
        f"{ticks} more {'comes' if ticks == 1 else 'come'} now"
        if ticks is not None and ticks < left
        else f"the other {left} come now; --ticks N stops before"
    )
    typer.echo(f"{done} of {run.length} {unit}s are complete; {now}")
    return True


def say_dropped(run: "Record[Any]", plain: bool, console: "Console") -> None:
    """Tell of a line that a crash cut short, if one was left out."""
    if run.dropped and plain:
        typer.echo(run.dropped, err=True)
    elif run.dropped:
        console.print(run.dropped)


def say_damages(run: "Record[Any]") -> None:
    """Tell where a record is not as it was written."""
    for damage in run.damages:
        typer.echo(f"damaged: {damage}", err=True)


def to_the_end(
    run: "Record[Any]",
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


def next_step(run: "Record[Any]", stopped: str | None) -> None:
    """The one thing that is best done next: what was broken off is gone on with, the rest is looked
    at. stopped: why it ended before its time, if it did.
    """
    if stopped or not run.ticks_done():
        typer.echo(f"to go on: {_resume(run)}")
    elif run.manifest.parent:
        typer.echo(
            f"compare it with the run it came from: simcounsel view {run.folder.parent}, then tick"
            " both"
        )
    else:
        typer.echo(f"look at it in your browser: simcounsel view {run.folder}")


def _resume(run: "Record[Any]") -> str:
    """What to type to go on with it."""
    return f"simcounsel resume {run.folder}{option_for(run.code_names())}"
