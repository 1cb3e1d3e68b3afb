"""A linear mixed model of runs within clients, with degrees of freedom that clients allow.

value ~ arm + (1 + arm | client) where arms share clients, value ~ arm + (1 | client) where not, by
REML (statsmodels); t with Satterthwaite's degrees of freedom (1946; as Fai and Cornelius 1996 and
lmerTest, Kuznetsova et al. 2017), which statsmodels has not: twice the squared variance of the
difference over the variance of that variance, from the curvature of the REML deviance in the
variances. They are never more than the clients allow (one less than those who are in both arms; two
less than all where none is): where a variance is estimated as 0, curvature knows nothing of it.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from analysis.statistics.clients import ByClient, by_client
from analysis.statistics.groups import Floats

STEP = 1e-3
"""Of a variance, or of a tenth of the residual one if that is more, by which curvature is taken."""
ZERO = 1e-6
"""A variance below this share of the residual one counts as 0."""
FALL = 1e-3
"""If the deviance could fall by more than this in free variances, the fit lies at an edge of what
variances can be, where curvature says nothing.
"""


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """First arm minus second. None with a `reason` when it cannot be fitted."""

    first: str
    second: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    t: float | None = None
    df: float | None = None
    """Satterthwaite's, at most what the clients allow."""
    p: float | None = None
    """Two-sided; None with too few clients."""
    client_sd: float | None = None
    """Standard deviation between clients."""
    effect_sd: float | None = None
    """Standard deviation of the difference between clients; None where no client is in both
    arms.
    """
    n: dict[str, int] = field(default_factory=dict)
    """Runs by arm."""
    clients: int = 0
    assumes: str = (
        "effects of clients and residuals normal; Satterthwaite's degrees of freedom, at most what"
        " the clients allow"
    )
    reason: str | None = None


def mixed(
    table: pd.DataFrame, first: str, second: str, *, value: str = "value", level: float = 0.95
) -> Mixed:
    """Fit on a table with the columns `value`, `arm` and `client`, one row a run; rows with a
    missing value are left out.
    """
    rows = table[table["arm"].isin([first, second])].dropna(subset=[value, "client"])
    some = by_client(rows, (first, second), value=value)
    blank = Mixed(first=first, second=second, n=some.runs, clients=some.clients)
    reason = _unfit(rows, some, value)
    if reason:
        return replace(blank, reason=reason)
    x = np.where(rows["arm"] == first, 0.5, -0.5)
    y = rows[value].to_numpy(dtype=float)
    clients = rows["client"].astype(str).to_numpy()
    fitted, said = _fitted(y, x, clients, slopes=some.crossed)
    if fitted is None:
        return replace(blank, reason=f"the model could not be fitted ({said})")
    groups = [(y[clients == one], _with_one(x[clients == one])) for one in np.unique(clients)]
    theta = _theta(fitted, slopes=some.crossed)
    variance = _variance(groups, theta)
    allowed = some.clients - (1 if some.crossed else 2)
    df = min(_satterthwaite(groups, theta), float(allowed))
    difference, error = float(fitted.fe_params[1]), math.sqrt(variance)
    reach = float(stats.t.ppf(0.5 + level / 2, df)) * error
    few = some.too_few
    return replace(
        blank,
        difference=difference,
        low=difference - reach,
        high=difference + reach,
        t=difference / error,
        df=df,
        p=None if few else float(2 * stats.t.sf(abs(difference / error), df)),
        client_sd=math.sqrt(max(0.0, theta[0])),
        effect_sd=math.sqrt(max(0.0, theta[2])) if some.crossed else None,
        reason=few or said,
    )


def _unfit(rows: pd.DataFrame, some: ByClient, value: str) -> str | None:
    if min(some.runs.values()) < 2:
        counts = ", ".join(f"{arm} has n = {count}" for arm, count in some.runs.items())
        return f"{counts}; 2 are needed in each"
    if some.clients < 3:
        return f"{some.clients} clients; a random effect needs at least 3"
    cells = rows.groupby(["client", "arm"], observed=True).ngroups
    if len(rows) <= cells:
        return (
            "one run a client and arm; what differs between clients cannot be told from the"
            " residual: paired_t tests the same"
        )
    if rows.groupby(["client", "arm"], observed=True)[value].std().max() < 1e-12:
        return "runs of a client do not differ"
    return None


def _with_one(x: Floats) -> Floats:
    return np.column_stack([np.ones(len(x)), x])


