"""Turns to cases to all: a case is the mean of its turns, a benchmark the mean of its cases (Zhang
et al. 2024), so that a long case counts no more than a short one. Scores stay on their own scales.
Nothing is put in for what is missing; it is counted.

Intervals are percentile bootstraps over cases (95%), since the turns of a case are not independent
of each other. Over few cases, such as the five of a topic, they are too narrow.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simcounsel.bench.cases import Kept
from simcounsel.chance import seed_of

RESAMPLES = 10_000


class Mean(Kept):
    """A mean over cases."""

    value: float | None
    """None when there is nothing to average."""
    interval: tuple[float, float] | None
    """None with fewer than two cases."""
    n: int
    """Cases that it rests on."""


@dataclass(frozen=True, kw_only=True)
class Rated:
    """One reply."""

    case: str
    topic: str
    turn: int
    reply: str | None
    """None when there was none."""
    scores: Mapping[str, int]
    """By dimension; empty when there is no judgment, and then `reason` says why."""
    because: str = ""
    cut: bool = False
    """Whether it ended at the limit of tokens, as endless repetition does."""
    reason: str | None = None


def by_case(rated: Iterable[Rated], dimension: str) -> dict[str, float]:
    """The mean over the turns of each case, in the order of the cases; a case of which nothing was
    judged is not there.
    """
    found: defaultdict[str, list[int]] = defaultdict(list)
    for one in rated:
        if dimension in one.scores:
            found[one.case].append(one.scores[dimension])
    return {case: sum(values) / len(values) for case, values in found.items()}


def mean_of(rated: Iterable[Rated], dimension: str, seed: int) -> Mean:
    """The mean of the cases."""
    return mean(list(by_case(rated, dimension).values()), seed)


def mean(values: Sequence[float], seed: int) -> Mean:
    """The mean of one value for each case."""
    if not values:
        return Mean(value=None, interval=None, n=0)
    return Mean(value=float(np.mean(values)), interval=interval(values, seed), n=len(values))


def interval(values: Sequence[float], seed: int) -> tuple[float, float] | None:
    """From the 2.5th to the 97.5th percentile of the means of resamples; None with fewer than two
    values.
    """
    if len(values) < 2:
        return None
    means = np.asarray(values, dtype=np.float64)[_resamples(len(values), seed)].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


@lru_cache(maxsize=32)
def _resamples(count: int, seed: int) -> np.ndarray:
    """Places of the drawn values; the same for all dimensions, so that they are resampled
    together.
    """
    return np.random.default_rng(seed_of(seed, "bootstrap", count)).integers(
        0, count, size=(RESAMPLES, count)
    )


def paired(mine: Mapping[str, float], other: Mapping[str, float], seed: int) -> Mean:
    """How much higher `mine` is, by the cases that both have; values by case."""
    return mean([mine[case] - other[case] for case in mine if case in other], seed)
