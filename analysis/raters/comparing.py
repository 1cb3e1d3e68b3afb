"""Ratings by people compared by condition: over all clients and for each, as Table 7 of SimCounsel
has it, with the inference that crossed raters and clients allow.

Over all clients a client's mean is what counts, and a mixed model lets raters and clients vary. Of
one client raters are what counts. Beside it stands what the paper computes, a one-way ANOVA and
Tukey's HSD over single ratings; they count ratings as independent, which those of one rater, or of
one client, are not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.agreement import agreements
from analysis.raters.reading import KEYS, NO_DIFFERENCE, by_arm, comments, read_studies
from analysis.results import model_and_people
from analysis.sample import Sample
from analysis.statistics import client_anova, client_contrast, spread, tukey
from analysis.statistics.contrasts import Contrast
from analysis.statistics.crossed_model import Crossed, crossed, crossed_mean
from analysis.statistics.variance import Anova, Pair, anova
from simcounsel.specs.experiment import LEAST_CLIENTS

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
