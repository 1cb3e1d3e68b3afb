"""`verify`: whether runs are as they were written."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app


@app.command()
def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Runs' folders, or folders of runs, as of a sweep."),
    ],
) -> None:
    """Check that runs are as they were written: a line for each, and one for each thing that is
    not, with its file and line.

    Each tick's end carries a hash over its lines and the tick before; the first begins from the
    world, its people, seed and prompts. The rest of the manifest has a digest. Calls and vectors
    that events rest on must be there. A tick that was not finished is no damage. Nothing is
    changed. Exit code 1 if any run is damaged.
    """
    from simcounsel.runs.verifying import runs_in
    from simcounsel.runs.verifying import verify as verdict_of

    damaged = 0
    for run in (run for place in runs for run in runs_in(place)):
        verdict = verdict_of(run)
        damaged += bool(verdict.damages)
        for line in verdict.lines():
            typer.echo(line)
    if damaged:
        raise typer.Exit(1)
