"""What a command needs before it asks models: a console, prices, weights."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simcounsel.llm.prices import Prices


def price_table(file: Path | None) -> "Prices":
    """Our prices and the user's own; read before a run's folder is made, since they may be
    wrong.
    """
    from simcounsel.llm.prices import Prices

    return Prices.load(file)


def console_of() -> "Console":
    from simcounsel.terminal import console

    return console()


def fetch_weights(roles: Mapping[str, str], console: "Console", quiet: bool) -> None:
    """Fetch the weights that a role needs and that are missing."""
    from simcounsel.llm.catalog import needed_weights

    pull(needed_weights(roles), console, quiet)


def pull(keys: tuple[str, ...], console: "Console", quiet: bool) -> None:
    """Fetch what is missing of these; size, licence and place are said first."""
    from simcounsel.llm.weights import path_of, state

    missing = [part for part in state(keys) if not part.fetched]
    if not missing:
        return
    for part in missing:
        one = part.weights
        typer.echo(
            f"fetching {one.model}, {one.size_mb:.0f} MB, {one.licence}, into {part.path.parent}"
        )
        if quiet or not console.is_terminal:
            path_of(one.key)
    if quiet or not console.is_terminal:
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        for part in missing:
            task = progress.add_task(part.weights.key, total=None)
            path_of(part.weights.key, partial(_advance, progress, task))


def _advance(progress: "Progress", task: "TaskID", done: int, total: int, what: str) -> None:
    progress.update(task, completed=done, total=total)
