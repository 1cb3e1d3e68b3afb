"""The Gaussian mechanism, exactly (Balle and Wang 2018, theorem 8), and MindChat's formula for it.

A multiplier is the standard deviation of the noise over the L2 sensitivity of what is released.
Releases at one multiplier z, as many as T, are together exactly one release at z / sqrt(T), also
when each depends on those before (Dong, Roth and Su 2022, corollary 3.3).
"""

import math

from dp_accounting import get_epsilon_gaussian, get_sigma_gaussian
from scipy.special import log_ndtr


def epsilon_of(multiplier: float, delta: float, releases: float = 1) -> float:
    """The smallest epsilon that so many releases give with this delta."""
    return float(get_epsilon_gaussian(multiplier / math.sqrt(releases), delta))


def multiplier_for(epsilon: float, delta: float, releases: float = 1) -> float:
    """The smallest multiplier at which so many releases together stay within epsilon and delta, as
    `epsilon_of` counts them: the last digits of the two differ.
    """
    found = float(get_sigma_gaussian(epsilon, delta)) * math.sqrt(releases)
    while epsilon_of(found, delta, releases) > epsilon:
        found *= 1 + 1e-12
    return found


def delta_of(multiplier: float, epsilon: float, releases: float = 1) -> float:
    """The smallest delta that so many releases give with this epsilon: Phi(m/2 - e/m) - exp(e)
    Phi(-m/2 - e/m), m = sqrt(T) / z.
    """
    mu = math.sqrt(releases) / multiplier
    above, below = (
        float(log_ndtr(mu / 2 - epsilon / mu)),
        epsilon + float(log_ndtr(-mu / 2 - epsilon / mu)),
    )
    return math.exp(above) * -math.expm1(below - above) if below < above else 0.0


def paper_multiplier(stated_epsilon: float, delta: float) -> float:
    """sqrt(2 ln(1.25 / delta)) / epsilon: proven for one release and an epsilon below 1 (Dwork and
    Roth 2014, theorem A.1); the paper uses it for a hundred releases and epsilons up to 7 (section
    III.B, equation 4, and section IV.B).
    """
    return math.sqrt(2 * math.log(1.25 / delta)) / stated_epsilon
