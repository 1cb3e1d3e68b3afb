"""How far simulated sessions are from real ones by each measure, with intervals over clients."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simcounsel.chance import seed_of

FEWEST_CLIENTS = 6
"""On a side; with fewer there is no interval, and nothing is claimed."""
DRAWS, HALVES = 1000, 200
Numbers = NDArray[np.float64]
Alikeness = Literal["alike", "different", "undecided"]


@dataclass(frozen=True, kw_only=True)
class MeasuredSide:
    """One measure's values on one side."""

    values: Numbers
    """A session each, without those that have none."""
    clients: NDArray[np.intp]
    """Of each value, from 0."""

    @property
    def n(self) -> int:
        """Clients."""
        return len(set(self.clients.tolist()))


@dataclass(frozen=True, kw_only=True)
class Distance:
    """One measure, real beside simulated. Numbers that cannot be had are None."""

    real: float | None
    """Mean over sessions."""
    real_sd: float | None
    simulated: float | None
    simulated_sd: float | None
    real_sessions: int
    simulated_sessions: int
    real_clients: int
    simulated_clients: int
    difference: float | None
    """Simulated minus real, in standard deviations of the real sessions."""
    low: float | None
    """`low`, `high`: 95%, clients drawn with replacement on both sides."""
    high: float | None
    wasserstein: float | None
    """Wasserstein's distance of order 1 in standard deviations of the real: how far values would
    have to be moved, on average, to turn one distribution into the other.
    """
    wasserstein_low: float | None
    wasserstein_high: float | None
    ks: float | None
    """The largest distance of the two distribution functions, 0 to 1 (Kolmogorov and Smirnov)."""
    real_against_real: float | None
    """Wasserstein's distance between random halves of the real clients, the median: what is to be
    expected where nothing differs.
    """
    verdict: Alikeness

    def words(self) -> str:
        """'0.40 [0.10, 0.71] SD'."""
        if self.difference is None:
            return "no values"
        if self.low is None or self.high is None:
            return f"{self.difference:.2f} SD, too few clients for an interval"
        return f"{self.difference:.2f} [{self.low:.2f}, {self.high:.2f}] SD"


def side(values: Sequence[float | None], clients: Sequence[str]) -> MeasuredSide:
    """Values of sessions with their clients; sessions without a value are left out."""
    kept = [
        (value, client)
        for value, client in zip(values, clients, strict=True)
        if value is not None and np.isfinite(value)
    ]
    number = {client: at for at, client in enumerate(dict.fromkeys(one for _, one in kept))}
    return MeasuredSide(
        values=np.array([value for value, _ in kept], dtype=float),
        clients=np.array([number[client] for _, client in kept], dtype=np.intp),
    )


def distance(
    real: MeasuredSide, simulated: MeasuredSide, margin: float, seed: str, *, among: int = 1
) -> Distance:
    """One measure of `among`. margin: alike is an interval that lies wholly within so many standard
    deviations; different is a difference that none of all these measures would be likely to show by
    chance (Bonferroni, at .05).
    """
    a, b = real.values, simulated.values
    found = {
        "real": _mean(a),
        "real_sd": _sd(a),
        "simulated": _mean(b),
        "simulated_sd": _sd(b),
        "ks": float(stats.ks_2samp(a, b, method="asymp").statistic) if len(a) and len(b) else None,
    }
    unit = found["real_sd"]
    far: dict[str, float | None] = dict.fromkeys(
        ("difference", "low", "high", "wasserstein", "wasserstein_low", "wasserstein_high")
    )
    error = None
    if unit and len(b):
        far["difference"] = float((b.mean() - a.mean()) / unit)
        far["wasserstein"] = float(stats.wasserstein_distance(a, b) / unit)
        if min(real.n, simulated.n) >= FEWEST_CLIENTS:
            rng = np.random.default_rng(seed_of(seed, "distance"))
            intervals, error = _intervals(real, simulated, rng)
            far |= intervals
    return Distance(
        **found,
        **far,
        real_sessions=len(a),
        simulated_sessions=len(b),
        real_clients=real.n,
        simulated_clients=simulated.n,
        real_against_real=_halves(real, seed) if unit else None,
        verdict=_verdict(far, error, margin, among),
    )


def resampled(one: MeasuredSide, rng: np.random.Generator, draws: int = DRAWS) -> Numbers:
    """Of each draw of as many clients with replacement how often each client was drawn: draws by
    clients.
    """
    return rng.multinomial(one.n, np.full(one.n, 1 / one.n), size=draws).astype(float)


def client_sums(one: MeasuredSide) -> Mapping[str, Numbers]:
    """By client: number of sessions, sum and sum of squares of the values."""
    return {
        "n": np.bincount(one.clients, minlength=one.n).astype(float),
        "sum": np.bincount(one.clients, weights=one.values, minlength=one.n),
        "square": np.bincount(one.clients, weights=one.values**2, minlength=one.n),
    }


def _intervals(
    real: MeasuredSide, simulated: MeasuredSide, rng: np.random.Generator
) -> tuple[dict[str, float | None], float]:
    """Percentile intervals of both distances, and the standard error of the difference."""
    drawn = {"real": resampled(real, rng), "simulated": resampled(simulated, rng)}
    sums = {"real": client_sums(real), "simulated": client_sums(simulated)}
    n = {name: drawn[name] @ sums[name]["n"] for name in drawn}
    mean = {name: drawn[name] @ sums[name]["sum"] / n[name] for name in drawn}
    square = drawn["real"] @ sums["real"]["square"] / n["real"]
    variance = (square - mean["real"] ** 2) * n["real"] / np.maximum(n["real"] - 1, 1)
    sd = np.sqrt(np.maximum(variance, 0))
    good = sd > 1e-9
    differences = (mean["simulated"] - mean["real"])[good] / sd[good]
    moved = [
        stats.wasserstein_distance(
            real.values,
            simulated.values,
            drawn["real"][at][real.clients],
            drawn["simulated"][at][simulated.clients],
        )
        / sd[at]
        for at in np.flatnonzero(good)[: DRAWS // 2]
    ]
    low, high = np.quantile(differences, [0.025, 0.975])
    least, most = np.quantile(moved, [0.025, 0.975])
    found = {
        "low": float(low),
        "high": float(high),
        "wasserstein_low": float(least),
        "wasserstein_high": float(most),
    }
    return dict(found), float(differences.std(ddof=1))


def _halves(real: MeasuredSide, seed: str) -> float | None:
    if real.n < FEWEST_CLIENTS:
        return None
    rng = np.random.default_rng(seed_of(seed, "halves"))
    unit = float(np.std(real.values, ddof=1))
    found = []
    for _ in range(HALVES):
        first = np.isin(real.clients, rng.permutation(real.n)[: real.n // 2])
        found.append(stats.wasserstein_distance(real.values[first], real.values[~first]) / unit)
    return float(np.median(found))


def _verdict(
    far: Mapping[str, float | None], error: float | None, margin: float, among: int
) -> Alikeness:
    low, high, difference = far["low"], far["high"], far["difference"]
    if low is None or high is None or difference is None or error is None:
        return "undecided"
    if -margin < low and high < margin:
        return "alike"
    beyond = stats.norm.isf(0.05 / (2 * among)) * error
    return "different" if abs(difference) > beyond else "undecided"


def _mean(values: Numbers) -> float | None:
    return float(values.mean()) if len(values) else None


def _sd(values: Numbers) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None
