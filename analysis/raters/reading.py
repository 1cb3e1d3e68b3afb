"""Ratings with the arm that each belongs to, as numbers that can be compared."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from analysis.agreement import read_ratings
from analysis.sample import Sample

EMOTION_AWARE = "emotion_aware"
NO_DIFFERENCE = "no difference"
"""In place of an arm: the middle of a scale on which two recalls are compared."""
KEYS = ("study", "question")


def read_studies(files: Sequence[Path]) -> pd.DataFrame:
    """The ratings of several CSVs, one below the other. A file that does not name its study is
    called by its own name. ReportError names what is wrong with a file.
    """
    tables = []
    for file in files:
        table = read_ratings(file)
        tables.append(table.assign(study=_column(table, "study").fillna(file.stem).astype(str)))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def by_arm(ratings: pd.DataFrame, sample: Sample) -> tuple[pd.DataFrame, list[str]]:
    """Ratings with the columns study, question, rater, item, client, arm and value, and sentences
    on what was left out, and on who failed a check of attention.

    arm: of the run that an item comes from; where recalls are rated, the way of recall. A
    comparison counts by what it was turned to: high is the later persona, or the emotion-aware
    recall, whose counterpart is the middle of the scale. An item that stands in runs of several
    arms, such as a past that they share, belongs to none.
    """
    if not {"run", "person"} <= set(ratings.columns):
        return _none(), ["The ratings do not say of which runs they are; write the CSV anew."]
    arm_of = {member.name: member.arm for member in sample.members}
    known = ratings.assign(
        client=ratings["person"].astype(str), arm=ratings["run"].astype(str).map(arm_of)
    )
    notes = _inattentive(ratings)
    ways = _column(known, "way")
    toward = pd.to_numeric(_column(known, "toward_emotion_aware"), errors="coerce")
    of_recall = ways.notna() | toward.notna() | _asks_of_recall(known, toward)
    foreign = known["arm"].isna() & ~of_recall
    if foreign.any():
        runs = known.loc[foreign, "run"].nunique()
        notes.append(
            f"Left out: {int(foreign.sum())} ratings of {runs} runs that are not in this report."
        )
    shared = _shared(known, arm_of) & ~of_recall & ~foreign
    if shared.any():
        items = known.loc[shared, "item"].nunique()
        notes.append(
            f"Left out: {items} items that stand in runs of several arms, such as a shared past."
        )
    kept = ~foreign & ~shared
    later = pd.to_numeric(_column(known, "toward_later"), errors="coerce")
    halfway = (pd.to_numeric(_column(known, "points"), errors="coerce") + 1) / 2
    turned = known["value"].where(later.isna(), later).astype(float)
    compares = of_recall & ways.isna()
    lived = known.assign(value=turned)[kept & ~of_recall]
    recalled = known.assign(arm=ways)[kept & of_recall & ways.notna()]
    compared = known.assign(arm=EMOTION_AWARE, value=toward)[kept & compares]
    middle = known.assign(arm=NO_DIFFERENCE, value=halfway.where(toward.notna()))[kept & compares]
    columns = [*KEYS, "rater", "item", "client", "arm", "value"]
    parts = [one[columns] for one in (lived, recalled, compared, middle) if len(one)]
    return (pd.concat(parts, ignore_index=True) if parts else _none()), notes


def _inattentive(ratings: pd.DataFrame) -> list[str]:
    """Who failed a check of attention, and that their ratings count all the same."""
    failed = pd.to_numeric(_column(ratings, "checks_failed"), errors="coerce").fillna(0)
    raters = ratings.assign(failed=failed).groupby(["study", "rater"])["failed"].max()
    some = raters[raters > 0]
    if some.empty:
        return []
    names = [str(rater) for _, rater in some.index.to_list()]
    named = ", ".join(f"{name} {int(n)}" for name, n in zip(names, some.to_list(), strict=True))
    return [
        f"{len(some)} of {len(raters)} raters failed a check of attention ({named}); their ratings"
        " are counted."
    ]


def _none() -> pd.DataFrame:
    return pd.DataFrame(columns=[*KEYS, "rater", "item", "client", "arm", "value"])


def _column(table: pd.DataFrame, name: str) -> pd.Series:
    """A column, empty where the table has none."""
    return table[name] if name in table else pd.Series(pd.NA, index=table.index, dtype="object")


def _asks_of_recall(table: pd.DataFrame, toward: pd.Series) -> pd.Series:
    """Whether a question compares recalls, also where an answer to it is missing."""
    keys = [table[name] for name in KEYS]
    return toward.notna().groupby(keys).transform("any").astype(bool)


def _shared(table: pd.DataFrame, arm_of: dict[str, str]) -> pd.Series:
    """Whether an item stands in runs of other arms too."""
    also = _column(table, "also_in").fillna("").astype(str)
    return pd.Series(
        [
            any(arm_of.get(run, arm) != arm for run in runs.split())
            for runs, arm in zip(also, table["arm"], strict=True)
        ],
        index=table.index,
    )
