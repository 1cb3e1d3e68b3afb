"""Whether clients fade over their conversations, and whether they describe themselves as the same
person again. The client is the unit.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pingouin as pg
from numpy.typing import NDArray

from analysis.page import counted
from analysis.statistics import Spread, spread

Numbers = NDArray[np.float64]
Pairs = Sequence[tuple[float, float]]
FEWEST_CLIENTS = 6
"""With fewer there is no interval, and nothing is claimed."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One score over the conversations of each client."""

    score: str
    first: Spread
    """Of each client's first conversation."""
    last: Spread
    """Of each client's last."""
    drift: Spread
    """Of each client's change from the first to the last, along the straight line that fits all its
    conversations best; below zero: it falls.
    """
    conversations: int


@dataclass(frozen=True, kw_only=True)
class Retest:
    """How far clients keep their places, and their values, when they are asked again."""

    score: str
    icc: float | None
    """Absolute agreement of single answers, two-way random (ICC(A,1); Shrout and Fleiss's ICC2)."""
    low: float | None
    """`low`, `high`: 95%."""
    high: float | None
    clients: int
    change: float | None
    """Mean of the second minus the first."""
    reason: str | None = None


def drifts(measured: pd.DataFrame) -> list[Drift]:
    """Every score of an instrument, the total first. measured: rows of one instrument with run,
    client, minute, score, value.
    """
    by_score = measured.groupby("score", sort=True, observed=True)
    found = [_drift(str(score), rows) for score, rows in by_score]
    return sorted(found, key=lambda one: one.score != "total")


def retest(measured: pd.DataFrame, *, over_time: bool) -> list[Retest]:
    """Of each score. over_time: each client's first time beside its last; else the first beside the
    second asking (`source`) at the same time, each client's mean over the times asked twice.
    """
    found = []
    for score, rows in measured.groupby("score", sort=True, observed=True):
        pairs = _over_time(rows) if over_time else _again(rows)
        found.append(agreement(str(score), pairs))
    return sorted(found, key=lambda one: one.score != "total")


def agreement(score: str, pairs: Pairs) -> Retest:
    """The ICC of pairs of answers, a client each."""
    change = float(np.mean([b - a for a, b in pairs])) if pairs else None
    values = np.array(pairs)
    reason = None
    if len(pairs) < FEWEST_CLIENTS:
        reason = f"{counted(len(pairs), 'client')}; {FEWEST_CLIENTS} are needed"
    elif np.ptp(values.mean(axis=1)) == 0:
        reason = "clients do not differ"
    if reason is not None:
        return Retest(
            score=score,
            icc=None,
            low=None,
            high=None,
            clients=len(pairs),
            change=change,
            reason=reason,
        )
    long = pd.DataFrame(
        {
            "client": np.repeat(np.arange(len(pairs)), 2),
            "time": ["first", "second"] * len(pairs),
            "value": values.ravel(),
        }
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # pandas' of pingouin, numpy's of a perfect agreement
        table = pg.intraclass_corr(long, targets="client", raters="time", ratings="value")
    row = table[table["Type"].isin(("ICC2", "ICC(A,1)"))].iloc[0]
    low, high = next(row[name] for name in table.columns if str(name).startswith("CI95"))
    icc = float(row["ICC"])
    if np.isnan(low) or np.isnan(high):
        low = high = icc
    return Retest(
        score=score, icc=icc, low=float(low), high=float(high), change=change, clients=len(pairs)
    )


def _drift(score: str, rows: pd.DataFrame) -> Drift:
    found = pd.DataFrame(
        [
            {"client": client, "first": one[0], "last": one[-1], "drift": _fitted(one)}
            for client, one in _courses(rows)
        ],
        columns=["client", "first", "last", "drift"],
    )
    means = found.groupby("client", sort=True).mean()
    first, last, drift = (
        spread(name, means[name].dropna().tolist()) for name in ("first", "last", "drift")
    )
    return Drift(
        score=score,
        first=first,
        last=last,
        drift=drift,
        conversations=int(rows["value"].notna().sum()),
    )


def _fitted(values: Numbers) -> float:
    """Change along the line that fits best; NaN for a single value."""
    if len(values) < 2:
        return float("nan")
    return float(np.polyfit(np.arange(len(values)), values, 1)[0] * (len(values) - 1))


def _courses(rows: pd.DataFrame) -> Iterator[tuple[str, Numbers]]:
    """Of each client in each run the values in the order of time."""
    known = rows.dropna(subset=["value"]).assign(run=rows["run"].astype(str))
    for (client, _), own in known.groupby(["client", "run"], sort=True, observed=True):
        yield str(client), own.groupby("minute", sort=True)["value"].mean().to_numpy(dtype=float)


def _over_time(rows: pd.DataFrame) -> Pairs:
    return _means([(client, one[0], one[-1]) for client, one in _courses(rows) if len(one) > 1])


def _again(rows: pd.DataFrame) -> Pairs:
    """The first asking and the second, of each time that was asked about twice."""
    known = rows.dropna(subset=["value"]).assign(
        run=rows["run"].astype(str), source=rows["source"].astype(str)
    )
    found = []
    for (client, *_), at in known.groupby(["client", "run", "minute"], sort=True, observed=True):
        values = at.sort_values("source")["value"].tolist()
        if len(values) > 1:
            found.append((str(client), float(values[0]), float(values[1])))
    return _means(found)


def _means(found: Sequence[tuple[str, float, float]]) -> Pairs:
    """A pair a client: its means over runs and times."""
    table = pd.DataFrame(found, columns=["client", "first", "second"])
    means = table.groupby("client", sort=True)[["first", "second"]].mean()
    return [(float(a), float(b)) for a, b in means.to_numpy()]
