"""Two groups against each other: Welch's t, paired t for forks, Hedges' g with bootstrap
intervals.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special, stats

from analysis.statistics.groups import Degenerate, Floats, arrays, check, flat, sizes

RESAMPLES = 5000


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """First minus second. All numbers are None with a `reason` when they cannot be had."""

    test: str
    first: str
    second: str
    difference: float | None = None
    """`difference`, `low`, `high`: in the score's unit."""
    low: float | None = None
    high: float | None = None
    statistic: float | None = None
    """Student's t."""
    df: float | None = None
    p: float | None = None
    """Two-sided."""
    g: float | None = None
    """Hedges' g, corrected for small samples, with its bootstrap interval."""
    g_low: float | None = None
    g_high: float | None = None
    n: dict[str, int] = field(default_factory=dict)
    """Values by group, or pairs."""
    assumes: str = ""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Hedges' g (1981) and its interval. low and high are None with a `reason` when too many
    resamples had no variance.
    """

    g: float | None = None
    low: float | None = None
    high: float | None = None
    n: dict[str, int] = field(default_factory=dict)
    assumes: str = (
        "independent values; the interval is the bootstrap's percentiles, too narrow for few values"
    )
    reason: str | None = None


def correction(df: float) -> float:
    """Hedges' factor J for a standardized difference with these degrees of freedom, exact (Hedges
    1981, eq. 6e).
    """
    return (
        float(np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / math.sqrt(df / 2))
        if df > 1
        else 0.0
    )


def hedges_g(
    first: Sequence[float],
    second: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = 1,
    level: float = 0.95,
) -> Effect:
    """First minus second in pooled standard deviations, corrected; positive when the first is
    higher.
    """
    groups = {"first": first, "second": second}
    try:
        found = arrays(groups)
        a, b = found["first"], found["second"]
        if len(a) + len(b) < 4:
            raise Degenerate("fewer than 4 values")
    except Degenerate as why:
        return Effect(n=sizes(groups), reason=str(why))
    g = float(_g(a[None, :], b[None, :])[0])
    rng = np.random.default_rng(seed)
    many = _g(rng.choice(a, (resamples, len(a))), rng.choice(b, (resamples, len(b))))
    low, high, reason = _percentiles(many, level)
    return Effect(g=g, low=low, high=high, n=sizes(groups), reason=reason)


def _g(a: Floats, b: Floats) -> Floats:
    """Hedges' g of each row; NaN where a row has no variance."""
    n, m = a.shape[1], b.shape[1]
    pooled = ((n - 1) * a.var(axis=1, ddof=1) + (m - 1) * b.var(axis=1, ddof=1)) / (n + m - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(
            pooled > 1e-24, (a.mean(axis=1) - b.mean(axis=1)) / np.sqrt(pooled), np.nan
        )
    return np.asarray(found * correction(n + m - 2), dtype=np.float64)


def _percentiles(many: Floats, level: float) -> tuple[float | None, float | None, str | None]:
    kept = many[np.isfinite(many)]
    if len(kept) < 0.95 * len(many):
        return None, None, "no interval: too many resamples had no variance"
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high), None


def welch_t(
    first: Sequence[float],
    second: Sequence[float],
    *,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.95,
) -> Contrast:
    """Welch's t test of two independent groups."""
    groups = dict(zip(names, (first, second), strict=True))
    assumes = "independent values, means near normal; variances may differ"
    blank = Contrast(
        test="welch", first=names[0], second=names[1], n=sizes(groups), assumes=assumes
    )
    try:
        a, b = arrays(groups).values()
    except (Degenerate, ValueError) as why:
        return _with(blank, reason=str(why))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # one constant group is no obstacle; two were refused above
        done = stats.ttest_ind(a, b, equal_var=False)
    interval = done.confidence_interval(level)
    effect = hedges_g(a.tolist(), b.tolist(), level=level)
    return _with(
        blank,
        difference=float(a.mean() - b.mean()),
        low=float(interval.low),
        high=float(interval.high),
        statistic=float(done.statistic),
        df=float(done.df),
        p=float(done.pvalue),
        g=effect.g,
        g_low=effect.low,
        g_high=effect.high,
        reason=effect.reason,
    )


def paired_t(
    first: Sequence[float],
    second: Sequence[float],
    *,
    names: tuple[str, str] = ("first", "second"),
    level: float = 0.95,
    seed: int = 1,
) -> Contrast:
    """Paired t test; position k of both is one pair, such as two forks of one past.

    g is the mean difference over the standard deviation of the differences (d_z), corrected with n
    - 1.
    """
    assumes = "pairs independent of each other, differences near normal"
    blank = Contrast(
        test="paired_t",
        first=names[0],
        second=names[1],
        n={"pairs": min(len(first), len(second))},
        assumes=assumes,
    )
    try:
        d = _differences(first, second)
    except Degenerate as why:
        return _with(blank, reason=str(why))
    done = stats.ttest_1samp(d, 0.0)
    interval = done.confidence_interval(level)
    factor = correction(len(d) - 1)
    g = float(d.mean() / d.std(ddof=1)) * factor if factor else None
    low, high, reason = _paired_interval(d, factor, level, seed)
    return _with(
        blank,
        difference=float(d.mean()),
        low=float(interval.low),
        high=float(interval.high),
        statistic=float(done.statistic),
        df=len(d) - 1.0,
        p=float(done.pvalue),
        g=g,
        g_low=low,
        g_high=high,
        reason=reason,
    )


def _differences(first: Sequence[float], second: Sequence[float]) -> Floats:
    if len(first) != len(second):
        raise Degenerate(f"{len(first)} and {len(second)} values are no pairs")
    d: Floats = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    check("the pairs", d)
    if flat(d):
        raise Degenerate("all pairs differ by the same amount; no variance")
    return d


def _paired_interval(
    d: Floats, factor: float, level: float, seed: int
) -> tuple[float | None, float | None, str | None]:
    if not factor:
        return None, None, "g cannot be corrected with 2 pairs"
    rows = np.random.default_rng(seed).choice(d, (RESAMPLES, len(d)))
    sd = rows.std(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _percentiles(np.where(sd > 1e-12, rows.mean(axis=1) / sd, np.nan) * factor, level)


def sign_flip_p(
    first: Sequence[float], second: Sequence[float], *, shuffles: int = 5000, seed: int = 1
) -> float | None:
    """Two-sided p of paired values when the sign of each difference is drawn anew; None for
    degenerate input.

    Up to 12 pairs all sign patterns are counted, which is exact.
    """
    try:
        d = _differences(first, second)
    except Degenerate:
        return None
    seen = abs(float(d.sum())) * (1 - 1e-12)
    if len(d) <= 12:
        patterns = 1 - 2 * ((np.arange(2 ** len(d))[:, None] >> np.arange(len(d))) & 1)
        return float((np.abs(patterns @ d) >= seen).mean())
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (shuffles, len(d)))
    return float((1 + (np.abs(signs @ d) >= seen).sum()) / (1 + shuffles))


def _with(contrast: Contrast, **fields: object) -> Contrast:
    from dataclasses import replace

    return replace(contrast, **fields)  # type: ignore[arg-type]
