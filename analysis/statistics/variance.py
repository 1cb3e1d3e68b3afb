"""Analysis of variance over independent groups: classic, Welch's, by permutation, from published
summaries; Tukey's HSD.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats
from statsmodels.stats.oneway import anova_oneway

from analysis.statistics.groups import Degenerate, Floats, Groups, arrays, finite, flat, sizes

SHUFFLES = 5000
EQUAL = 1e-14
"""Share of variance below which group means differ by rounding only; F is then 0 and p is 1."""
NORMAL = "independent values, normal within groups, equal variances"


@dataclass(frozen=True, kw_only=True)
class Anova:
    """A one-way analysis of variance."""

    test: str
    f: float | None = None
    """`f`, `p`, `eta_squared`: None with a `reason` when they cannot be had."""
    df: tuple[float, float] | None = None
    """Between and within groups (Welch's second is fractional)."""
    p: float | None = None
    eta_squared: float | None = None
    """Share of the variance that lies between groups, in [0, 1]."""
    n: dict[str, int] = field(default_factory=dict)
    """Values by group."""
    assumes: str = NORMAL
    """What must hold for p to mean something."""
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two groups compared after an ANOVA."""

    first: str
    second: str
    difference: float
    """First minus second."""
    q: float
    """Studentized range."""
    p: float
    low: float
    """`low`, `high`: simultaneous 95%."""
    high: float


@dataclass(frozen=True, kw_only=True)
class Tukey:
    """All pairs by Tukey's HSD (Tukey-Kramer where sizes differ); empty with a `reason` when
    impossible.
    """

    pairs: tuple[Pair, ...] = ()
    n: dict[str, int] = field(default_factory=dict)
    assumes: str = NORMAL
    reason: str | None = None


def anova(groups: Groups) -> Anova:
    """One-way ANOVA (Fisher), as both papers report it."""
    try:
        found = arrays(groups)
    except Degenerate as why:
        return Anova(test="anova", n=sizes(groups), reason=str(why))
    df = float(len(found) - 1), float(sum(map(len, found.values())) - len(found))
    eta_squared = _eta_squared(found)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # some groups may be constant; if all are, it was refused above
        f, p = (
            (0.0, 1.0)
            if eta_squared is None or eta_squared < EQUAL
            else map(float, stats.f_oneway(*found.values()))
        )
    return Anova(test="anova", f=f, df=df, p=p, eta_squared=eta_squared, n=sizes(groups))


def welch_anova(groups: Groups) -> Anova:
    """Welch's ANOVA (1951), which allows unequal variances."""
    assumes = "independent values, normal within groups; variances may differ"
    try:
        found = arrays(groups)
        constant = [name for name, values in found.items() if flat(values)]
        if constant:
            raise Degenerate(f"no variance within {constant[0]}; its weight would be infinite")
    except Degenerate as why:
        return Anova(test="welch", n=sizes(groups), assumes=assumes, reason=str(why))
    done = anova_oneway(list(found.values()), use_var="unequal", welch_correction=True)
    df = float(done.df_num), float(done.df_denom)
    return Anova(
        test="welch",
        f=float(done.statistic),
        df=df,
        p=float(done.pvalue),
        eta_squared=_eta_squared(found),
        n=sizes(groups),
        assumes=assumes,
    )


def permutation_anova(groups: Groups, *, shuffles: int = SHUFFLES, seed: int = 1) -> Anova:
    """One-way ANOVA whose p comes from shuffling the labels: (1 + as extreme) / (1 + shuffles),
    never 0.

    Phipson and Smyth 2010. The same seed gives the same p.
    """
    assumes = "values exchangeable between groups if nothing differs; no normality"
    try:
        found = arrays(groups, varied=False)
        pooled = np.concatenate(list(found.values()))
        if flat(pooled):
            raise Degenerate("all values are the same")
    except Degenerate as why:
        return Anova(test="permutation", n=sizes(groups), assumes=assumes, reason=str(why))
    lengths = [len(values) for values in found.values()]
    centred = pooled - pooled.mean()
    seen = float(_between(centred[None, :], lengths)[0]) - 1e-10 * float((centred**2).sum())
    rng, extreme, left = np.random.default_rng(seed), 0, shuffles
    while left:
        rows = min(left, max(1, 2_000_000 // len(pooled)))
        shuffled = rng.permuted(np.broadcast_to(centred, (rows, len(pooled))), axis=1)
        extreme += int((_between(shuffled, lengths) >= seen).sum())
        left -= rows
    classic = anova(groups)
    return Anova(
        test="permutation",
        f=classic.f,
        df=classic.df,
        p=(1 + extreme) / (1 + shuffles),
        eta_squared=_eta_squared(found),
        n=sizes(groups),
        assumes=assumes,
    )


def _between(rows: Floats, lengths: Sequence[int]) -> Floats:
    """Sum of squares between groups of each row (already centred), which orders rows as F does."""
    total, start = np.zeros(len(rows)), 0
    for length in lengths:
        total += rows[:, start : start + length].sum(axis=1) ** 2 / length
        start += length
    return total


def _eta_squared(found: dict[str, Floats]) -> float | None:
    pooled = np.concatenate(list(found.values()))
    whole = float(((pooled - pooled.mean()) ** 2).sum())
    between = sum(
        len(values) * float(values.mean() - pooled.mean()) ** 2 for values in found.values()
    )
    return min(1.0, between / whole) if whole > 0 else None


def anova_from_summary(means: Sequence[float], sds: Sequence[float], ns: Sequence[int]) -> Anova:
    """One-way ANOVA from means, standard deviations (n - 1) and sizes, for tables that others
    published.
    """
    names = [f"group {number}" for number in range(1, len(ns) + 1)]
    n = dict(zip(names, map(int, ns), strict=True))
    reason = _unfit(means, sds, ns)
    if reason:
        return Anova(test="anova from summary", n=n, reason=reason)
    mean, sd, size = (np.asarray(part, dtype=float) for part in (means, sds, ns))
    between = float((size * (mean - np.average(mean, weights=size)) ** 2).sum())
    within = float(((size - 1) * sd**2).sum())
    df = float(len(size) - 1), float(size.sum() - len(size))
    f = (between / df[0]) / (within / df[1])
    return Anova(
        test="anova from summary",
        f=f,
        df=df,
        p=float(stats.f.sf(f, *df)),
        eta_squared=between / (between + within),
        n=n,
    )


def _unfit(means: Sequence[float], sds: Sequence[float], ns: Sequence[int]) -> str | None:
    if not len(means) == len(sds) == len(ns):
        return "means, deviations and sizes differ in number"
    if len(ns) < 2:
        return f"{len(ns) or 'no'} group; two are needed"
    if not all(math.isfinite(x) for x in (*means, *sds, *ns)):
        return "a mean, deviation or size is missing"
    if min(ns) < 2 or min(sds) < 0:
        return "a size below 2, or a negative deviation"
    return "no variance within any group" if max(sds) == 0 else None


def eta_squared_from_f(f: float, df_between: float, df_within: float) -> float | None:
    """Share of variance between groups that a published F stands for; None when a number is missing
    or negative.
    """
    if (
        not all(math.isfinite(x) for x in (f, df_between, df_within))
        or f < 0
        or df_between <= 0
        or df_within <= 0
    ):
        return None
    return finite(f * df_between / (f * df_between + df_within))


def tukey(groups: Groups) -> Tukey:
    """Tukey's honestly significant difference for every pair of groups."""
    try:
        found = arrays(groups)
    except Degenerate as why:
        return Tukey(n=sizes(groups), reason=str(why))
    names, values = list(found), list(found.values())
    done = stats.tukey_hsd(*values)
    interval = done.confidence_interval(0.95)
    df = sum(map(len, values)) - len(values)
    error = sum(float(((v - v.mean()) ** 2).sum()) for v in values) / df
    pairs = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            difference = float(done.statistic[i, j])
            q = abs(difference) / math.sqrt(error / 2 * (1 / len(values[i]) + 1 / len(values[j])))
            pairs.append(
                Pair(
                    first=names[i],
                    second=names[j],
                    difference=difference,
                    q=q,
                    p=float(done.pvalue[i, j]),
                    low=float(interval.low[i, j]),
                    high=float(interval.high[i, j]),
                )
            )
    return Tukey(pairs=tuple(pairs), n=sizes(groups))
