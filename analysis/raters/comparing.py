"""Ratings by people compared by condition: over all clients and for each, as Table 7 of SimCounsel
has it, with the inference that crossed raters and clients allow.

Over all clients a client's mean is what counts, and a mixed model lets raters and clients vary. Of
one client raters are what counts. Beside it stands what the paper computes, a one-way ANOVA and
Tukey's HSD over single ratings; they count ratings as independent, which those of one rater, or of
one client, are not.

Ratings with the arm that each belongs to, as numbers that can be compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.agreement import agreements, read_ratings
from analysis.results import model_and_people
from analysis.sample import Sample
from analysis.statistics import client_anova, client_contrast, spread, tukey
from analysis.statistics.contrasts import Contrast
from analysis.statistics.crossed_model import Crossed, crossed, crossed_mean
from analysis.statistics.variance import Anova, Pair, anova
from simcounsel.specs.experiment import LEAST_CLIENTS

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


ALL = "all clients"
MEANS = (
    *KEYS, "of", "arm", "unit", "mean", "low", "high", "sd", "units", "ratings", "raters",
    "clients", "items", "reason",
)  # fmt: skip
TESTS = (
    *KEYS, "of", "unit", "f", "df_between", "df_within", "p", "eta_squared", "reason",
    "f_ratings", "df_between_ratings", "df_within_ratings", "p_ratings",
)  # fmt: skip
PAIRS = (
    *KEYS, "of", "first", "second", "unit", "difference", "low", "high", "df", "p", "g", "reason",
    "mixed_difference", "mixed_low", "mixed_high", "mixed_df", "mixed_p", "mixed_reason",
    "tukey_difference", "tukey_low", "tukey_high", "tukey_q", "tukey_p",
)  # fmt: skip


def compared(ratings: pd.DataFrame, arms: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Tables by name: `people_means`, `people_anova`, `people_pairs`, `people_agreement`. ratings:
    as `reading.by_arm` gives them. arms: their order; others follow by name.
    """
    known = ratings.dropna(subset=["value"])
    means: list[dict[str, Any]] = []
    tests: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    for (study, question), part in known.groupby(list(KEYS), sort=True):
        own = _ordered(part, arms)
        named = dict(zip(KEYS, (study, question), strict=True))
        for of, some, unit in _scopes(part):
            means += [named | {"of": of, "unit": unit} | row for row in _means(some, own, unit)]
            present = [arm for arm in own if (some["arm"] == arm).any()]
            if len(present) < 2:
                continue
            if NO_DIFFERENCE not in present:  # the middle of a scale is no group of ratings
                tests.append(named | {"of": of, "unit": unit} | _test(some, present, unit))
            pairs += [named | {"of": of, "unit": unit} | row for row in _pairs(some, present, of)]
    return {
        "people_means": pd.DataFrame(means, columns=list(MEANS)),
        "people_anova": pd.DataFrame(tests, columns=list(TESTS)),
        "people_pairs": pd.DataFrame(pairs, columns=list(PAIRS)),
        "people_agreement": _agreement(known, arms),
    }


def _ordered(part: pd.DataFrame, arms: Sequence[str]) -> list[str]:
    present = set(part["arm"].astype(str))
    return [*(arm for arm in arms if arm in present), *sorted(present - set(arms))]


def _scopes(part: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, str]]:
    """All clients, whose unit is the client, and each by itself, whose unit is the rater."""
    yield ALL, part, "client"
    for client, own in part.groupby("client", sort=True):
        yield str(client), own, "rater"


def _means(some: pd.DataFrame, arms: Sequence[str], unit: str) -> Iterator[dict[str, Any]]:
    for arm in arms:
        own = some[some["arm"] == arm]
        if not len(own) or arm == NO_DIFFERENCE:
            continue
        found = spread(arm, own.groupby(unit)["value"].mean().tolist())
        yield {
            "arm": arm,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "sd": float(own["value"].std(ddof=1)) if len(own) > 1 else None,
            "units": found.n,
            "ratings": len(own),
            "raters": own["rater"].nunique(),
            "clients": own["client"].nunique(),
            "items": own["item"].nunique(),
            "reason": found.reason,
        }


