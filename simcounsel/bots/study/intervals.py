"""Intervals of a safety study: of a share of clients, of the difference of two bots by client."""

from collections.abc import Sequence
from math import sqrt

from simcounsel.bench.cases import Kept
from simcounsel.bench.risk import Share, Z

LEAST = 6
"""Clients from whom on a mean has an interval."""


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


def mean(values: Sequence[float], bounds: tuple[float, float] | None = None) -> Estimated | None:
    """The mean of a value by client, or of a difference, with Student's interval; None of fewer
    than `LEAST`, of whom too little is known. bounds: beyond which no mean can be.
    """
    n = len(values)
    if n < LEAST:
        return None
    middle = sum(values) / n
    spread = sqrt(sum((one - middle) ** 2 for one in values) / (n - 1))
    half = t_quantile(n - 1) * spread / sqrt(n)
    low, high = middle - half, middle + half
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimated(value=middle, low=low, high=high, of=n)


def t_quantile(freedom: int) -> float:
    """The 97.5% point of Student's t, by the expansion of Abramowitz and Stegun 1964, 26.7.5; right
    to a hundredth from four degrees of freedom on.
    """
    z, v = Z, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )
