"""Which 15 minutes of a day are alike: what an activity is, when, and in which words; grouped by
K-means into as many clusters as come out alike whichever half of the data they are made from.

SimCounsel (section 4.3.1, after Wang et al. 2023) clusters the words alone and takes the elbow of
the inertia. Words alone put "lies awake" beside "sleeps", and an elbow is there for any data; so
kind and hour are beside the words here, and the number of clusters is the largest whose groupings
of half samples agree (Lange et al. 2004, Neural Computation 16; von Luxburg 2010). Inertia, its
elbow (Satopaa et al. 2011), which is taken where no groupings agree, and silhouettes are beside.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]
LARGEST_K = 12
HALVES = 5
"""Half samples, of which each pair is compared."""
AGREED = 0.8
"""Adjusted Rand index from which on groupings of half samples count as the same."""
SAMPLE = 2000
"""Silhouettes are of so many at most."""
OF_KIND, OF_HOUR, OF_SLEEP = 0.8, 0.35, 1.6
"""How far kinds, opposite hours and sleep stand apart, beside words, whose vectors have length
1.
"""


@dataclass(frozen=True, kw_only=True)
class ClusterFit:
    """K-means for one number of clusters."""

    k: int
    inertia: float
    silhouette: float | None = None
    """Mean over what is clustered, in [-1, 1]; None when it cannot be had."""
    agreement: float | None = None
    """Adjusted Rand index between groupings made from half samples, mean over pairs: 1 is the same
    grouping, 0 chance; None for one cluster.
    """


def features(units: pd.DataFrame, words: Matrix) -> Matrix:
    """One row a unit: the vector of its words (length 1), its kind, and its hour on a circle.

    units: the columns `kind` and `hour` (0 to 23); without `kind` words and hour alone.
    """
    lengths = np.linalg.norm(words, axis=1, keepdims=True)
    parts = [words / np.where(lengths > 0, lengths, 1)]
    if "kind" in units:
        kinds = units["kind"].astype(str)
        parts += [
            OF_KIND * np.asarray(kinds == kind, dtype=float)[:, None] for kind in sorted(set(kinds))
        ]
        parts.append(OF_SLEEP * np.asarray(kinds == "sleep", dtype=float)[:, None])
    angle = 2 * np.pi * units["hour"].to_numpy(dtype=float) / 24
    parts.append(OF_HOUR / 2 * np.column_stack([np.cos(angle), np.sin(angle)]))
    return np.hstack(parts)


def fitted(points: Matrix, weights: Matrix, seed: int) -> tuple[ClusterFit, ...]:
    """K-means for each number of clusters from 1 on."""
    distinct = len(np.unique(points.round(6), axis=0))
    halves = _halves(len(points), seed)
    return tuple(
        _fit(points, weights, k, seed, halves) for k in range(1, min(LARGEST_K, distinct - 1) + 1)
    )


def number_of_clusters(fits: Sequence[ClusterFit]) -> int:
    """The largest number whose groupings agree; where none does, the elbow."""
    agreed = [fit.k for fit in fits if fit.agreement is not None and fit.agreement >= AGREED]
    return max(agreed) if agreed else elbow([fit.inertia for fit in fits])


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


def grouped(points: Matrix, weights: Matrix, k: int, seed: int) -> tuple[Labels, Matrix]:
    """The cluster of each row, and the clusters' centres; numbered so that neighbours are alike."""
    model = _kmeans(points, weights, k, seed)
    order = _alike(model.cluster_centers_)
    return np.argsort(order)[model.labels_], model.cluster_centers_[order]


def _kmeans(points: Matrix, weights: Matrix, k: int, seed: int, starts: int = 3) -> KMeans:
    return KMeans(n_clusters=k, random_state=seed, n_init=starts).fit(points, sample_weight=weights)


def _halves(count: int, seed: int) -> list[Labels]:
    """Rows of half samples; any two share about a quarter of all rows."""
    draw = np.random.default_rng(seed)
    return [np.sort(draw.permutation(count)[: max(2, count // 2)]) for _ in range(HALVES)]


def _fit(
    points: Matrix, weights: Matrix, k: int, seed: int, halves: Sequence[Labels]
) -> ClusterFit:
    model = _kmeans(points, weights, k, seed)
    silhouette = None
    if 1 < len(set(model.labels_)) < len(points):
        sample = SAMPLE if len(points) > SAMPLE else None
        silhouette = float(
            silhouette_score(points, model.labels_, sample_size=sample, random_state=seed)
        )
    return ClusterFit(
        k=k,
        inertia=float(model.inertia_),
        silhouette=silhouette,
        agreement=_agreement(points, weights, k, halves),
    )


def _agreement(points: Matrix, weights: Matrix, k: int, halves: Sequence[Labels]) -> float | None:
    """Each half sample makes clusters, and these deal all rows; how far any two deals are the
    same.
    """
    if k < 2:
        return None
    deals = []
    for number, half in enumerate(halves):
        distinct = len(np.unique(points[half].round(6), axis=0))
        if distinct < k:
            return None
        model = _kmeans(points[half], weights[half], k, 100 + number, starts=1)
        deals.append(model.predict(points))
    scores = [adjusted_rand_score(a, b) for at, a in enumerate(deals) for b in deals[:at]]
    return float(np.mean(scores))


def _alike(centers: Matrix) -> Labels:
    """An order of the clusters in which neighbours are alike (optimal leaf ordering of their
    centres).
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(centers) < 3:
        return np.arange(len(centers))
    found: Labels = leaves_list(linkage(centers, method="average", optimal_ordering=True)).astype(
        np.int64
    )
    return found
