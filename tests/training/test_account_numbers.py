"""Epsilons against the paper's own figures, closed forms, numeric integration and a second accountant (PRV)."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.stats import binom, norm

from tests.each import each
from training.privacy import gaussian
from training.privacy.releases import Releases, epsilon_of, multiplier_for, unsampled

DELTA = 1e-5


def hockey_stick(
    p: Callable[[float], float], q: Callable[[float], float], epsilon: float, reach: float
) -> float:
    """The definition: the integral of max(0, p - e^epsilon q)."""
    return float(
        quad(
            lambda x: max(0.0, p(x) - math.exp(epsilon) * q(x)),
            -reach,
            reach,
            limit=2000,
            epsabs=1e-13,
            points=[0.0, 1.0],
        )[0]
    )


@each(
    ("stated", "sigma", "one", "hundred", "replaced"),
    [
        (1, 4.8448, 0.751, 10.39, 25.44),
        (3, 1.6149, 2.533, 44.82, 128.65),
        (5, 0.9690, 4.540, 96.43, 300.1),
        (7, 0.6921, 6.743, 165.12, 539.8),
    ],
)
def test_what_the_papers_noise_gives(
    stated: float, sigma: float, one: float, hundred: float, replaced: float
) -> None:
    """Clip 1, delta 1e-5, 100 rounds: its epsilon of 1 is 10.4 in all, and 25 against any other data."""
    z = gaussian.paper_multiplier(stated, DELTA)
    assert z == pytest.approx(sigma, abs=5e-5)
    assert gaussian.epsilon_of(z, DELTA) == pytest.approx(one, abs=1e-3)
    assert gaussian.epsilon_of(z, DELTA, 100) == pytest.approx(hundred, abs=5e-3)
    assert gaussian.epsilon_of(z / 2, DELTA, 100) == pytest.approx(replaced, rel=2e-4)
    # by the definition, with 50 digits: one Gaussian at z / sqrt(100) has delta 1e-5 at that epsilon
    mp.dps = 50
    mu, epsilon = 10 / mp.mpf(z), mp.mpf(gaussian.epsilon_of(z, DELTA, 100))
    delta = mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
    assert float(delta) == pytest.approx(DELTA, rel=1e-6)


@each(
    ("total", "rounds", "sigma"),
    [
        (1, 100, 37.31),
        (3, 100, 13.91),
        (5, 100, 8.92),
        (7, 100, 6.71),
        (8, 100, 6.00),
        (1, 1, 3.73),
        (3, 10, 4.40),
        (8, 50, 4.24),
    ],
)
def test_noise_for_a_true_total(total: float, rounds: int, sigma: float) -> None:
    assert gaussian.multiplier_for(total, DELTA, rounds) == pytest.approx(sigma, abs=5e-3)
    assert gaussian.epsilon_of(
        gaussian.multiplier_for(total, DELTA, rounds), DELTA, rounds
    ) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(("z", "epsilon"), [(4.8448, 0.751), (1.0, 3.0), (0.5, 9.0)])
def test_delta_is_the_integral_of_its_definition(z: float, epsilon: float) -> None:
    wanted = hockey_stick(
        lambda x: float(norm.pdf(x, 1, z)), lambda x: float(norm.pdf(x, 0, z)), epsilon, 14 * z + 1
    )
    assert gaussian.delta_of(z, epsilon) == pytest.approx(wanted, rel=1e-5)


def test_the_stated_epsilon_fails_for_everybody_after_a_hundred_rounds() -> None:
    assert gaussian.delta_of(gaussian.paper_multiplier(1, DELTA), 1, 100) == pytest.approx(
        0.532, abs=5e-4
    )
    assert gaussian.delta_of(gaussian.paper_multiplier(5, DELTA), 5, 100) > 0.999


def test_rounds_add_up() -> None:
    """A round's epsilon is not the total: hundred rounds cost more than one, less than a hundred times one."""
    one, all_of = gaussian.epsilon_of(5, DELTA), gaussian.epsilon_of(5, DELTA, 100)
    assert 10 * one < all_of < 100 * one


@pytest.mark.slow
@pytest.mark.parametrize(
    ("times", "rate", "z", "known"),
    [(267, 64 / 570, 1.5, 6.733), (10687, 16 / 570, 1.886, 7.990), (100, 0.1, 1.0, 7.047)],
)
def test_two_accountants_agree(times: int, rate: float, z: float, known: float) -> None:
    """Ours counts by PLD; PRV of Opacus is written independently, and adds its own error bound of 0.01."""
    from opacus.accountants import PRVAccountant

    prv = PRVAccountant()
    prv.history = [(z, rate, times)]
    ours = epsilon_of([Releases(times=times, rate=rate)], z, DELTA)
    assert ours == pytest.approx(known, abs=2e-3)
    assert ours == pytest.approx(prv.get_epsilon(DELTA), abs=0.012)


