"""The page on trainings: figures, their table, and why some must not be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.page import any_text, page_in, records, write_page
from analysis.style import Picture
from analysis.trainings import pictures
from analysis.trainings.folders import (
    TrainingRead,
    by_amount,
    by_privacy,
    doubts,
    read_trainings,
    table,
)


@dataclass(frozen=True, kw_only=True)
class TrainingsReport:
    """All that the page says."""

    trainings: list[TrainingRead]
    table: pd.DataFrame
    pictures: dict[str, Picture]
    """By id."""
    doubts: list[str]
    headline: list[str]


@any_text
def make(places: Sequence[Path]) -> TrainingsReport:
    """Read and draw. ReportError says what cannot be read."""
    trainings = read_trainings(places)
    private, amounts = by_privacy(trainings), by_amount(trainings)
    drawn = (
        pictures.utility(private),
        pictures.attack(private),
        pictures.rounds(trainings),
        pictures.memorization(private),
        pictures.amount(amounts),
    )
    return TrainingsReport(
        trainings=trainings,
        table=table(trainings),
        pictures={one.id: one for one in drawn if one},
        doubts=doubts(trainings),
        headline=headline(trainings, private, amounts),
    )


def headline(
    trainings: Sequence[TrainingRead],
    private: Sequence[TrainingRead],
    amounts: Sequence[TrainingRead],
) -> list[str]:
    """What is to be said first, in sentences."""
    said = [
        f"{len(trainings)} trainings, {sum(one.after is not None for one in trainings)} of them"
        " finished."
    ]
    strict = min(
        (one for one in private if one.epsilon is not None),
        key=lambda one: one.epsilon or 0.0,
        default=None,
    )
    free = next((one for one in private if one.epsilon is None), None)
    if strict and free and strict.after is not None and free.after is not None:
        base = f"; the base model has {free.before:.3f}" if free.before is not None else ""
        paid = f"epsilon {strict.epsilon:.3g} for one {strict.unit}"
        said.append(
            f"Held-out loss is {free.after:.3f} without privacy and {strict.after:.3f} under"
            f" {paid}{base}."
        )
    if not private:
        said.append(
            "No two finished trainings differ in their privacy alone, so there is no figure of what"
            " it costs."
        )
    if not amounts:
        said.append(
            "No finished trainings on sites of one theme, and of a theme each, differ in how many"
            " sites there are."
        )
    return said


@any_text
def write(report: TrainingsReport, out: Path, command: str) -> Path:
    """Write report.html, figures/ (SVG and PNG) and tables/; returns the page. out: a folder, or
    the page's own path.
    """
    context = {
        "headline": report.headline,
        "doubts": report.doubts,
        "rows": records(report.table),
        "command": command,
    }
    tables = {"trainings": report.table}
    return write_page(page_in(out), "trainings", context, report.pictures, tables)
