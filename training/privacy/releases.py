"""What many noisy sums tell about one unit, with Poisson sampling, by privacy loss distributions.

Numbers are upper bounds: `dp_accounting` rounds privacy losses up. Without sampling they are the
exact closed form.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dp_accounting.pld.privacy_loss_distribution import (
    PrivacyLossDistribution,
    from_gaussian_mechanism,
    from_mixture_gaussian_mechanism,
    identity,
)
from scipy.optimize import brentq
from scipy.stats import binom

from training.privacy import gaussian

FINE, COARSE = 1e-4, 1e-3
"""Steps of the grid of privacy losses: the coarse one while searching, and for little noise, which
is slow.
"""
LITTLE, FAINTEST = 1.0, 0.2
"""Below the second multiplier sampling is not counted: the bound stays true, and a noise as small
protects nobody.
"""


@dataclass(frozen=True, kw_only=True)
class Releases:
    """`times` sums with noise, to which a unit contributes at most `parts` vectors of norm `clip`,
    each drawn alone with probability `rate` (Poisson). The multiplier is that of one part: noise
    over clip.
    """

    times: int
    rate: float = 1.0
    parts: int = 1

    def __post_init__(self) -> None:
        if self.times < 1 or self.parts < 1 or not 0 < self.rate <= 1:
            raise ValueError(
                f"releases out of range: times {self.times}, parts {self.parts}, rate {self.rate:g}"
                " (above 0, at most 1)"
            )


def epsilon_of(
    all_of: Sequence[Releases], multiplier: float, delta: float, grid: float = FINE
) -> float:
    """The epsilon of all these releases together, for a unit that is in every one of them."""
    if not multiplier > 0 or not 0 < delta < 1:
        raise ValueError(
            f"multiplier {multiplier:g} must be above 0, delta {delta:g} between 0 and 1"
        )
    if multiplier < FAINTEST or all(part.rate == 1 for part in all_of):
        return gaussian.epsilon_of(multiplier, delta, unsampled(all_of))
    grid = (
        _grid(all_of, multiplier)
        if any(part.parts > 1 for part in all_of)
        else COARSE
        if multiplier < LITTLE
        else grid
    )
    losses: PrivacyLossDistribution = identity(grid)
    for part in all_of:
        losses = losses.compose(_losses(part, multiplier, grid).self_compose(part.times))
    return float(losses.get_epsilon_for_delta(delta))


def _grid(all_of: Sequence[Releases], multiplier: float) -> float:
    """For mixtures, slow to compute: a tenth of the spread of one release's loss, which costs
    epsilon less than 1%.
    """
    spread = min(part.rate * part.parts for part in all_of) / multiplier
    return min(max(spread / 10, FINE), 100 * FINE)


def unsampled(all_of: Sequence[Releases]) -> float:
    """As many releases of one part, without sampling, would be at least as bad: parts add up in one
    sum, squares over sums.
    """
    return float(sum(part.times * part.parts**2 for part in all_of))


def _losses(part: Releases, multiplier: float, grid: float) -> PrivacyLossDistribution:
    """One release. With several parts their number in a sum is binomial and they may all point one
    way: a mixture of Gaussians (Choquette-Choo et al. 2024; Charles et al. 2024, example-level
    sampling).
    """
    if part.parts == 1:
        return from_gaussian_mechanism(
            multiplier, sampling_prob=part.rate, value_discretization_interval=grid
        )
    numbers = range(part.parts + 1)
    chances = [float(binom.pmf(number, part.parts, part.rate)) for number in numbers]
    return from_mixture_gaussian_mechanism(
        multiplier,
        [float(number) for number in numbers],
        chances,
        value_discretization_interval=grid,
    )


def multiplier_for(all_of: Sequence[Releases], epsilon: float, delta: float) -> float:
    """A multiplier at which these releases stay within epsilon; less than 0.1% above the smallest
    one.
    """
    most = gaussian.multiplier_for(epsilon, delta, unsampled(all_of))
    if all(part.rate == 1 for part in all_of) or most < FAINTEST:
        return most

    def excess(log_multiplier: float) -> float:
        return math.log(
            max(epsilon_of(all_of, math.exp(log_multiplier), delta, COARSE), 1e-9) / epsilon
        )

    high = math.log(most)
    low = min(math.log(_guess(all_of, epsilon, delta)), high) - 0.1
    while excess(low) < 0 and low > math.log(FAINTEST):
        low, high = low - 0.3, low
    if excess(high) > 0:  # only by rounding: the bound without sampling is `most`
        return most
    found = math.exp(brentq(excess, low, high, xtol=2e-4)) if excess(low) > 0 else math.exp(low)
    while epsilon_of(all_of, found, delta) > epsilon:
        found *= 1.0003
    return min(found, most)


def _guess(all_of: Sequence[Releases], epsilon: float, delta: float) -> float:
    """By the central limit theorem: mu = rate * parts * sqrt(T (exp(1/z^2) - 1)) (Bu et al. 2020);
    a start for the search only.
    """
    wanted = 1 / gaussian.multiplier_for(epsilon, delta)
    weight = sum(part.times * (part.rate * part.parts) ** 2 for part in all_of)
    return 1 / math.sqrt(math.log1p(wanted**2 / weight))