@each(("rate", "parts", "z"), [(0.1, 1, 0.8), (0.3, 1, 2.0), (0.1, 3, 1.5), (0.5, 2, 3.0)])
def test_one_sampled_release_by_integration(rate: float, parts: int, z: float) -> None:
    """Of a client with several sessions too: a binomial mixture of Gaussians against the one without, in both directions."""
    chances = binom.pmf(np.arange(parts + 1), parts, rate)

    def with_unit(x: float) -> float:
        return float(chances @ norm.pdf(x, np.arange(parts + 1), z))

    def without(x: float) -> float:
        return float(norm.pdf(x, 0, z))

    ours = epsilon_of([Releases(times=1, rate=rate, parts=parts)], z, DELTA)
    reach = 14 * z + parts
    exact = max(
        hockey_stick(with_unit, without, ours, reach), hockey_stick(without, with_unit, ours, reach)
    )
    assert exact <= DELTA * (1 + 1e-6)  # never less than the truth
    lower = 0.99 * ours
    assert (
        max(
            hockey_stick(with_unit, without, lower, reach),
            hockey_stick(without, with_unit, lower, reach),
        )
        > DELTA
    )  # and tight


@pytest.mark.slow
def test_many_sampled_releases_of_three_sessions_by_simulation() -> None:
    """The privacy loss of 100 steps, drawn 400,000 times: delta at a small epsilon, with its error."""
    rate, parts, z, times = 0.1, 3, 6.0, 100
    rng, draws = np.random.default_rng(1), 400_000
    numbers, chances = np.arange(parts + 1), binom.pmf(np.arange(parts + 1), parts, rate)
    loss = np.zeros(draws)
    for _ in range(times):
        x = rng.binomial(parts, rate, draws) + z * rng.standard_normal(draws)
        loss += np.log(
            sum(
                c * np.exp((2 * k * x - k * k) / (2 * z * z))
                for k, c in zip(numbers, chances, strict=True)
            )
        )
    seen = np.maximum(0, 1 - np.exp(1.0 - loss))
    error = seen.std() / math.sqrt(draws)
    ours = epsilon_of([Releases(times=times, rate=rate, parts=parts)], z, float(seen.mean()))
    assert ours == pytest.approx(1.0, abs=0.02)
    assert error < 0.02 * seen.mean()


def test_several_sessions_of_a_client_cost_more_than_one_and_less_than_the_group_bound() -> None:
    """The general bound for k: k epsilon at delta (e^(k epsilon) - 1) / (e^epsilon - 1) times."""
    one, three = Releases(times=200, rate=0.05), Releases(times=200, rate=0.05, parts=3)
    epsilon = epsilon_of([three], 4.0, DELTA)
    each = epsilon_of([one], 4.0, DELTA / 50)
    grown = DELTA / 50 * math.expm1(3 * each) / math.expm1(each)
    assert grown < DELTA
    assert epsilon_of([one], 4.0, DELTA) < epsilon < 3 * each


def test_without_sampling_parts_add_up_exactly() -> None:
    assert epsilon_of([Releases(times=9, parts=2)], 12.0, DELTA) == gaussian.epsilon_of(2.0, DELTA)
    assert unsampled([Releases(times=9, parts=2), Releases(times=4)]) == 40


def test_sampling_never_costs() -> None:
    for z in (0.15, 0.6, 3.0):
        assert epsilon_of([Releases(times=20, rate=0.3)], z, DELTA) <= epsilon_of(
            [Releases(times=20)], z, DELTA
        )


@pytest.mark.slow
@each(
    "of",
    [
        Releases(times=267, rate=64 / 570),
        Releases(times=100, rate=0.1, parts=3),
        Releases(times=100),
        Releases(times=1, rate=0.01),
    ],
)
@each("epsilon", [0.5, 8.0])
def test_noise_that_is_found_keeps_the_total_and_is_the_least(of: Releases, epsilon: float) -> None:
    z = multiplier_for([of], epsilon, DELTA)
    assert epsilon_of([of], z, DELTA) <= epsilon * (1 + 1e-9)
    assert epsilon_of([of], z * 0.99, DELTA) > epsilon


def test_what_cannot_be_counted_is_refused() -> None:
    for wrong in (
        {"times": 0},
        {"times": 1, "rate": 0.0},
        {"times": 1, "rate": 1.2},
        {"times": 1, "parts": 0},
    ):
        with pytest.raises(ValueError, match="out of range"):
            Releases(**wrong)  # type: ignore[arg-type]
    for multiplier, delta in ((0.0, DELTA), (math.nan, DELTA), (1.0, 0.0), (1.0, 1.0)):
        with pytest.raises(ValueError, match="must be above 0"):
            epsilon_of([Releases(times=1)], multiplier, delta)
