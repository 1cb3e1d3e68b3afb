"""`--dry-run`: what would be asked, before anything is."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from simcounsel.llm.prices import Prices
    from simcounsel.specs.subject import Subject


def say_run(about: "Subject", ticks: int | None, runs: Path, prices: "Prices") -> None:
    """What a run would take. ticks: None for all, or all waves. runs: where earlier ones lie."""
    from simcounsel.lab.forecast import forecast

    names = about.model_names()
    _say_models(names.values())
    length = min(ticks or about.length, about.length)
    for line in forecast(about, length, runs).lines(names, prices):
        typer.echo(line)


def _say_models(names: Iterable[str]) -> None:
    typer.echo("dry run      nothing is asked, nothing is written")
    typer.echo(f"models       {', '.join(sorted(set(names)))}")
