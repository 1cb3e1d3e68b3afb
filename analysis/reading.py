"""The tidy tables of a sample, with the arm of each run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import tables
from analysis.cuts import cut_minutes
from analysis.finding import find
from analysis.outcomes import logged_outcomes, measured_outcomes
from analysis.patterns import Cut, periods
from analysis.sample import Sample
from analysis.steps import steps


def read_tables(sample: Sample) -> dict[str, pd.DataFrame]:
    """All of them, with the column `arm`."""
    return {name: with_arm(getattr(tables, name)(sample.logs), sample) for name in tables.COLUMNS}


def tidy(
    places: Sequence[Path], *, finished_only: bool = False, damaged: bool = False, cut: Cut = "days"
) -> tuple[Sample, dict[str, pd.DataFrame]]:
    """The tables that a reader of CSV files wants: `outcomes` (one row a run, client and score),
    `steps` (from one time of measurement to the next) and what they rest on. Each has the column
    `arm`.
    """
    sample = find(places, finished_only=finished_only, damaged=damaged)
    read = read_tables(sample)
    period = periods(read["activities"], cut, cut_minutes(cut, sample, read["talk"]))
    made = {
        "outcomes": outcomes_of(read, period, sample),
        "steps": steps(read["measurements"], sample),
    }
    return sample, made | read


def outcomes_of(
    read: Mapping[str, pd.DataFrame], period: "pd.Series[Any]", sample: Sample
) -> pd.DataFrame:
    """What was measured and what the log says, one below the other."""
    measured = measured_outcomes(read["measurements"], sample)
    logged = logged_outcomes(read["activities"], period, sample)
    parts = [part for part in (measured, logged) if len(part)]
    return pd.concat(parts or [pd.DataFrame(columns=["arm"])], ignore_index=True)


def with_arm(table: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """With the column `arm`, and the pair that the experiment names."""
    arm = {member.name: member.arm for member in sample.members}
    table = table.assign(arm=table["run"].astype(str).map(arm).astype("object"))
    if "pair" in table:
        table["pair"] = (
            table["run"]
            .astype(str)
            .map({member.name: member.pair for member in sample.members})
            .astype("object")
        )
    return table
