"""`simcounsel mirrored RUN`: a command of the package's own."""

from pathlib import Path
from typing import Annotated

import typer

from mirroring.policy import Mirrored
from simcounsel import load_run, written


def mirrored(run: Annotated[Path, typer.Argument(help="A run's folder.")]) -> None:
    """Say which words were mirrored in a run."""
    events = (entry.event for entry in load_run(run).entries())
    for one in written(events, Mirrored):
        typer.echo(f"{one.nth}. {one.who}: {one.word}")
