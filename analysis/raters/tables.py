"""All tables that ratings by people give a report."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from analysis.agreement import agreements
from analysis.raters.comparing import compared
from analysis.raters.reading import by_arm, comments, read_studies
from analysis.results import model_and_people
from analysis.sample import Sample


@dataclass(frozen=True, kw_only=True)
class People:
    """What people said, as a report needs it."""

    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    """By name, as they go to CSV; none without ratings."""
    notes: tuple[str, ...] = ()
    """What was left out of the comparison by arm, in sentences."""


def people(files: Sequence[Path], sample: Sample, measurements: pd.DataFrame) -> People:
    """Agreement of raters, with each other and with the models, and their ratings by condition.
    files: CSVs of rating studies. ReportError names what is wrong with one.
    """
    if not files:
        return People()
    read = read_studies(files)
    rated, notes = by_arm(read, sample)
    said, counts = comments(read)
    return People(
        tables={
            "agreement": _by_study(read),
            "model_and_people": model_and_people(read, measurements),
            "people_ratings": rated,
            "people_comments": said,
            **compared(rated, sample.arms),
        },
        notes=(*notes, *counts),
    )


def _by_study(read: pd.DataFrame) -> pd.DataFrame:
    parts = [
        agreements(_apart(part)).assign(study=study)
        for study, part in read.groupby("study", sort=True)
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["study", *(one for one in table if one != "study")]]


def _apart(part: pd.DataFrame) -> pd.DataFrame:
    """What was asked of each of two recalls is two questions about one item."""
    if "way" not in part:
        return part
    of = part["way"].fillna("")
    return part.assign(item=part["item"].astype(str) + of.where(of == "", " " + of))
