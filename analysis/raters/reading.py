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
    recall, whose counterpart is the middle of the scale. An equal text of several runs was rated
    once, and counts in the arm of each; but a conversation that runs of several arms share, a past,
    belongs to none.
    """
    if not {"run", "person"} <= set(ratings.columns):
        return _none(), ["The ratings do not say of which runs they are; write the CSV again."]
    known = ratings.assign(client=ratings["person"].astype(str))
    ways = _column(known, "way")
    toward = pd.to_numeric(_column(known, "toward_emotion_aware"), errors="coerce")
    of_recall = ways.notna() | toward.notna() | _asks_of_recall(known, toward)
    later = pd.to_numeric(_column(known, "toward_later"), errors="coerce")
    turned = known["value"].where(later.isna(), later).astype(float)
    lived, notes = _in_each_arm(known.assign(value=turned)[~of_recall], sample)
    halfway = (pd.to_numeric(_column(known, "points"), errors="coerce") + 1) / 2
    compares = of_recall & ways.isna()
    recalled = known.assign(arm=ways)[of_recall & ways.notna()]
    compared = known.assign(arm=EMOTION_AWARE, value=toward)[compares]
    middle = known.assign(arm=NO_DIFFERENCE, value=halfway.where(toward.notna()))[compares]
    columns = [*KEYS, "rater", "item", "client", "arm", "value"]
    parts = [one[columns] for one in (lived, recalled, compared, middle) if len(one)]
    table = pd.concat(parts, ignore_index=True) if parts else _none()
    return table, [*_inattentive(ratings), *notes]


def _in_each_arm(ratings: pd.DataFrame, sample: Sample) -> tuple[pd.DataFrame, list[str]]:
    """A row for each arm in whose runs an item's text occurs, with the client there; and what was
    left out.
    """
    of = {member.name: member for member in sample.members}
    also = _text(ratings, "also_in")
    runs = (ratings["run"].astype(str) + " " + also).str.split()
    each = ratings.assign(run=runs).explode("run")
    each["arm"] = each["run"].map({name: member.arm for name, member in of.items()})
    known = each.dropna(subset=["arm"])
    foreign = ratings[~ratings.index.isin(known.index)]
    held = known[_column(known, "chat").notna()]
    shared = held[held.groupby(level=0)["arm"].transform("nunique") > 1]
    notes = []
    if len(foreign):
        notes.append(
            f"Left out: {len(foreign)} ratings of {foreign['run'].nunique()} runs that are not in"
            " this report."
        )
    if len(shared):
        notes.append(
            f"Left out: {shared['item'].nunique()} conversations that runs of several arms share,"
            " such as a past."
        )
    kept = known[~known.index.isin(shared.index)]
    there = [
        client if client in of[run].clients or len(of[run].clients) != 1 else of[run].clients[0]
        for client, run in zip(kept["client"], kept["run"], strict=True)
    ]
    kept = kept.assign(client=there, rating=kept.index)
    return kept.drop_duplicates(["rating", "client", "arm"]), notes


def comments(ratings: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """What raters wrote beside an item, one row each, and how many did, a sentence a study."""
    columns = ["study", "rater", "item", "run", "comment"]
    once = ratings.assign(comment=_text(ratings, "comment"), run=_text(ratings, "run"))
    once = once.drop_duplicates(["study", "rater", "item"])[columns]
    said = once[once["comment"].str.strip() != ""]
    notes = []
    for study, part in once.groupby("study", sort=True):
        own = said[said["study"] == study]
        if len(own):
            notes.append(
                f"{study}: {len(own)} of {len(part)} answers have a comment, by"
                f" {own['rater'].nunique()} of {part['rater'].nunique()} raters."
            )
    return said.sort_values(["study", "rater", "item"], ignore_index=True), notes


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


def _text(table: pd.DataFrame, name: str) -> pd.Series:
    """A column as text, '' where there is none."""
    column = _column(table, name).astype("object")
    return column.where(column.notna(), "").astype(str)


def _asks_of_recall(table: pd.DataFrame, toward: pd.Series) -> pd.Series:
    """Whether a question compares recalls, also where an answer to it is missing."""
    keys = [table[name] for name in KEYS]
    return toward.notna().groupby(keys).transform("any").astype(bool)
