"""A mixed model with the client as random effect; Holm's correction; power of the planned
contrast.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """First arm minus second from a linear mixed model: value ~ arm + (1 | client), by REML.
    None with a `reason` when it cannot be fitted.
    """

    first: str
    second: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Wald, two-sided."""
    client_sd: float | None = None
    """Standard deviation between clients."""
    n: dict[str, int] = field(default_factory=dict)
    clients: int = 0
    assumes: str = (
        "client effects and residuals normal; Wald intervals, which are too narrow for few clients"
    )
    reason: str | None = None


def mixed(
    table: pd.DataFrame, first: str, second: str, *, value: str = "value", level: float = 0.95
) -> Mixed:
    """Fit on a table with the columns `value`, `arm` and `client`, one row a run; rows with a
    missing value are left out.
    """
    rows = table[table["arm"].isin([first, second])].dropna(subset=[value, "client"])
    n = {arm: int((rows["arm"] == arm).sum()) for arm in (first, second)}
    clients = int(rows["client"].nunique())
    blank = Mixed(first=first, second=second, n=n, clients=clients)
    reason = _unfit(rows, n, clients, value)
    if reason:
        return _with(blank, reason=reason)
    frame = pd.DataFrame(
        {
            "y": rows[value].astype(float).to_numpy(),
            "x": (rows["arm"] == first).astype(float).to_numpy(),
            "client": rows["client"].astype(str).to_numpy(),
        }
    )
    done, said = _fitted(frame)
    if done is None or not math.isfinite(done.bse["x"]):
        return _with(blank, reason=f"the model could not be fitted ({said})")
    low, high = (float(end) for end in done.conf_int(alpha=1 - level).loc["x"])
    return _with(
        blank,
        difference=float(done.params["x"]),
        low=low,
        high=high,
        p=float(done.pvalues["x"]),
        client_sd=math.sqrt(max(0.0, float(done.cov_re.iloc[0, 0]))),
        reason=said,
    )


def _unfit(rows: pd.DataFrame, n: dict[str, int], clients: int, value: str) -> str | None:
    if min(n.values()) < 2:
        return (
            f"{', '.join(f'{arm} has n = {count}' for arm, count in n.items())}; 2 are needed in"
            " each"
        )
    if clients < 2:
        return "1 client; a random effect needs at least 2"
    if len(rows) <= clients:
        return "one run a client; the random effect cannot be told from the residual"
    if rows.groupby("arm")[value].std().max() < 1e-12:
        return "no variance within any group"
    return None


def _fitted(frame: pd.DataFrame) -> tuple[Any, str | None]:
    """The fitted model and what statsmodels warned about, in short."""
    from numpy.linalg import LinAlgError
    from statsmodels.formula.api import mixedlm

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            done = mixedlm("y ~ x", frame, groups=frame["client"]).fit(
                reml=True, method=["lbfgs", "powell"]
            )
        except (LinAlgError, ValueError) as error:
            return None, str(error).splitlines()[0]
    texts = " ".join(str(one.message) for one in caught)
    if "boundary" in texts or "singular" in texts.lower():
        return done, "clients hardly differ: their variance is at its lower bound of 0"
    return (done, None) if done.converged else (None, "it did not converge")


def _with(result: Mixed, **fields: Any) -> Mixed:
    from dataclasses import replace

    return replace(result, **fields)


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
    assumes: str = "a t test on normal values; of a stated effect, not of the one observed"
    reason: str | None = None


def power_of_contrast(
    n_first: int, n_second: int, *, paired: bool = False, g: float = 0.5, alpha: float = 0.05
) -> Power:
    """Power of the planned contrast at these sizes (pairs: `n_first`). g = 0.5 is what the paper
    assumed (SimCounsel, A.5).
    """
    n = (n_first,) if paired else (n_first, n_second)
    if min(n) < 2:
        return Power(n=n, alpha=alpha, g=g, reason="n below 2")
    solver = TTestPower() if paired else TTestIndPower()
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
    )


def _sizes(n: tuple[int, ...], paired: bool, alpha: float) -> tuple[float, ...]:
    return (n[0], alpha) if paired else (n[0], alpha, n[1] / n[0])
