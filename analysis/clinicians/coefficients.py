"""Coefficients of agreement over many units at once, their bootstrap over talks, and how wide an
interval to expect.

All start from one square of counts per talk: how often two raters of one unit gave this and that.
Squares add up, so a resample of talks is a sum of squares.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.judge_figures import Figure

Floats = NDArray[np.float64]
RESAMPLES, SIMULATED = 2000, 400
MANY = 180
"""Talks from which is reckoned how many a narrower interval needs: its width falls with the root of
their number, and in small studies only roughly.
"""
SHARES = (0.2, 0.3, 0.5)
"""Of the answers 1, 2 and 3 in simulated ratings: an assumption."""
ALPHA = "Krippendorff's alpha, ordinal"
KAPPA = "weighted kappa (quadratic), mean of pairs"
SAME = "the same answer"


def coincidences(values: Floats, points: int) -> Floats:
    """Units by raters (missing: NaN) into units by a square of counts, as Krippendorff (2011) has
    them. Answers lie on 1, 1.5, ... points, since a median may lie between two.
    """
    places = 2 * points - 1
    at = np.where(np.isnan(values), 0, 2 * values - 1).astype(int)
    counts = (at[..., None] == np.arange(1, places + 1)).sum(axis=-2).astype(float)
    rated = counts.sum(axis=-1)
    square = counts[..., :, None] * counts[..., None, :] - counts[..., None] * np.eye(places)
    fits = rated > 1
    return np.where(
        fits[..., None, None], square / np.where(fits, rated - 1, 1)[..., None, None], 0
    )


def alpha(square: Floats) -> Floats:
    """Krippendorff's alpha with ordinal distances of squares; NaN where nothing varies."""
    sums = square.sum(axis=-1)
    ranks = np.cumsum(sums, axis=-1) - sums / 2
    distance = (ranks[..., :, None] - ranks[..., None, :]) ** 2
    seen = (square * distance).sum(axis=(-1, -2))
    chance = (sums[..., :, None] * sums[..., None, :] * distance).sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (sums.sum(axis=-1) - 1) * seen / chance)


def confusions(values: Floats, points: int) -> Floats:
    """Units by raters into units by pairs of raters by a square: what the one and the other
    gave.
    """
    places = 2 * points - 1
    given = (2 * values - 1)[..., None] == np.arange(1, places + 1)
    pairs = list(combinations(range(values.shape[-1]), 2))
    squares = [given[..., a, :, None] & given[..., b, None, :] for a, b in pairs]
    return np.stack(squares, axis=-3).astype(float)


def kappa(pairs: Floats) -> Floats:
    """The mean over pairs of Cohen's kappa with quadratic weights (1968)."""
    places = pairs.shape[-1]
    weights = (np.arange(places)[:, None] - np.arange(places)) ** 2
    total = pairs.sum(axis=(-1, -2))
    chance = pairs.sum(axis=-1)[..., :, None] * pairs.sum(axis=-2)[..., None, :]
    seen, expected = ((weights * one).sum(axis=(-1, -2)) for one in (pairs, chance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((1 - total * seen / expected).mean(axis=-1))


def same(pairs: Floats) -> Floats:
    """The share of pairs of answers that are the same."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            np.trace(pairs, axis1=-2, axis2=-1).sum(axis=-1) / pairs.sum(axis=(-1, -2, -3))
        )


def agreement(values: Floats, of: str, points: int = 3, seed: int = 1) -> list[Figure]:
    """Alpha, weighted kappa and the share of same answers, with 95% percentile intervals over
    talks.

    values: talks by questions by raters; NaN is "cannot say".
    """
    two = (~np.isnan(values)).sum(axis=-1) > 1
    kept = values[two.any(axis=-1)] if values.size else values
    units = int(two.sum())
    blank: dict[str, Any] = {
        "of": of,
        "n": len(kept),
        "unit": f"talks, {units} answers by two or more",
    }
    if len(kept) < 2:
        why = f"{len(kept)} talks with two raters; two are needed"
        return [Figure(what=what, reason=why, **blank) for what in (ALPHA, KAPPA, SAME)]
    coincide = coincidences(kept, points).sum(axis=1)
    pairs = confusions(kept, points).sum(axis=1)
    kinds: Sequence[tuple[str, Callable[[Floats], Floats], Floats]] = (
        (ALPHA, alpha, coincide),
        (KAPPA, kappa, pairs),
        (SAME, same, pairs),
    )
    return [_figure(what, of, count, talks, blank, seed) for what, count, talks in kinds]


def _figure(
    what: str,
    of: str,
    count: Callable[[Floats], Floats],
    talks: Floats,
    blank: dict[str, Any],
    seed: int,
) -> Figure:
    value = float(count(talks.sum(axis=0)))
    if np.isnan(value):
        return Figure(what=what, reason="all answers are the same", **blank)
    low, high = spread(resampled(talks, count, seed))
    return Figure(what=what, value=value, low=low, high=high, **blank)


def resampled(talks: Floats, count: Callable[[Floats], Floats], seed: int) -> Floats:
    """A coefficient over talks drawn again with replacement."""
    times = np.random.default_rng(seed).multinomial(
        len(talks), np.full(len(talks), 1 / len(talks)), RESAMPLES
    )
    return count(np.tensordot(times, talks, axes=(1, 0)))


def spread(values: Floats) -> tuple[float | None, float | None]:
    """The middle 95%; None where nothing could be counted."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    low, high = np.percentile(known, (2.5, 97.5))
    return float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class Expected:
    """How wide an interval of alpha will be."""

    true: float
    """The agreement that was simulated."""
    talks: int
    """How many talks each rater rates."""
    low: float
    """`low`, `high`: between which 95% of simulated studies come out."""
    high: float
    needed_010: int
    """Talks for an interval of 0.10 to each side."""
    needed_005: int
    """Talks for 0.05."""


def simulated(true: float, shape: tuple[int, ...], raters: int, rng: np.random.Generator) -> Floats:
    """Ratings with a planted agreement: each rater gives the truth with probability √true, and
    otherwise draws by chance. Two give the truth together with probability `true`, and else are
    independent, so that alpha is `true` whatever the distance.
    """
    answers, share = np.arange(1.0, 4.0), SHARES
    truth = rng.choice(answers, size=(*shape, 1), p=share)
    drawn = rng.choice(answers, size=(*shape, raters), p=share)
    return np.where(rng.random((*shape, raters)) < np.sqrt(true), truth, drawn)


def expected(true: float, talks: int, raters: int = 3, seed: int = 1) -> Expected:
    """From simulated studies of one question; ten questions of one talk, which hang together, are
    at best better.
    """
    low, high = _reach(true, talks, raters, seed)
    ends = _reach(true, MANY, raters, seed)
    half = (ends[1] - ends[0]) / 2
    ten, five = (int(np.ceil(MANY * (half / wide) ** 2)) for wide in (0.10, 0.05))
    return Expected(true=true, talks=talks, low=low, high=high, needed_010=ten, needed_005=five)


@cache
def _reach(true: float, talks: int, raters: int, seed: int) -> tuple[float, float]:
    given = simulated(true, (SIMULATED, talks), raters, np.random.default_rng(seed))
    low, high = spread(alpha(coincidences(given, 3).sum(axis=1)))
    assert low is not None and high is not None
    return low, high
