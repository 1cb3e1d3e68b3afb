"""The runs of a study that is made of an experiment's: what is left of them, or the exit code that
says why not all are there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from simcounsel.cli.sweep import live
from simcounsel.entry import GIVEN_UP
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment


def run_all(
    experiment: Experiment,
    cells: Sequence[Cell],
    runs: Path,
    *,
    processes: int | None,
    in_flight: int,
    quiet: bool,
    prices: Path | None,
) -> None:
    """Run what is left in the folder `runs`; leaves the program where something stays undone."""
    running, done = live(
        experiment,
        tuple(cells),
        runs,
        processes=processes,
        in_flight=in_flight,
        quiet=quiet,
        prices=prices,
    )
    if not done:
        typer.echo("not all runs are done; the same command goes on")
        states = {progress.state for progress in running.progress.values()}
        sys.exit(GIVEN_UP if "given up" in states and "failed" not in states else 1)
