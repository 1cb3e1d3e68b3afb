"""Areas, rates and intervals against scikit-learn, brute force and hand-worked values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from training.audit.curves import TprAt, curve, delong_se, hanley_se, tpr_at
from training.errors import TrainingError

SCORES = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(members=SCORES, others=SCORES)
def test_areas_and_rates_are_those_of_scikit_learn_ties_and_all(
    members: list[float], others: list[float]
) -> None:
    truth, scores = [1] * len(members) + [0] * len(others), members + others
    found = curve(members, others, bootstrap=0, fprs=(0.0, 0.1, 0.5))
    assert found.roc_auc == pytest.approx(roc_auc_score(truth, scores))
    assert found.roc_auc == pytest.approx(
        np.mean([(m > o) + (m == o) / 2 for m, o in itertools.product(members, others)])
    )
    assert found.pr_auc == pytest.approx(average_precision_score(truth, scores))
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    for at in found.tpr:
        assert at.tpr == pytest.approx(tpr[fpr <= at.fpr + 1e-12].max())
        assert at.fpr_reached <= at.fpr + 1e-12
        assert at.resolved == (len(others) * at.fpr >= 1 - 1e-9)


@settings(max_examples=60, deadline=None)
@given(members=SCORES, others=SCORES)
def test_negated_scores_are_the_opposite_attack(members: list[float], others: list[float]) -> None:
    negated = curve([-s for s in members], [-s for s in others], bootstrap=0)
    assert negated.roc_auc == pytest.approx(1 - curve(members, others, bootstrap=0).roc_auc)


def test_too_few_others_for_a_small_rate_are_said_and_nothing_is_interpolated() -> None:
    """400 others: 1% is four of them, 0.1% is less than one; between thresholds there is nothing."""
    others = np.arange(400.0)
    members = [
        397.5,
        395.5,
        399.0,
        500.0,
    ]  # above 2, 4 and 0 others (a tie with the highest counts as not above), and all
    assert tpr_at(members, others, 0.01) == TprAt(
        fpr=0.01, tpr=1.0, fpr_reached=0.01, resolved=True
    )
    assert tpr_at(members, others, 0.001) == TprAt(
        fpr=0.001, tpr=0.25, fpr_reached=0.0, resolved=False
    )
    assert tpr_at([1.0, 1.0], [1.0, 1.0], 0.5) == TprAt(
        fpr=0.5, tpr=0.0, fpr_reached=0.0, resolved=True
    )
    assert tpr_at([1.0], [1.0], 1.0).tpr == 1.0


@pytest.mark.parametrize("shift", [-1.0, 0.0, 0.8])
def test_the_interval_holds_the_area_and_not_its_mirror_image(shift: float) -> None:
    """A peer negates scores a second time when it resamples, so that an AUC of 0.71 gets the interval from 0.24 to 0.36."""
    rng = np.random.default_rng(1)
    found = curve(rng.normal(shift, 1, 200), rng.normal(0, 1, 150), bootstrap=400)
    interval = found.intervals["roc_auc"]
    assert interval.low < found.roc_auc < interval.high
    if shift:
        assert not interval.low < 1 - found.roc_auc < interval.high
        assert (interval.low > 0.5) == (shift > 0)
    for name, value in {"pr_auc": found.pr_auc, "tpr@0.01": found.tpr[0].tpr}.items():
        assert found.intervals[name].low <= value <= found.intervals[name].high


def test_standard_errors_of_three_kinds_agree_where_their_assumptions_hold() -> None:
    rng = np.random.default_rng(2)
    found = curve(rng.normal(0.8, 1, 300), rng.normal(0, 1, 300), bootstrap=1000)
    width = (found.intervals["roc_auc"].high - found.intervals["roc_auc"].low) / (2 * 1.96)
    assert width == pytest.approx(found.delong_se, rel=0.1)
    assert found.hanley_se == pytest.approx(found.delong_se, rel=0.15)


def test_hanley_and_mcneils_error_of_the_papers_table() -> None:
    """200 against 200 sessions and an AUC of 0.73: 0.025, more than the whole spread of the paper's LOSS row."""
    assert hanley_se(0.73, 200, 200) == pytest.approx(0.025, abs=5e-4)


def test_delongs_error_by_its_definition() -> None:
    members, others = [3.0, 1.0, 2.0, 5.0], [1.0, 2.5, 0.0]
    beats = np.array([[(m > o) + (m == o) / 2 for o in others] for m in members])
    wanted = np.sqrt(beats.mean(axis=1).var(ddof=1) / 4 + beats.mean(axis=0).var(ddof=1) / 3)
    assert delong_se(members, others) == pytest.approx(wanted)


def test_intervals_cover_the_true_area_nine_times_in_ten_at_least() -> None:
    truth, rng = norm.cdf(0.7 / np.sqrt(2)), np.random.default_rng(3)
    held = [
        found.low <= truth <= found.high
        for found in (
            curve(rng.normal(0.7, 1, 60), rng.normal(0, 1, 60), bootstrap=200).intervals["roc_auc"]
            for _ in range(100)
        )
    ]
    assert sum(held) >= 88


def test_sessions_of_one_client_are_drawn_together() -> None:
    """Ten clients with twenty alike sessions each are ten observations, not two hundred."""
    rng = np.random.default_rng(4)
    members, others = np.repeat(rng.normal(0.5, 1, 10), 20), rng.normal(0, 1, 200)
    apart = curve(members, others).intervals["roc_auc"]
    clients = [f"client {n // 20}" for n in range(200)]
    together = curve(
        members, others, member_clients=clients, other_clients=list(range(200))
    ).intervals["roc_auc"]
    assert together.high - together.low > 2 * (apart.high - apart.low)
    with pytest.raises(TrainingError, match="3 clients for 200 scores"):
        curve(members, others, member_clients=["a", "b", "c"])


def test_a_resample_is_the_same_for_a_seed_and_nothing_is_divided_by_nothing() -> None:
    assert curve([1.0, 2.0], [0.0, 3.0], bootstrap=50, seed=5) == curve(
        [1.0, 2.0], [0.0, 3.0], bootstrap=50, seed=5
    )
    one = curve([1.0], [1.0], bootstrap=10)
    assert (one.roc_auc, one.hanley_se > 0, one.delong_se) == (0.5, True, 0.0)


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(TrainingError, match="1 of 2 scores of members are not numbers"):
        curve([1.0, float("nan")], [0.0])
    with pytest.raises(TrainingError, match="no scores of others"):
        curve([1.0], [])
