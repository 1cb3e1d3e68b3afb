"""`--dry-run`: what would be asked, before anything is."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simcounsel.record_kinds import WORLD, About, RecordKind

if TYPE_CHECKING:
    from simcounsel.llm.prices import Prices


def say_run(
    about: About, ticks: int, runs: Path, prices: "Prices", kind: RecordKind = WORLD
) -> None:
    """What a record would take in its first ticks. runs: where earlier ones lie. kind: its kind."""
    from simcounsel.lab.forecast import forecast

    names = about.model_names()
    _say_models(names.values())
    for line in forecast(about, ticks, runs, kind).lines(names, prices):
        typer.echo(line)


def _say_models(names: Iterable[str]) -> None:
    typer.echo("dry run      nothing is asked, nothing is written")
    typer.echo(f"models       {', '.join(sorted(set(names)))}")
