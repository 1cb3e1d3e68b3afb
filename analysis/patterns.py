"""What clients do, before and after: their 15 minutes grouped (see `clustering`), and counted by
arm. As in SimCounsel, section 4.3.1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.clustering import (
    ClusterFit,
    Labels,
    Matrix,
    features,
    fitted,
    grouped,
    number_of_clusters,
)

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Cut = Literal["days", "halves", "session", "meeting", "fork"]
DAY = 24 * 60
SHORTEST = 30 * 60


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Activities that are alike."""

    number: int
    """From 0, neighbours alike."""
    name: str
    """By a model, or the kind that fills most of it and the medoid."""
    medoid: str
    members: tuple[str, ...]
    """Typical texts, the most central first."""
    size: int
    """How many ticks lie in it."""
    named_by: str = "medoid"
    """'medoid', or the model."""


@dataclass(frozen=True, kw_only=True)
class ActivityPatterns:
    """What people do over a day: activities in clusters."""

    k: int | None = None
    """As many as agree over half samples, or as were asked for."""
    fits: tuple[ClusterFit, ...] = ()
    """Every k that was tried."""
    clusters: tuple[Cluster, ...] = ()
    labels: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The activities with the columns `period` and `cluster`."""
    agreement: float | None = None
    """Of the grouping that was taken; see `ClusterFit`."""
    embedding: str = ""
    reason: str | None = None
    """Why there are no clusters; then all else is empty."""


def periods(
    activities: pd.DataFrame, cut: Cut = "days", at: Mapping[str, int] | None = None
) -> pd.Series:
    """'before', 'after' or missing for each activity.

    days: the first and the last 24 hours of a run; below 48 hours as much of both ends as falls on
    the same times of day, below 30 hours its halves. session, meeting, fork: before and from the
    minute `at[run]` on; runs that are not in `at` have neither.
    """
    found = pd.Series(None, index=activities.index, dtype="object")
    for run, rows in activities.groupby("run", observed=True):
        first, end = int(rows["minute"].min()), int(rows["minute"].max()) + _step(rows)
        if cut in ("session", "meeting", "fork"):
            minute = (at or {}).get(str(run))
            bounds = None if minute is None else (minute, minute)
        elif cut == "days" and end - first >= SHORTEST:
            window = min(DAY, end - first - DAY)
            bounds = first + window, end - window
        else:
            bounds = first + (end - first) // 2, first + (end - first) // 2
        if bounds is not None:
            found[rows.index[rows["minute"] < bounds[0]]] = "before"
            found[rows.index[rows["minute"] >= bounds[1]]] = "after"
    return found


def _step(rows: pd.DataFrame) -> int:
    """Minutes of a tick, as far as can be seen."""
    gaps = np.diff(np.unique(rows["minute"].to_numpy()))
    return int(gaps.min()) if len(gaps) else 15


def first_talks(talk: pd.DataFrame, *, of_counselor: bool) -> dict[str, int]:
    """By run, the minute of the first conversation, or of the first with a counselor; runs without
    one are not in it.
    """
    session = (talk["role"] == "counselor") | (talk["other_role"] == "counselor")
    held = talk[session] if of_counselor else talk
    return {
        str(run): int(minute)
        for run, minute in held.groupby("run", observed=True)["minute"].min().items()
    }


def find_patterns(
    activities: pd.DataFrame,
    period: pd.Series,
    embed: Embed,
    *,
    embedding: str = "",
    k: int | None = None,
    number: Callable[[Sequence[ClusterFit]], int] = number_of_clusters,
    seed: int = 1,
) -> ActivityPatterns:
    """Cluster what was done in both periods together. activities: the columns run, client, tick,
    minute, activity, and kind where it is known. number: chooses how many clusters; k: this many.
    """
    rows = activities.assign(period=period).dropna(subset=["period"])
    rows = rows.assign(hour=(rows["minute"] % DAY // 60).astype(int))
    texts = sorted(set(rows["activity"]))
    if len(texts) < 4:
        return ActivityPatterns(
            embedding=embedding,
            reason=f"{len(texts)} different activities; clusters need at least 4",
        )
    keys = [key for key in ("activity", "kind", "hour") if key in rows]
    units = rows.groupby(keys, observed=True).size().rename("ticks").reset_index()
    by_text = dict(zip(texts, np.asarray(embed(texts), dtype=np.float64), strict=True))
    if len({vector.round(6).tobytes() for vector in by_text.values()}) < 4:
        return ActivityPatterns(
            embedding=embedding, reason="fewer than 4 different vectors; clusters need at least 4"
        )
    points = features(units, np.array([by_text[text] for text in units["activity"]]))
    weights = units["ticks"].to_numpy(dtype=float)
    fits = fitted(points, weights, seed)
    chosen = k or number(fits)
    label, centers = grouped(points, weights, chosen, seed)
    labels = rows.merge(units.assign(cluster=label)[[*keys, "cluster"]], on=keys, how="left")
    labels.index = rows.index
    return ActivityPatterns(
        k=chosen,
        fits=fits,
        clusters=tuple(
            _cluster(number, units, points, label, centers[number]) for number in range(chosen)
        ),
        labels=labels,
        agreement=next((fit.agreement for fit in fits if fit.k == chosen), None),
        embedding=embedding,
    )


def _cluster(
    number: int, units: pd.DataFrame, points: Matrix, label: Labels, center: Matrix
) -> Cluster:
    inside = np.flatnonzero(label == number)
    near = inside[np.argsort(np.linalg.norm(points[inside] - center, axis=1), kind="stable")]
    members = tuple(dict.fromkeys(units["activity"].iloc[near].astype(str)))[:8]
    here = units.iloc[inside]
    kind = (
        f"{here.groupby('kind', observed=True)['ticks'].sum().idxmax()}: " if "kind" in here else ""
    )
    return Cluster(
        number=number,
        name=f"{kind}{members[0]}",
        medoid=members[0],
        members=members,
        size=int(units["ticks"].iloc[inside].sum()),
    )


def shares(patterns: ActivityPatterns) -> pd.DataFrame:
    """One row a run, client, period and cluster: the share of that period's activities, in [0, 1];
    0 where there were none of it.
    """
    rows = patterns.labels
    keys = ["run", "client", "period"]
    counted = (
        rows.groupby([*keys, "cluster"], observed=True).size().unstack("cluster", fill_value=0)
    )
    counted = counted.reindex(columns=range(len(patterns.clusters)), fill_value=0)
    relative = counted.div(counted.sum(axis=1), axis=0)
    return relative.reset_index().melt(
        id_vars=keys, value_vars=list(relative.columns), var_name="cluster", value_name="share"
    )


def transitions(patterns: ActivityPatterns) -> pd.DataFrame:
    """One row a run, client, period and pair of clusters: how often the second followed the first
    in the next tick, and the share of all that followed the first. Staying counts.
    """
    rows = patterns.labels.sort_values(["run", "client", "tick"])
    same = (
        rows[["run", "client", "period"]].astype(str)
        == rows[["run", "client", "period"]].astype(str).shift(-1)
    ).all(axis=1)
    next_tick = rows["tick"].shift(-1) == rows["tick"] + 1
    pairs = rows.assign(then=rows["cluster"].shift(-1))[same & next_tick]
    found = (
        pairs.groupby(["run", "client", "period", "cluster", "then"], observed=True)
        .size()
        .rename("count")
        .reset_index()
    )
    found["then"] = found["then"].astype(int)
    total = found.groupby(["run", "client", "period", "cluster"], observed=True)["count"].transform(
        "sum"
    )
    return found.assign(share=found["count"] / total)
