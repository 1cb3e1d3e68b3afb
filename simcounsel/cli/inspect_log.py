"""`inspect-log`: runs as logs of Inspect."""

from pathlib import Path
from typing import Annotated

import typer

from simcounsel.cli import app, completing
from simcounsel.cli.options import Damaged


@app.command("inspect-log")
def inspect_log(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Runs' folders, or gallery:NAME.", autocompletion=completing.runs
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for RUN.eval.")
    ] = Path("logs"),
    requests: Annotated[
        bool,
        typer.Option(
            "--requests",
            help="With every request to a model as an event. Inspect's frame of messages then holds"
            " the requests in place of the lines that were said.",
        ),
    ] = False,
    damaged: Damaged = False,
) -> None:
    """Write runs as logs of Inspect, for its viewer and its data frames: a sample a conversation,
    with its lines and scores.

    Example: simcounsel inspect-log gallery:first-days -o logs; inspect view --log-dir logs
    """
    from simcounsel.corpus.inspect_log import write_log
    from simcounsel.runs.record import open_record
    from simcounsel.runs.verifying import checked

    for run in runs:
        opened = checked(open_record(run, damaged=damaged))
        typer.echo(f"wrote {write_log(opened, out, requests=requests)}")
    typer.echo(f"now: inspect view --log-dir {out}")
