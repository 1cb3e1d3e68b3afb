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
    """Fetch the embedded models' weights if a role needs them and they are missing."""
    if "embedded" in {str(name).split("+")[0] for name in roles.values()}:
        from simcounsel.llm.catalog import needed_weights

        pull(needed_weights(roles), console, quiet)


def pull(keys: tuple[str, ...], console: "Console", quiet: bool) -> None:
    from simcounsel.llm.weights import path_of, state

    missing = [
        part.weights.key for part in state() if part.weights.key in keys and not part.fetched
    ]
    if not missing:
        return
    if quiet or not console.is_terminal:
        for key in missing:
            typer.echo(f"fetching weights: {key} ...")
            path_of(key)
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
        for key in missing:
            task = progress.add_task(f"weights: {key}", total=None)
            path_of(key, partial(_advance, progress, task))


def _advance(progress: "Progress", task: "TaskID", done: int, total: int, what: str) -> None:
    progress.update(task, completed=done, total=total)
