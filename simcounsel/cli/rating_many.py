"""`rate` of several runs, sweeps and folders: what it says before, meanwhile and at the end."""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simcounsel.cli.many_display import ManyDisplay
from simcounsel.cli.weights import console_of, fetch_weights, price_table
from simcounsel.entry import GIVEN_UP, INTERRUPTED
from simcounsel.runs.spending import cost_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from simcounsel.lab.rating_jobs import Wanted
    from simcounsel.lab.ratings import Progress, Ratings
    from simcounsel.llm.prices import Prices

WORDS = {"nothing": "nothing to measure", "rates": "under way"}


def say_trial(models: Sequence[str]) -> None:
    """That what these models answer is no measurement."""
    typer.echo(
        f"{', '.join(models)} model: for trying the software only; these numbers measure nothing",
        err=True,
    )


def rate_many(
    places: Sequence[Path],
    wanted: "Wanted",
    processes: int | None,
    in_flight: int,
    budget_usd: float | None,
    budget_calls: float | None,
    prices: Path | None,
    quiet: bool,
    dry_run: bool,
) -> None:
    """Measure all runs in these places, or only say what it would take. prices: a file of one's
    own.
    """
    from simcounsel.instruments.clinicians import clinicians_said
    from simcounsel.lab.places import common_place, world_runs
    from simcounsel.lab.ratings import Ratings
    from simcounsel.llm.budget import budget_in
    from simcounsel.runs.measurements import FOLDER, is_trial

    folders = world_runs(places)
    if dry_run:
        say_before(folders, wanted, price_table(prices))
        return
    models = wanted.models(folders)
    asked = [name for role, name in models.items() if role != "embed"]
    if trial := [name for name in asked if is_trial(name)]:
        say_trial(trial)
    answered = f", answered by {', '.join(asked)}" if asked else ""
    typer.echo(f"{len(folders)} runs to measure with {wanted.instrument}{answered}")
    console = console_of()
    fetch_weights(models, console, quiet=True)
    kept_in = common_place(folders) / FOLDER
    ratings = Ratings(
        folders,
        wanted,
        processes=processes or os.cpu_count() or 1,
        in_flight=in_flight,
        prices_file=prices,
        budget=budget_in(kept_in, usd=budget_usd, calls=budget_calls),
        kept_in=kept_in,
    )
    with RatingsDisplay(console, ratings, quiet or not console.is_terminal) as display:
        done = ratings.run(display.on_change)
    if asked:
        typer.echo(clinicians_said(wanted.instrument, models.get("judge")))
    _say_after(ratings, done)


def say_before(
    folders: Sequence[Path], wanted: "Wanted", prices: "Prices", chat: str | None = None
) -> None:
    """What rating these runs would take. chat: one conversation of a single run alone."""
    from simcounsel.lab.rehearsal import rehearse_all

    found = rehearse_all(folders, wanted, prices, chat)
    typer.echo("dry run      nothing is asked, nothing is written")
    if found.models:
        typer.echo(f"models       {', '.join(found.models)}")
    for line in found.lines():
        typer.echo(line)


def _say_after(ratings: "Ratings", done: bool) -> None:
    states = Counter(one.state for one in ratings.progress.values())
    told = ", ".join(f"{count} {WORDS.get(state, state)}" for state, count in states.items())
    calls, usd = ratings.spent()
    typer.echo(f"{told}; {calls} requests, {cost_text(usd, 0)}")
    if ratings.stopping:
        typer.echo(f"{ratings.stopping}; the same command goes on, and asks nothing twice")
    elif "given up" in states:
        typer.echo("what was given up goes on with the same command")
    if ratings.interrupted and "failed" not in states:
        sys.exit(INTERRUPTED)
    if not done:
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)


class RatingsDisplay(ManyDisplay["Progress"]):
    """A table of the runs under way in a terminal; elsewhere a line for each run that ends."""

    def __init__(self, console: "Console", ratings: "Ratings", plain: bool) -> None:
        from simcounsel.lab.ratings import ENDED

        self.ratings = ratings
        super().__init__(console, plain, ENDED)

    def _progress(self) -> "Mapping[str, Progress]":
        return self.ratings.progress

    def _line(self, name: str, one: "Progress") -> str:
        cause = f": {one.cause}" if one.cause and one.state != "nothing" else ""
        measured = f"  {one.measured} measured" if one.targets is not None else ""
        every = self.ratings.progress
        return (
            f"{WORDS.get(one.state, one.state):8s} {name}{measured}{cause}  ({len(self._reported)}"
            f" of {len(every)})"
        )

    def _draw(self) -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        every = list(self.ratings.progress.values())
        states = Counter(one.state for one in every)
        calls, usd = self.ratings.spent()
        title = ", ".join(f"{count} {WORDS.get(state, state)}" for state, count in states.items())
        title += f"; {calls} requests, {cost_text(usd, 0)}"
        table = Table(box=None, padding=(0, 2), show_edge=False, title_justify="left", title=title)
        for heading in ("run", "", "measured", "requests"):
            table.add_column(heading, no_wrap=True)
        for one in [one for one in every if one.state == "rates"][:20]:
            of = one.targets or 0
            table.add_row(
                Text(one.folder.name),
                ProgressBar(total=of or 1, completed=one.measured, width=24),
                f"{one.measured} of {of}" if of else "...",
                str(one.calls),
            )
        return table
