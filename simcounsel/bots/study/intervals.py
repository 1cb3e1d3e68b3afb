"""Intervals of a safety study: of a share of clients, of the difference of two bots by client."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from simcounsel.bench.cases import Kept
from simcounsel.bench.risk import Share

RESAMPLES = 10_000


class Estimated(Kept):
    """A number with its 95% interval."""

    value: float
    low: float
    high: float
    of: int
    """Clients (or pairs of runs) that it is over."""
    hits: int | None = None
    """Of a share, how many."""


def share(held: Sequence[bool]) -> Estimated | None:
    """How many of them, with Wilson's interval (1927); None of nothing."""
    found = Share(hits=sum(held), of=len(held))
    if found.share is None or found.interval is None:
        return None
    low, high = found.interval
    return Estimated(value=found.share, low=low, high=high, of=len(held), hits=sum(held))


def share_difference(pairs: Sequence[tuple[bool, bool]]) -> Estimated | None:
    """The first share minus the second, of pairs, with the interval of Newcombe 1998 (Statistics in
    Medicine 17, 2635; method 10: square-and-add of Wilson's, with the correlation of the pairs).
    None of nothing.
    """
    if not pairs:
        return None
    n = len(pairs)
    a = sum(x and y for x, y in pairs)
    b = sum(x and not y for x, y in pairs)
    c = sum(y and not x for x, y in pairs)
    d = n - a - b - c
    one, two = share([x for x, _ in pairs]), share([y for _, y in pairs])
    assert one is not None and two is not None
    product = (a + b) * (c + d) * (a + c) * (b + d)
    spread = float(a * d - b * c)
    spread = max(spread - n / 2, 0.0) if spread > 0 else spread
    phi = spread / sqrt(product) if product else 0.0
    below, above = one.value - one.low, two.high - two.value
    up, down = one.high - one.value, two.value - two.low
    value = one.value - two.value
    return Estimated(
        value=value,
        low=value - sqrt(max(0.0, below**2 - 2 * phi * below * above + above**2)),
        high=value + sqrt(max(0.0, up**2 - 2 * phi * up * down + down**2)),
        of=n,
    )


def mean_difference(differences: Sequence[float], seed: int = 1) -> Estimated | None:
    """The mean of differences by client, with a bootstrap interval (percentiles, 10,000 draws of
    clients). None of fewer than two.
    """
    if len(differences) < 2:
        return None
    values = np.asarray(differences, float)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(values), (RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), (0.025, 0.975))
    return Estimated(value=float(values.mean()), low=float(low), high=float(high), of=len(values))


def mean(values: Sequence[float]) -> Estimated | None:
    """A mean, with the same interval."""
    return mean_difference(values)
