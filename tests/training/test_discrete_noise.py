"""Noise in whole numbers: the distribution that is accounted for, and what it costs beside the normal one."""

import math
import os

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld.privacy_loss_distribution import from_discrete_gaussian_mechanism
from dp_accounting.rdp.rdp_privacy_accountant import RdpAccountant
from scipy import stats

from tests.each import each
from training.errors import TrainingError
from training.plan import EXCESS, TrainingPlan
from training.privacy import budget, gaussian
from training.privacy.discrete import MOST_BITS, discrete_normals
from training.privacy.gaussian import delta_of
from training.privacy.lattice import MODULUS, Lattice, lattice

SUM = {
    "unit": "site",
    "clip": 1.0,
    "delta": 1e-5,
    "noise_at": "sum",
    "noise_multiplier": 4.0,
    "dropouts": 2,
}


def plan(rounds: int = 100, **more: object) -> TrainingPlan:
    sites = [{"name": "clinic", "count": 10, "sessions": 50}]
    return TrainingPlan.model_validate(
        {"sites": sites, "rounds": rounds, "privacy": {**SUM, **more}}
    )


@each("bits", [0, 1, 3])
@each("key", [("seed", 1), None])
def test_every_whole_number_comes_as_often_as_it_should(
    bits: int, key: tuple[str | int, ...] | None
) -> None:
    """Chi-square against exp(-x^2 / 2 s^2) over its sum; deceived once in a million."""
    size, s = 200_000, 2.0**bits
    drawn = discrete_normals(size, bits, key)
    assert drawn.shape == (size,)
    every = np.arange(-int(8 * s), int(8 * s) + 1)
    wanted = np.exp(-(every**2) / (2 * s * s))
    wanted *= size / wanted.sum()
    often = wanted >= 10
    counts = np.array([(drawn == one).sum() for one in every[often]])
    rest = size - counts.sum()
    seen, expected = [*counts, rest], [*wanted[often], size - wanted[often].sum()]
    assert stats.chisquare(seen, expected).pvalue > 1e-6


@pytest.mark.parametrize("bits", [20, 27, MOST_BITS])
def test_on_a_fine_lattice_it_looks_normal(bits: int) -> None:
    drawn = discrete_normals(40_000, bits, None)
    assert stats.kstest(drawn / 2.0**bits, "norm").pvalue > 1e-6
    assert len(set(drawn.tolist())) > 39_000, "its low bits are there"
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03


def test_a_key_repeats_and_secure_noise_comes_from_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, real = [], os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or real(size))
    one, same, other = (discrete_normals(100, 20, ("a", at)) for at in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other) and not asked
    assert not np.array_equal(*(discrete_normals(100, 20, None) for _ in range(2)))
    assert sum(asked) >= 2 * 100 * 8
    with pytest.raises(ValueError, match="out of range"):
        discrete_normals(1, MOST_BITS + 1, None)


def test_any_enough_shares_have_the_agreed_noise_and_no_sum_wraps() -> None:
    for members, answering in ((3, 3), (10, 8), (1000, 600)):
        found = lattice(reach=1.0, std=0.05, members=members, answering=answering)
        assert found is not None
        together = found.share_std * math.sqrt(answering)
        assert 0.05 <= together < 0.05 * (1 + 1e-8)
        widest = 1.0 + 10 * found.share_std * math.sqrt(members)
        assert widest / found.step <= MODULUS / 2 < 2 * widest / found.step * (1 + 1e-6)
    assert lattice(reach=1.0, std=1e-12, members=3, answering=3) is None


def test_the_account_is_that_of_the_gaussian_mechanism_and_a_thousandth() -> None:
    """Against two bounds of the library: the discrete Gaussian in one dimension, and its concentrated privacy in any (Canonne et al. 2020, theorem 14), which is less tight."""
    made, rounds = budget.make(plan()), 100
    normal = gaussian.epsilon_of(4.0, 1e-5, rounds)
    assert normal < made.total_epsilon < normal + 2 * EXCESS
    loose = RdpAccountant()
    loose.compose(dp_event.ZCDpEvent(rounds / (2 * 4.0**2)))
    assert made.total_epsilon < loose.get_epsilon(1e-5) < 1.1 * made.total_epsilon
    for sensitivity in (40, 100):
        exact = from_discrete_gaussian_mechanism(400.0, sensitivity).get_epsilon_for_delta(1e-5)
        assert exact == pytest.approx(gaussian.epsilon_of(400 / sensitivity, 1e-5), rel=2e-3)


def test_a_budget_is_kept_with_what_whole_numbers_cost() -> None:
    wanted = plan(noise_multiplier=None, budget_epsilon=4.0, participation=0.3)
    made = budget.make(wanted)
    assert 3.99 < made.total_epsilon <= 4.0 and made.last_round is None
    found = budget.lattice_of(wanted, made.multiplier)
    assert found is not None and found.excess(100) < EXCESS


def test_noise_that_32_bits_cannot_hold_is_refused_in_words() -> None:
    with pytest.raises(TrainingError, match="too little for a secure sum of 32 bits; take more"):
        budget.make(plan(noise_multiplier=1e-3, rounds=1_000_000))


@pytest.mark.parametrize(("shares", "bits", "shift"), [(1, 5, 20), (2, 5, 60), (3, 6, 100)])
def test_the_exact_delta_of_a_sum_of_shares_is_within_the_account(
    shares: int, bits: int, shift: int
) -> None:
    """The hockey-stick divergence in one dimension, of probabilities convolved exactly."""
    scale, reach = 2.0**bits, 12 * 2**bits
    one = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * scale**2))
    one /= one.sum()
    whole = one
    for _ in range(shares - 1):
        whole = np.convolve(whole, one)
    here, there = np.pad(whole, (0, shift)), np.pad(whole, (shift, 0))
    found = Lattice(step=1.0, bits=bits, answering=shares)
    for epsilon in (0.2, 0.5, 1.0, 2.0):
        true = np.maximum(here - np.exp(epsilon + found.excess(1, size=1)) * there, 0).sum()
        claimed = delta_of(math.sqrt(shares) * scale / shift, epsilon)
        near = np.maximum(here - np.exp(epsilon) * there, 0).sum()
        assert true <= claimed
        assert near == pytest.approx(claimed, rel=0.02)  # neither more noise nor less than counted


def test_what_whole_numbers_cost_is_counted_for_one_share_alone() -> None:
    """A server that stands in for all others sees no more than one (it was counted for all)."""
    many, one = (Lattice(step=1.0, bits=20, answering=sites) for sites in (100, 1))
    assert many.excess(10) >= one.excess(10) > 0
