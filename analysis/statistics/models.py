"""Holm's correction; power of the planned contrast."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower


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
