"""Bounds by hand, by numeric integration of the trade-off curve, and against an attack that reaches them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from training.audit import bounds
from training.audit.curves import curve, tpr_at
from training.plan import PrivacyPlan, SiteSize, TrainingPlan
from training.privacy import gaussian


def test_a_true_total_of_one_over_a_hundred_rounds_bounds_an_attack_at_0575() -> None:
    """The paper measured 0.7245 with 'epsilon 1' (section IV.C.6); sigma for a true total of 1 is 37.31."""
    assert bounds.auc_gaussian(
        math.sqrt(100) / gaussian.multiplier_for(1, 1e-5, 100)
    ) == pytest.approx(0.575, abs=5e-4)
    # what the paper's noise really gives over its hundred rounds
    mu = math.sqrt(100) / gaussian.paper_multiplier(1, 1e-5)
    assert bounds.auc_gaussian(mu) == pytest.approx(0.928, abs=5e-4)


def test_the_bound_of_a_gaussian_is_reached_by_the_attack_that_knows_both() -> None:
    rng = np.random.default_rng(1)
    members, others = rng.normal(1.2, 1, 100_000), rng.normal(0, 1, 100_000)
    assert curve(members, others, bootstrap=0).roc_auc == pytest.approx(
        bounds.auc_gaussian(1.2), abs=0.004
    )
    assert tpr_at(members, others, 0.01).tpr == pytest.approx(
        bounds.tpr_gaussian(1.2, 0.01), abs=0.006
    )


@settings(max_examples=60, deadline=None)
@given(epsilon=st.floats(0, 12), delta=st.floats(0, 0.9))
def test_the_area_of_a_curve_is_its_integral(epsilon: float, delta: float) -> None:
    corner = (1 - delta) / (1 + math.exp(epsilon))
    area = quad(
        lambda fpr: bounds.misses(epsilon, delta, fpr), 0, 1, points=[corner, min(1 - delta, 1)]
    )[0]
    assert bounds.auc_epsilon(epsilon, delta) == pytest.approx(1 - area, abs=1e-6)
    assert (
        bounds.auc_epsilon(epsilon, delta)
        <= bounds.auc_pairs([(epsilon, delta)])
        <= bounds.auc_epsilon(epsilon, delta) + 1e-3
    )
    assert bounds.misses(epsilon, delta, corner) == pytest.approx(corner)


def test_randomised_response_reaches_the_bound_of_pure_epsilon() -> None:
    """It tells the truth with probability e^2 / (1 + e^2) = 0.8808: that is its true positive rate at the other's false one."""
    truth = math.exp(2) / (1 + math.exp(2))
    assert bounds.auc_epsilon(2, 0) == pytest.approx(truth)
    assert bounds.tpr_epsilon(2, 0, 1 - truth) == pytest.approx(truth)
    assert bounds.tpr_epsilon(1, 1e-5, 0.01) == pytest.approx(0.01 * math.e + 1e-5)
    assert bounds.auc_epsilon(0, 0) == 0.5
    assert bounds.auc_epsilon(2000, 1e-5) == 1.0
    assert bounds.tpr_epsilon(2000, 1e-5, 0.01) == 1.0


def _plan(unit: str, **given: object) -> TrainingPlan:
    privacy = {"unit": unit, "clip": 1.0, "delta": 1e-5, "noise_multiplier": 1.0, **given}
    batch = None if unit == "site" else 64
    return TrainingPlan(
        sites=(SiteSize(name="one", sessions=570, clients=570, count=2),),
        rounds=30,
        batch_size=batch,
        privacy=PrivacyPlan.model_validate(privacy),
    )


def test_a_sampled_plan_is_bounded_by_its_epsilons_at_many_deltas_and_no_lower_than_it_can_be() -> (
    None
):
    """Many weakly sampled steps are nearly Gaussian with mu = q sqrt(T (e^(1/z^2) - 1)) (Bu et al. 2020)."""
    plan = _plan("session")
    found = bounds.of_plan(plan, 2.0)
    steps, rate = 30 * plan.steps_per_round(plan.sites[0]), plan.rate(plan.sites[0])
    near = bounds.auc_gaussian(rate * math.sqrt(steps * math.expm1(1 / 4)))
    assert near - 0.01 < found.auc < near + 0.03
    assert found.auc < bounds.auc_epsilon(gaussian.epsilon_of(2.0, 1e-5, steps), 1e-5)
    assert "one session" in found.said and "no client has more than one" in found.said
    # the envelope of a known Gaussian's pairs is its own curve
    pairs = [
        (gaussian.epsilon_of(1.0, delta), delta)
        for delta in bounds.DELTAS
        if delta < gaussian.delta_of(1.0, 0)
    ]
    assert bounds.auc_gaussian(1.0) <= bounds.auc_pairs(pairs) <= bounds.auc_gaussian(1.0) + 0.02


def test_a_session_is_stretched_to_all_sessions_of_a_client() -> None:
    plan = _plan("session")
    three, one = bounds.of_plan(plan, 4.0, sessions_per_client=3), bounds.of_plan(plan, 4.0)
    assert three.auc > one.auc
    assert "3 sessions" in three.said
    assert bounds.of_plan(
        _plan("client", draw="client", disjoint_sites=True), 4.0, sessions_per_client=3
    ).auc == pytest.approx(one.auc)
    assert bounds.grouped(0.5, 1e-5, 3) == (
        1.5,
        pytest.approx(1e-5 * (math.exp(1.5) - 1) / (math.exp(0.5) - 1)),
    )


def test_a_site_that_may_be_silent_is_two_steps_from_one_with_other_data() -> None:
    silent = bounds.of_plan(_plan("site", noise_at="each_site"), 30.0)
    replaced = bounds.of_plan(_plan("site", noise_at="each_site", adjacency="replaced"), 30.0)
    assert silent.auc == pytest.approx(norm.cdf(2 * math.sqrt(30) / 30 / math.sqrt(2)))
    assert replaced.auc == pytest.approx(norm.cdf(math.sqrt(30) / 30 / math.sqrt(2)))
    assert dict(replaced.tpr)[0.01] == pytest.approx(bounds.tpr_gaussian(math.sqrt(30) / 30, 0.01))


def test_a_bound_that_says_nothing_is_one() -> None:
    found = bounds.of_pairs([(8.0, 1e-5)], unit="session", group=100)
    assert found.auc == 1.0
    assert dict(found.tpr)[0.01] == 1.0
    with pytest.raises(ValueError, match="epsilon -1"):
        bounds.auc_epsilon(-1, 0)
    with pytest.raises(ValueError, match="mu nan"):
        bounds.auc_gaussian(math.nan)
