"""One value a run and client for each outcome: how far it changed from baseline, or its level where
nothing was measured before.

Columns: run, arm, client, seed, pair, shared_past, instrument, score, respondent, judge, kind,
baseline, last, value, times, reason. kind: `change` (last minus first point) or `level` (mean over
points; for what is asked after each session, and where no run has more than one point). value:
missing with a `reason`. times: how many measurements were averaged into one point at most (test and
retest, several conversations).
"""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from analysis.sample import Member, Sample

BASELINE = "baseline"
AFTER = "after "
OF_THE_LOG = "log"
COLUMNS = tuple(
    (
        "run arm client seed pair shared_past instrument score respondent judge kind baseline"
        " last value times reason"
    ).split()
)
UNPLEASANT = ("fear", "sadness", "disgust", "anger")
FROM_THE_LOG = {
    "asleep at night": "share of the ticks between 23:00 and 07:00 spent asleep",
    "sleepless or worrying": "share of all ticks spent sleepless or worrying",
    "unpleasant feeling": "share of all ticks that end in fear, sadness, disgust or anger",
    "strength of feeling": "mean intensity of feelings, 1 to 10",
}


def measured_outcomes(measurements: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """Change from the first point (`baseline`, where there is one) to the last; the level of what
    has no first point to change from.
    """
    keys = ["instrument", "score", "respondent", "judge"]
    rows: list[dict[str, Any]] = []
    for key, part in measurements.groupby(keys, observed=True, sort=True):
        first = _first_point(part)
        whose = {
            (str(run), str(client)): own
            for (run, client), own in part.groupby(["run", "client"], observed=True)
        }
        for member in sample.members:
            for client in _about(member.clients, member.name, whose):
                own = whose.get((member.name, client), part.iloc[0:0])
                outcome = _level(own) if first is None else _change(own, first)
                rows.append(
                    {**_whose(member, client), **dict(zip(keys, key, strict=True)), **outcome}
                )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    measured = table.groupby(keys)["value"].transform("count") > 0
    return table[measured].reset_index(drop=True)


def _whose(member: Member, client: str) -> dict[str, Any]:
    """The columns that say of whom a row is."""
    return {
        "run": member.name,
        "arm": member.arm,
        "client": client,
        "seed": member.seed,
        "pair": member.pair,
        "shared_past": member.shared_past,
    }


def _about(
    clients: tuple[str, ...], run: str, whose: dict[tuple[str, str], pd.DataFrame]
) -> Iterator[str]:
    """The clients of a run, and others whom somebody measured."""
    yield from clients
    yield from sorted({client for name, client in whose if name == run and client not in clients})


def _first_point(part: pd.DataFrame) -> str | None:
    """From which point on change is counted: `baseline`, else the earliest of any run; None for
    points after sessions, or a single one.
    """
    points = part.groupby("point", observed=True)["minute"].min().sort_values(kind="stable")
    if BASELINE in points.index:
        return BASELINE
    if len(points) < 2 or all(str(point).startswith(AFTER) for point in points.index):
        return None
    return str(points.index[0])


def points_of(own: pd.DataFrame) -> pd.DataFrame:
    """Mean by point, in the order of their time; missing values count as not measured."""
    known = own.dropna(subset=["value"])
    table = known.groupby("point", observed=True).agg(
        minute=("minute", "max"), value=("value", "mean"), times=("value", "size")
    )
    return table.sort_values("minute", kind="stable")


def _missing(own: pd.DataFrame, nothing: str) -> str:
    reasons = sorted({str(reason) for reason in own["reason"].dropna()}) if len(own) else []
    return reasons[0] if reasons else nothing


def _change(own: pd.DataFrame, first: str) -> dict[str, Any]:
    points = points_of(own)
    blank = {"kind": "change", "baseline": None, "last": None, "value": None, "times": 0}
    if not len(own):
        return blank | {"reason": "not measured in this run"}
    if first not in points.index:
        return blank | {"reason": _missing(own, f"no value at {first}")}
    baseline = float(points["value"][first])
    after = points.drop(index=first)
    if not len(after):
        return blank | {
            "baseline": baseline,
            "reason": _missing(own[own["point"] != first], f"measured at {first} only"),
        }
    last = float(after["value"].iloc[-1])
    return {
        "kind": "change",
        "baseline": baseline,
        "last": last,
        "value": last - baseline,
        "times": int(points["times"].max()),
        "reason": None,
    }


def _level(own: pd.DataFrame) -> dict[str, Any]:
    points = points_of(own)
    if not len(points):
        return {
            "kind": "level",
            "baseline": None,
            "last": None,
            "value": None,
            "times": 0,
            "reason": _missing(own, "not measured in this run"),
        }
    return {
        "kind": "level",
        "baseline": None,
        "last": float(points["value"].iloc[-1]),
        "value": float(points["value"].mean()),
        "times": int(points["times"].max()),
        "reason": None,
    }


def logged_outcomes(activities: pd.DataFrame, period: pd.Series, sample: Sample) -> pd.DataFrame:
    """What the log itself says (see FROM_THE_LOG), after minus before; instrument is `log`."""
    rows: list[dict[str, Any]] = []
    dated = activities.assign(period=period)
    whose = {
        (str(run), str(client)): own
        for (run, client), own in dated.groupby(["run", "client"], observed=True)
    }
    for member in sample.members:
        for client in member.clients:
            own = whose.get((member.name, client))
            for score in FROM_THE_LOG:
                before, after = (
                    (None, None)
                    if own is None
                    else (
                        _seen(own[own["period"] == which], score) for which in ("before", "after")
                    )
                )
                known = before is not None and after is not None
                rows.append(
                    {
                        **_whose(member, client),
                        "instrument": OF_THE_LOG,
                        "score": score,
                        "respondent": OF_THE_LOG,
                        "judge": "",
                        "kind": "change",
                        "baseline": before,
                        "last": after,
                        "value": (
                            after - before if before is not None and after is not None else None
                        ),
                        "times": 1 if known else 0,
                        "reason": None if known else "no such ticks before or after the cut",
                    }
                )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _seen(own: pd.DataFrame, score: str) -> float | None:
    """One outcome of one period; None where there is nothing to count."""
    if score == "asleep at night":
        own = own[(own["minute"] % 1440 >= 23 * 60) | (own["minute"] % 1440 < 7 * 60)]
    if score in ("unpleasant feeling", "strength of feeling"):
        own = own.dropna(subset=["emotion"])
    if not len(own):
        return None
    match score:
        case "asleep at night":
            return float((own["kind"] == "sleep").mean())
        case "sleepless or worrying":
            return float(own["kind"].isin(["sleepless", "worry"]).mean())
        case "unpleasant feeling":
            return float(own["emotion"].isin(UNPLEASANT).mean())
    return float(own["intensity"].astype(float).mean())
