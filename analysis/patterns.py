"""What clients do, before and after: activities embedded, clustered by K-means, and counted by arm.

As in SimCounsel, section 4.3.1 (after Wang et al. 2023), with what the paper leaves open fixed
here: the elbow is the number of clusters whose point (k, inertia), both axes scaled to [0, 1], lies
furthest below the chord from the first to the last (Satopaa et al. 2011); silhouettes and the
adjusted Rand index between seeds stand beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Cut = Literal["days", "halves", "session", "fork"]
DAY = 24 * 60
SHORTEST = 30 * 60
LARGEST_K = 12
SEEDS = 8
SILHOUETTE_SAMPLE = 2000


@dataclass(frozen=True, kw_only=True)
class Fit:
    """K-means for one number of clusters."""

    k: int
    inertia: float
    silhouette: float | None
    """Mean over activities, in [-1, 1]; None when it cannot be had."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """Activities that are alike."""

    number: int
    """From 0, neighbours alike."""
    name: str
    """By a model, or the medoid."""
    medoid: str
    members: tuple[str, ...]
    """Typical texts, the most central first."""
    size: int
    """How many 15-minute activities (ticks) lie in it."""
    named_by: str = "medoid"
    """'medoid', or the model."""


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """What people do over a day: activities in clusters."""

    k: int | None = None
    """The elbow."""
    fits: tuple[Fit, ...] = ()
    """Every k that was tried."""
    clusters: tuple[Cluster, ...] = ()
    labels: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The activities with the columns `period` and `cluster`."""
    rand: tuple[float, float] | None = None
    """Adjusted Rand index between pairs of seeds, mean and lowest; 1 is the same grouping."""
    embedding: str = ""
    reason: str | None = None
    """Why there are no clusters; then all else is empty."""


def periods(
    activities: pd.DataFrame, cut: Cut = "days", at: Mapping[str, int] | None = None
) -> pd.Series:
    """'before', 'after' or missing for each activity.

    days: the first and the last 24 hours of a run; below 48 hours as much of both ends as falls on
    the same times of day, below 30 hours its halves. session, fork: before and from the minute
    `at[run]` on; runs that are not in `at` have neither.
    """
    found = pd.Series(None, index=activities.index, dtype="object")
    for run, rows in activities.groupby("run", observed=True):
        first, end = int(rows["minute"].min()), int(rows["minute"].max()) + _step(rows)
        if cut in ("session", "fork"):
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


def first_sessions(talk: pd.DataFrame) -> dict[str, int]:
    """By run, the minute of the first conversation with a counselor; runs without one are not in
    it.
    """
    held = talk[(talk["role"] == "counselor") | (talk["other_role"] == "counselor")]
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
    seed: int = 1,
) -> Patterns:
    """Cluster the activities of both periods together; `k` overrides the elbow."""
    rows = activities.assign(period=period).dropna(subset=["period"])
    texts = sorted(set(rows["activity"]))
    if len(texts) < 4:
        return Patterns(
            embedding=embedding,
            reason=f"{len(texts)} different activities; clusters need at least 4",
        )
    vectors = np.asarray(embed(texts), dtype=np.float64)
    counts = rows["activity"].value_counts()
    weights = np.array([float(counts[text]) for text in texts])
    distinct = len(np.unique(vectors.round(6), axis=0))
    if distinct < 4:
        return Patterns(
            embedding=embedding, reason=f"{distinct} different vectors; clusters need at least 4"
        )
    fits = tuple(
        _fit(vectors, weights, number, seed)
        for number in range(1, min(LARGEST_K, distinct - 1) + 1)
    )
    chosen = k or elbow([fit.inertia for fit in fits])
    model = _kmeans(vectors, weights, chosen, seed)
    order = _alike(model.cluster_centers_)
    label = np.argsort(order)[model.labels_]
    clusters = tuple(
        _cluster(number, texts, vectors, weights, label, model.cluster_centers_[order[number]])
        for number in range(chosen)
    )
    by_text = dict(zip(texts, label.tolist(), strict=True))
    return Patterns(
        k=chosen,
        fits=fits,
        clusters=clusters,
        labels=rows.assign(cluster=rows["activity"].map(by_text).astype(int)),
        rand=stability(vectors, weights, chosen),
        embedding=embedding,
    )


def elbow(inertias: Sequence[float]) -> int:
    """The number of clusters at the elbow of inertias for 1, 2, 3, ...: furthest below the chord;
    at least 2 where there are 2.
    """
    if len(inertias) < 3:
        return len(inertias)
    y = np.asarray(inertias, dtype=float)
    if y[0] <= y[-1]:
        return 2
    x = np.linspace(0, 1, len(y))
    scaled = (y - y[-1]) / (y[0] - y[-1])
    below = (1 - x) - scaled
    below[0] = -np.inf
    return int(np.argmax(below)) + 1


def _kmeans(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], k: int, seed: int, starts: int = 4
) -> KMeans:
    return KMeans(n_clusters=k, random_state=seed, n_init=starts).fit(
        vectors, sample_weight=weights
    )


def _fit(vectors: NDArray[np.float64], weights: NDArray[np.float64], k: int, seed: int) -> Fit:
    model = _kmeans(vectors, weights, k, seed)
    silhouette = None
    if 1 < len(set(model.labels_)) < len(vectors):
        sample = SILHOUETTE_SAMPLE if len(vectors) > SILHOUETTE_SAMPLE else None
        silhouette = float(
            silhouette_score(vectors, model.labels_, sample_size=sample, random_state=seed)
        )
    return Fit(k=k, inertia=float(model.inertia_), silhouette=silhouette)


def _alike(centers: NDArray[np.float64]) -> NDArray[np.int64]:
    """An order of the clusters in which neighbours are alike (optimal leaf ordering of their
    centres).
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(centers) < 3:
        return np.arange(len(centers))
    found: NDArray[np.int64] = leaves_list(
        linkage(centers, method="average", optimal_ordering=True)
    ).astype(np.int64)
    return found


def _cluster(
    number: int,
    texts: Sequence[str],
    vectors: NDArray[np.float64],
    weights: NDArray[np.float64],
    label: NDArray[np.int64],
    center: NDArray[np.float64],
) -> Cluster:
    inside = np.flatnonzero(label == number)
    near = inside[np.argsort(np.linalg.norm(vectors[inside] - center, axis=1), kind="stable")]
    members = tuple(texts[index] for index in near[:8])
    return Cluster(
        number=number,
        name=members[0],
        medoid=members[0],
        members=members,
        size=int(weights[inside].sum()),
    )


def stability(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], k: int
) -> tuple[float, float] | None:
    """Adjusted Rand index between the groupings of pairs of seeds, each from one start: mean and
    lowest. None for one cluster.
    """
    if k < 2:
        return None
    labels = [_kmeans(vectors, weights, k, 100 + seed, starts=1).labels_ for seed in range(SEEDS)]
    scores = [
        float(adjusted_rand_score(labels[i], labels[j])) for i in range(SEEDS) for j in range(i)
    ]
    return float(np.mean(scores)), min(scores)


def shares(patterns: Patterns) -> pd.DataFrame:
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


def transitions(patterns: Patterns) -> pd.DataFrame:
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
