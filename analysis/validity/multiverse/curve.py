"""The curve as a whole: its median, its range, its signs, and how often as much would come by
chance alone.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from analysis.validity.multiverse.effects import Specification
from simcounsel.specs.experiment import LEAST_CLIENTS

Floats = NDArray[np.float64]
EXACT_UP_TO = 12
"""Clients up to which all patterns of signs are taken."""
SHUFFLES = 4000
SEED = 20


@dataclass(frozen=True, kw_only=True)
class SpecificationCurve:
    """What all specifications say together."""

    count: int
    """Specifications with an estimate."""
    median: float
    least: float
    most: float
    inner: tuple[float, float]
    """Between which eight of ten estimates lie."""
    same: int
    """So many have the median's sign."""
    significant: int
    """So many of these have p < .05, each for itself."""
    against: int
    """So many have p < .05 with the other sign."""
    clients: int
    """In the specification that has fewest."""
    p_median: float | None = None
    """How often labels dealt again give a median as far from 0; None with fewer than six clients.
    """
    p_significant: float | None = None
    """How often they give as many effects beyond the critical t in one direction."""


def curve(found: Sequence[Specification]) -> SpecificationCurve | None:
    """None without any estimate."""
    values = np.array([one.estimate for one in found if one.estimate is not None], dtype=float)
    known = [one for one in found if one.estimate is not None]
    if not known:
        return None
    median = float(np.median(values))
    sign = np.sign(median)
    p = _joint(known)
    return SpecificationCurve(
        count=len(known),
        median=median,
        least=float(values.min()),
        most=float(values.max()),
        inner=(float(np.quantile(values, 0.1)), float(np.quantile(values, 0.9))),
        same=int((np.sign(values) == sign).sum()),
        significant=sum(one.significant and np.sign(one.estimate or 0) == sign for one in known),
        against=sum(one.significant and np.sign(one.estimate or 0) == -sign for one in known),
        clients=min(one.clients for one in known),
        p_median=p and p[0],
        p_significant=p and p[1],
    )


def _joint(known: Sequence[Specification]) -> tuple[float, float] | None:
    """p of the median and of the number of effects beyond the critical t, under labels dealt again:
    within each client, for all specifications alike, where conditions share clients, else over
    clients. None where there are too few clients.
    """
    clients = sorted({str(client) for one in known for client in one.means.index})
    first, second = (
        np.array([one.means.iloc[:, at].reindex(clients).to_numpy(float) for one in known])
        for at in (0, 1)
    )
    both = np.isfinite(first - second).any(axis=0)
    if both.sum() >= 2:
        differences = (first - second)[:, both]
        return _of(_flipped(differences), known) if both.sum() >= LEAST_CLIENTS else None
    values, is_first = np.where(np.isfinite(first), first, second), np.isfinite(first).any(axis=0)
    if min(is_first.sum(), (~is_first).sum()) < LEAST_CLIENTS:
        return None
    return _of(_dealt(values, is_first), known)


def _of(
    drawn: tuple[Floats, Floats, Floats], known: Sequence[Specification]
) -> tuple[float, float]:
    """drawn: mean differences and their t, a row a pattern, the observed one first; critical t."""
    differences, t, critical = drawn
    unit = np.array([one.estimate for one in known], dtype=float)
    scale = np.divide(unit, differences[0], out=np.ones_like(unit), where=differences[0] != 0)
    medians = np.abs(np.median(differences * scale, axis=1))
    beyond = np.maximum((t > critical).sum(axis=1), (t < -critical).sum(axis=1))
    return (float((medians >= medians[0] - 1e-12).mean()), float((beyond >= beyond[0]).mean()))


def _flipped(differences: Floats) -> tuple[Floats, Floats, Floats]:
    """The signs of clients flipped: all patterns, or so many by chance."""
    count = differences.shape[1]
    if count <= EXACT_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=count)))
    else:
        drawn = np.random.default_rng(SEED).choice((1.0, -1.0), size=(SHUFFLES, count))
        signs = np.vstack([np.ones(count), drawn])
    there = np.isfinite(differences)
    plain, n = np.where(there, differences, 0.0), there.sum(axis=1)
    means = signs @ plain.T / n
    spread = ((plain**2).sum(axis=1) - n * means**2) / np.maximum(n - 1, 1)
    return means, _t(means, spread / n), _critical(n - 1)


def _dealt(values: Floats, is_first: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Clients dealt to the two conditions again, in groups of the same size."""
    rng = np.random.default_rng(SEED)
    labels = np.array(
        [is_first, *(rng.permutation(is_first) for _ in range(SHUFFLES))], dtype=float
    )
    there = np.isfinite(values).astype(float)
    plain = np.where(there > 0, values, 0.0)
    moments = []
    for side in (labels, 1 - labels):
        n = np.maximum(side @ there.T, 1)
        mean = side @ plain.T / n
        spread = (side @ (plain**2).T - n * mean**2) / np.maximum(n - 1, 1)
        moments.append((mean, spread / n))
    (one, one_error), (other, other_error) = moments
    df = there.sum(axis=1) - 2
    return one - other, _t(one - other, one_error + other_error), _critical(df)


def _t(means: Floats, squared_error: Floats) -> Floats:
    error = np.sqrt(np.maximum(squared_error, 1e-18))
    return np.asarray(means / error, dtype=np.float64)


def _critical(df: NDArray[np.float64] | NDArray[np.int_]) -> Floats:
    return np.asarray(stats.t.ppf(0.975, np.maximum(df, 1)), dtype=np.float64)