def _as_clients(some: pd.DataFrame, unit: str) -> pd.DataFrame:
    """The unit in the place of the client, which is what tests over clients count."""
    return some.assign(client=some[unit].astype(str))


def _of_unit(reason: str | None, unit: str) -> str | None:
    """Why there is no p, in words of the unit that was counted."""
    if reason is None or unit == "client":
        return reason
    return reason.split(", since clients")[0].replace("clients", "raters")


def _test(some: pd.DataFrame, arms: Sequence[str], unit: str) -> dict[str, Any]:
    over: Anova = client_anova(_as_clients(some, unit), arms)
    single = anova({arm: some.loc[some["arm"] == arm, "value"].tolist() for arm in arms})
    return {
        "f": over.f,
        "df_between": over.df[0] if over.df else None,
        "df_within": over.df[1] if over.df else None,
        "p": over.p,
        "eta_squared": over.eta_squared,
        "reason": _of_unit(over.reason, unit),
        "f_ratings": single.f,
        "df_between_ratings": single.df[0] if single.df else None,
        "df_within_ratings": single.df[1] if single.df else None,
        "p_ratings": single.p,
    }


def _pairs(some: pd.DataFrame, arms: Sequence[str], of: str) -> Iterator[dict[str, Any]]:
    unit = "client" if of == ALL else "rater"
    values = {arm: some.loc[some["arm"] == arm, "value"].tolist() for arm in arms}
    made = () if NO_DIFFERENCE in arms else tukey(values).pairs
    found = {frozenset((one.first, one.second)): one for one in made}
    for at, first in enumerate(arms):
        for second in arms[at + 1 :]:
            mixed = _mixed(some, first, second) if of == ALL else None
            yield (
                {"first": first, "second": second}
                | _contrast(client_contrast(_as_clients(some, unit), first, second), unit)
                | _crossed(mixed)
                | _tukey(found.get(frozenset((first, second))), first)
            )


def _mixed(some: pd.DataFrame, first: str, second: str) -> Crossed:
    both = some[some["arm"].isin([first, second])]
    if both["value"].nunique() < 2:
        return Crossed(first=first, second=second, reason="all ratings are the same")
    if NO_DIFFERENCE in (first, second):
        # the middle of a scale varies with nobody: what is rated is the distance from it
        middle = float(some.loc[some["arm"] == NO_DIFFERENCE, "value"].iloc[0])
        rated = some[some["arm"] != NO_DIFFERENCE]
        found = crossed_mean(rated, middle, least_clients=LEAST_CLIENTS)
        return replace(found, first=first, second=second)
    return crossed(some, first, second, least_clients=LEAST_CLIENTS)


def _contrast(found: Contrast, unit: str) -> dict[str, Any]:
    names = ("difference", "low", "high", "df", "p", "g")
    return {name: getattr(found, name) for name in names} | {"reason": _of_unit(found.reason, unit)}


def _crossed(found: Crossed | None) -> dict[str, Any]:
    names = ("difference", "low", "high", "df", "p", "reason")
    return {f"mixed_{name}": getattr(found, name) if found else None for name in names}


def _tukey(found: Pair | None, first: str) -> dict[str, Any]:
    names = ("difference", "low", "high", "q", "p")
    if found is None:
        return {f"tukey_{name}": None for name in names}
    if found.first != first:
        found = replace(found, difference=-found.difference, low=-found.high, high=-found.low)
    return {f"tukey_{name}": getattr(found, name) for name in names}


def _agreement(known: pd.DataFrame, arms: Sequence[str]) -> pd.DataFrame:
    """How far raters agree within each arm: where they do not, its means say little."""
    tables = []
    for study, part in known[known["arm"] != NO_DIFFERENCE].groupby("study", sort=True):
        for arm in _ordered(part, arms):
            found = agreements(part[part["arm"] == arm])
            tables.append(found.assign(study=study, arm=arm))
    if not tables:
        return pd.DataFrame(columns=["study", "arm", "question"])
    table = pd.concat(tables, ignore_index=True)
    return table[["study", "arm", *(one for one in table if one not in ("study", "arm"))]]


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
