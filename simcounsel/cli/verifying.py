"""`verify`: whether runs are as they were written."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app


@app.command()
def verify(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Runs' folders, folders of runs, as of a sweep, or CORPUS.ratings.",
        ),
    ],
) -> None:
    """Check that runs are as they were written: a line for each, and one for each thing that is
    not, with its file and line.

    Each tick's end carries a hash over its lines and the tick before; the first begins from the
    world, its people, seed and prompts. The rest of the manifest has a digest. Calls and vectors
    that events rest on must be there. Calls and what was measured afterwards carry digests. A tick
    or a rating that was not finished is no damage. Nothing is changed. Exit code 1 if any run is
    damaged or of another log version.
    """
    from simcounsel.runs.verifying import verdicts_in

    damaged = 0
    for verdict in (verdict for place in runs for verdict in verdicts_in(place)):
        damaged += bool(verdict.damages)
        for line in verdict.lines():
            typer.echo(line)
    if damaged:
        raise typer.Exit(1)
