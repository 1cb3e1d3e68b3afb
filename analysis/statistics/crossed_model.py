"""A linear mixed model in which raters and clients cross: what a difference of two arms is worth,
if other raters and other clients were drawn.

value ~ arm + (1 + arm | rater) + (1 + arm | client), intercepts and slopes uncorrelated, by REML
(statsmodels, variance components). A slope belongs to whoever is in both arms, so that a factor
nested in arms has an intercept alone. Degrees of freedom are the fewest that either factor allows
(one less than those who are in both arms; two less than all where none is), as in an F1 and F2 of
which the weaker counts (Clark 1973; Judd, Westfall and Kenny 2012): never more than Satterthwaite's
for balanced ratings with slopes on either side.
"""

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

FACTORS = ("rater", "client")
LEAST_RATERS = 3
"""With fewer no p is given."""


@dataclass(frozen=True, kw_only=True)
class Crossed:
    """First arm minus second. None with a `reason` when it cannot be fitted."""

    first: str
    """An arm's name."""
    second: str
    """The other's."""
    difference: float | None = None
    """In the unit of the scale."""
    low: float | None = None
    """`low`, `high`: 95%."""
    high: float | None = None
    """See `low`."""
    df: float | None = None
    """The fewest that raters or clients allow."""
    p: float | None = None
    """Two-sided; None with too few raters or clients."""
    n: dict[str, int] = field(default_factory=dict)
    """Ratings by arm."""
    reason: str | None = None
    """Why something is None, or what the fit said."""


def crossed(
    table: pd.DataFrame, first: str, second: str, *, least_clients: int, level: float = 0.95
) -> Crossed:
    """Fit on a table with the columns `value`, `arm`, `rater` and `client`, one row a rating; rows
    with a missing value are left out. No p with fewer clients than `least_clients`, or fewer raters
    than `LEAST_RATERS`.
    """
    rows = table[table["arm"].isin([first, second])].dropna(subset=["value", *FACTORS])
    rows = rows.reset_index(drop=True)
    n = {arm: int((rows["arm"] == arm).sum()) for arm in (first, second)}
    blank = Crossed(first=first, second=second, n=n)
    if min(n.values()) < 2:
        return replace(blank, reason="fewer than two ratings in an arm")
    both = {one: _in_both(rows, one, first, second) for one in FACTORS}
    allowed = {one: _allowed(rows, one, both[one]) for one in FACTORS}
    x = np.where(rows["arm"] == first, 0.5, -0.5)
    return _tested(blank, rows, allowed, _fitted(rows, both, x), least_clients, level)


def crossed_mean(
    table: pd.DataFrame, middle: float, *, least_clients: int, level: float = 0.95
) -> Crossed:
    """The mean of ratings against the middle of their scale: value - middle ~ 1 + (1 | rater) +
    (1 | client), on a table as that of `crossed`, whatever its arms are.
    """
    rows = table.dropna(subset=["value", *FACTORS]).reset_index(drop=True)
    rows = rows.assign(value=rows["value"].astype(float) - middle)
    blank = Crossed(first="mean", second="middle", n={"mean": len(rows)})
    if rows["value"].nunique() < 2:
        return replace(blank, reason="all ratings are the same")
    allowed = {one: rows[one].nunique() - 1 for one in FACTORS}
    fitted = _fitted(rows, {one: [] for one in FACTORS}, None)
    return _tested(blank, rows, allowed, fitted, least_clients, level)


def _tested(
    blank: Crossed,
    rows: pd.DataFrame,
    allowed: dict[str, int],
    fit: tuple[Any, str | None],
    least_clients: int,
    level: float,
) -> Crossed:
    """What the last fixed effect of a fit comes to. allowed: degrees of freedom by factor."""
    df = float(min(allowed.values()))
    if df < 1:
        few = min(allowed, key=lambda one: allowed[one])
        return replace(blank, reason=f"too few {few}s to tell what differs between them")
    fitted, said = fit
    if fitted is None:
        return replace(blank, reason=f"the model could not be fitted ({said})")
    difference, error = float(fitted.fe_params.iloc[-1]), float(fitted.bse_fe.iloc[-1])
    if not math.isfinite(error) or error <= 0:
        return replace(blank, reason="the model could not be fitted (no error of the difference)")
    reach = float(stats.t.ppf(0.5 + level / 2, df)) * error
    few_said = _too_few(rows, least_clients)
    return replace(
        blank,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        df=df,
        p=None if few_said else float(2 * stats.t.sf(abs(difference / error), df)),
        reason=few_said or said,
    )


def _in_both(rows: pd.DataFrame, factor: str, first: str, second: str) -> list[str]:
    """Those who have ratings in both arms, in order; none unless there are two."""
    one, two = (set(rows.loc[rows["arm"] == arm, factor].astype(str)) for arm in (first, second))
    return sorted(one & two) if len(one & two) > 1 else []


def _allowed(rows: pd.DataFrame, factor: str, both: list[str]) -> int:
    """Degrees of freedom that a factor allows."""
    return len(both) - 1 if both else rows[factor].nunique() - 2


def _too_few(rows: pd.DataFrame, least_clients: int) -> str | None:
    raters, clients = (rows[factor].nunique() for factor in FACTORS)
    if raters < LEAST_RATERS:
        return f"{raters} raters; {LEAST_RATERS} are the least for a test over raters and clients"
    if clients < least_clients:
        return f"{clients} clients; {least_clients} are the least for a test"
    return None


def _fitted(
    rows: pd.DataFrame, both: dict[str, list[str]], x: Any | None
) -> tuple[Any, str | None]:
    """The fitted model and what statsmodels warned about, in short. both: by factor, who has a
    slope. x: 0.5 or -0.5, by arm; None: a mean alone.
    """
    from numpy.linalg import LinAlgError
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    design = pd.DataFrame({"intercept": np.ones(len(rows))})
    if x is not None:
        design["arm"] = x
    names, columns, parts = [], [], []
    for factor in FACTORS:
        levels = sorted(rows[factor].astype(str).unique())
        who = (rows[factor].astype(str).to_numpy()[:, None] == np.array(levels)).astype(float)
        if len(levels) > 1:
            names.append(factor)
            columns.append([[f"{factor} {one}" for one in levels]])
            parts.append([who])
        if both[factor] and x is not None:
            kept = [levels.index(one) for one in both[factor]]
            names.append(f"{factor} slope")
            columns.append([[f"{factor} {one} slope" for one in both[factor]]])
            parts.append([who[:, kept] * x[:, None]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            done = MixedLM(
                rows["value"].astype(float), design, groups=np.ones(len(rows)),
                exog_vc=VCSpec(names, columns, parts),
            ).fit(reml=True, method=["lbfgs", "powell"])  # fmt: skip
        except (LinAlgError, ValueError) as error:
            return None, str(error).splitlines()[0]
    texts = " ".join(str(one.message) for one in caught).lower()
    if "boundary" in texts or "singular" in texts:
        return done, "a variance of raters or clients is at its lower bound of 0"
    return (done, None) if done.converged else (None, "it did not converge")
