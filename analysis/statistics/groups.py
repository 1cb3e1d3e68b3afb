"""Groups of numbers: what they are, and why a test on them may be impossible."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Groups = Mapping[str, Sequence[float]]
Floats = NDArray[np.float64]


class Degenerate(ValueError):
    """The numbers do not allow this statistic; its text is the reason in a result."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """One group in numbers."""

    name: str
    n: int
    mean: float | None
    sd: float | None
    """With n - 1; None for a single value."""
    low: float | None
    """`low`, `high`: 95% interval of the mean by Student's t; None where there is no sd."""
    high: float | None
    reason: str | None = None
    """Why something is None."""


def arrays(groups: Groups, *, least: int = 2, varied: bool = True) -> dict[str, Floats]:
    """The groups as arrays. Degenerate unless there are two, each with `least` values, none
    missing.

    varied: also demand that values differ within at least one group.
    """
    found = {str(name): np.asarray(values, dtype=float) for name, values in groups.items()}
    if len(found) < 2:
        raise Degenerate(f"{len(found) or 'no'} group; two are needed")
    for name, values in found.items():
        check(name, values, least)
    if varied and all(flat(values) for values in found.values()):
        raise Degenerate("no variance within any group")
    return found


def check(name: str, values: Floats, least: int = 2) -> None:
    """Degenerate when values are too few, missing or infinite."""
    if len(values) < least:
        raise Degenerate(f"{name} has n = {len(values)}; {least} are needed")
    if not np.isfinite(values).all():
        raise Degenerate(f"{name} has missing values; leave them out first, and say so")


def flat(values: Floats) -> bool:
    """Whether all values are the same, rounding apart."""
    return bool(np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max(initial=0.0))))


def sizes(groups: Groups) -> dict[str, int]:
    """How many values each group has, missing ones not counted."""
    return {
        str(name): int(np.isfinite(np.asarray(values, dtype=float)).sum())
        for name, values in groups.items()
    }


def finite(value: float) -> float | None:
    """A plain float, or None for what is no number."""
    return float(value) if math.isfinite(value) else None


def spread(name: str, values: Sequence[float], level: float = 0.95) -> Spread:
    """Mean, deviation and the mean's interval of one group; missing values are left out and counted
    in `reason`.
    """
    from scipy import stats

    given = np.asarray(values, dtype=float)
    kept = given[np.isfinite(given)]
    left_out = len(given) - len(kept)
    note = f"{left_out} missing left out" if left_out else None
    if len(kept) < 2:
        mean = float(kept[0]) if len(kept) else None
        return Spread(
            name=name,
            n=len(kept),
            mean=mean,
            sd=None,
            low=None,
            high=None,
            reason=note or f"n = {len(kept)}",
        )
    sd = float(kept.std(ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, len(kept) - 1)) * sd / math.sqrt(len(kept))
    mean = float(kept.mean())
    return Spread(
        name=name, n=len(kept), mean=mean, sd=sd, low=mean - half, high=mean + half, reason=note
    )
