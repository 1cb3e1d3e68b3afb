"""Two groups against each other: Welch's t, paired t, Hedges' g with exact intervals."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import optimize, special, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower

from analysis.statistics.groups import Degenerate, Floats, arrays, check, flat, sizes


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
    """Hedges' g, corrected for small samples; `g_low`, `g_high`: of the population's standardized
    difference.
    """
    g_low: float | None = None
    g_high: float | None = None
    n: dict[str, int] = field(default_factory=dict)
    """Values by group, or pairs."""
    assumes: str = ""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Hedges' g (1981), and an interval of the population's standardized difference."""

    g: float | None = None
    low: float | None = None
    high: float | None = None
    n: dict[str, int] = field(default_factory=dict)
    assumes: str = "independent values, normal, equal variances; the interval is exact then"
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


def hedges_g(first: Sequence[float], second: Sequence[float], *, level: float = 0.95) -> Effect:
    """First minus second in pooled standard deviations, corrected; positive when the first is
    higher.
    """
    groups = {"first": first, "second": second}
    try:
        a, b = arrays(groups).values()
        if len(a) + len(b) < 4:
            raise Degenerate("fewer than 4 values")
        pooled = float((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1))
        df = len(a) + len(b) - 2
        if pooled / df <= 1e-24:
            raise Degenerate("no variance within the groups")
    except Degenerate as why:
        return Effect(n=sizes(groups), reason=str(why))
    d = float(a.mean() - b.mean()) / math.sqrt(pooled / df)
    low, high = standardized_interval(d, df, math.sqrt(1 / len(a) + 1 / len(b)), level)
    return Effect(g=d * correction(df), low=low, high=high, n=sizes(groups))


def standardized_interval(
    d: float, df: float, scale: float, level: float = 0.95
) -> tuple[float, float]:
    """The population's standardized differences under which one as low, or as high, as `d` is just
    as rare as the level allows: by the noncentral t (Steiger and Fouladi 1997), exact for normal
    values. scale: sqrt(1/n + 1/m) for two groups, 1/sqrt(n) for pairs.
    """
    t, tail = d / scale, (1 - level) / 2

    far = 8 * math.sqrt(1 + t * t / (2 * df))

    def beyond(ncp: float) -> float:
        share = float(stats.nct.cdf(t, df, ncp))
        return share if math.isfinite(share) else float(ncp < t)

    def noncentrality(share: float) -> float:
        return float(optimize.brentq(lambda ncp: beyond(ncp) - share, t - far, t + far))

    return noncentrality(1 - tail) * scale, noncentrality(tail) * scale


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
    factor, g, reason = correction(len(d) - 1), None, None
    interval_of_g: tuple[float, float] | tuple[None, None] = (None, None)
    if factor:
        raw = float(d.mean() / d.std(ddof=1))
        g = raw * factor
        interval_of_g = standardized_interval(raw, len(d) - 1, 1 / math.sqrt(len(d)), level)
    else:
        reason = "g cannot be corrected with 2 pairs"
    return _with(
        blank,
        difference=float(d.mean()),
        low=float(interval.low),
        high=float(interval.high),
        statistic=float(done.statistic),
        df=len(d) - 1.0,
        p=float(done.pvalue),
        g=g,
        g_low=interval_of_g[0],
        g_high=interval_of_g[1],
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


def sign_flip_p(
    first: Sequence[float], second: Sequence[float], *, shuffles: int = 5000, seed: int = 1
) -> float | None:
    """Two-sided p of paired values when the sign of each difference is drawn again; None for
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


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (1979) over the tests that have a p; None stays None. Never below
    the raw p.
    """
    known = [p for p in ps if p is not None and math.isfinite(p)]
    if not known:
        return [None for _ in ps]
    adjusted = iter(multipletests(known, method="holm")[1])
    return [
        float(max(p, next(adjusted))) if p is not None and math.isfinite(p) else None for p in ps
    ]


@dataclass(frozen=True, kw_only=True)
class Power:
    """Of a two-sided t test at `alpha`."""

    n: tuple[int, ...]
    alpha: float
    g: float
    power: float | None = None
    """To see an effect of size `g`."""
    smallest: float | None = None
    """The effect seen with 80% power; None with a `reason` when the sizes allow no test."""
    needed: int | None = None
    """Clients (in each arm, where arms have others) for 80% power to see `g`."""
    assumes: str = "a t test on normal values; of a stated effect, not of the one observed"
    reason: str | None = None


def power_of_contrast(
    n_first: int, n_second: int, *, paired: bool = False, g: float = 0.5, alpha: float = 0.05
) -> Power:
    """Power of the planned contrast at these sizes (pairs: `n_first`). g = 0.5 is what the paper
    assumed (SimCounsel, A.5).
    """
    n = (n_first,) if paired else (n_first, n_second)
    solver = TTestPower() if paired else TTestIndPower()
    wanted = {"nobs": None} if paired else {"nobs1": None}
    enough = solver.solve_power(effect_size=g, alpha=alpha, power=0.8, **wanted)
    needed = math.ceil(float(np.squeeze(enough)))
    if min(n) < 2:
        return Power(n=n, alpha=alpha, g=g, needed=needed, reason="n below 2")
    sizes = {"nobs": n_first} if paired else {"nobs1": n_first, "ratio": n_second / n_first}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        power = float(solver.power(g, *_sizes(n, paired, alpha), alternative="two-sided"))
        found = solver.solve_power(
            effect_size=None, alpha=alpha, power=0.8, alternative="two-sided", **sizes
        )
    smallest = float(found.item() if hasattr(found, "item") else found)
    return Power(
        n=n,
        alpha=alpha,
        g=g,
        power=power,
        smallest=smallest if math.isfinite(smallest) and smallest > 0 else None,
        needed=needed,
    )


def _sizes(n: tuple[int, ...], paired: bool, alpha: float) -> tuple[float, ...]:
    return (n[0], alpha) if paired else (n[0], alpha, n[1] / n[0])