def _fitted(y: Floats, x: Floats, clients: Any, *, slopes: bool) -> tuple[Any, str | None]:
    """The fitted model and what statsmodels warned about, in short."""
    from numpy.linalg import LinAlgError
    from statsmodels.regression.mixed_linear_model import MixedLM

    random = _with_one(x) if slopes else np.ones((len(x), 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            done = MixedLM(y, _with_one(x), groups=clients, exog_re=random).fit(
                reml=True, method=["lbfgs", "powell"]
            )
        except (LinAlgError, ValueError) as error:
            return None, str(error).splitlines()[0]
    texts = " ".join(str(one.message) for one in caught).lower()
    if "boundary" in texts or "singular" in texts:
        return done, "clients hardly differ: a variance of theirs is at its lower bound of 0"
    return (done, None) if done.converged else (None, "it did not converge")


def _theta(fitted: Any, *, slopes: bool) -> Floats:
    """Variance of clients, their covariance, variance of slopes, of the residual; where there are
    no slopes the second and third are 0.
    """
    spread = np.asarray(fitted.cov_re, dtype=float)
    more = (spread[0, 1], spread[1, 1]) if slopes else (0.0, 0.0)
    return np.array([spread[0, 0], *more, float(fitted.scale)])


Groups = list[tuple[Floats, Floats]]
"""Of each client: the values, and the fixed part, which is the random part as well."""


def _inner(groups: Groups, theta: Floats) -> tuple[Floats, float]:
    """X'V^-1 X over all clients, and the REML deviance."""
    spread = np.array([[theta[0], theta[1]], [theta[1], theta[2]]])
    inner, right, log_dets, squares = np.zeros((2, 2)), np.zeros(2), 0.0, 0.0
    for y, x in groups:
        v = x @ spread @ x.T + theta[3] * np.eye(len(y))
        solved = np.linalg.solve(v, np.column_stack([x, y]))
        inner += x.T @ solved[:, :2]
        right += x.T @ solved[:, 2]
        squares += float(y @ solved[:, 2])
        log_dets += float(np.linalg.slogdet(v)[1])
    left = squares - float(right @ np.linalg.solve(inner, right))
    return inner, log_dets + float(np.linalg.slogdet(inner)[1]) + left


def _variance(groups: Groups, theta: Floats) -> float:
    """Of the estimated difference."""
    return float(np.linalg.inv(_inner(groups, theta)[0])[1, 1])


def _satterthwaite(groups: Groups, theta: Floats) -> float:
    """The degrees of freedom of the difference; infinite where the fit lies at an edge."""
    free = [place for place in range(4) if place == 3 or _there(theta, place)]
    steps = np.zeros(4)
    for place in free:
        root = math.sqrt(max(theta[0], 0) * max(theta[2], 0)) if place == 1 else theta[place]
        steps[place] = STEP * max(abs(root), theta[3] / 10)

    def moved(*places: tuple[int, int]) -> Floats:
        other = theta.copy()
        for place, sign in places:
            other[place] += sign * steps[place]
        return other

    def slope(of: Callable[[Floats], float], place: int) -> float:
        high, low = of(moved((place, 1))), of(moved((place, -1)))
        return float((high - low) / (2 * steps[place]))

    def deviance(at: Floats) -> float:
        return _inner(groups, at)[1]

    gradient = np.array([slope(lambda at: _variance(groups, at), place) for place in free])
    curvature = np.array([[_curve(deviance, theta, steps, a, b) for b in free] for a in free])
    if np.linalg.eigvalsh(curvature).min() <= 0:
        return math.inf
    pull = np.array([slope(deviance, place) for place in free])
    if float(pull @ np.linalg.solve(curvature, pull)) / 2 > FALL:
        return math.inf
    spread = float(gradient @ (2 * np.linalg.inv(curvature)) @ gradient)
    return float(2 * _variance(groups, theta) ** 2 / spread) if spread > 0 else math.inf


def _there(theta: Floats, place: int) -> bool:
    """Whether a variance, or what two of them share, is above 0."""
    above = [theta[one] > ZERO * theta[3] for one in (0, 2)]
    return all(above) if place == 1 else above[0] if place == 0 else above[1]


def _curve(
    of: Callable[[Floats], float], theta: Floats, steps: Floats, first: int, second: int
) -> float:
    """The second derivative in two of the variances."""
    total = 0.0
    for a in (1, -1):
        for b in (1, -1):
            at = theta.copy()
            at[first] += a * steps[first]
            at[second] += b * steps[second]
            total += a * b * of(at)
    return float(total / (4 * steps[first] * steps[second]))
