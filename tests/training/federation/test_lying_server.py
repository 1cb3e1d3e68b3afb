"""A server that chooses weights with which some data overflow and other do not: it learns nothing
but noise.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.federation.leastsquares import SITE, SIZES, plan_of, recipe, start
from tests.training.federation.test_rounds import EVEN, SITE_DP, Moves, moved
from training.errors import SiteRefused, TrainingError
from training.federation import messages
from training.federation.inprocess import InProcess
from training.federation.rounds import conduct
from training.federation.site import SiteSide, task_bytes
from training.federation.site_ledger import SiteLedger
from training.federation.terms import Terms, terms_of
from training.federation.updates import Task, Weights

NOISY = Terms(**{**SITE_DP, "noise": "seeded"}, noise_at="each_site")
SUMMED = Terms(**{**SITE_DP, "noise": "seeded"}, noise_at="sum", secure=True)
OVERFLOWS: dict[str, Any] = {
    "nan": float("nan"),
    "infinite": lambda weights: {
        key: np.full_like(value, np.inf) for key, value in weights.items()
    },
    "still": TrainingError("the adapters did not move: nothing was learned"),
}
"""What a learner makes of weights that were chosen for it."""


def other_end(weights: Weights) -> Weights:
    """As far as a finite number can be from these."""
    return {key: np.full_like(value, -3e38) for key, value in weights.items()}


def task(value: float | None = None, round: int = 1) -> bytes:
    weights: Weights = start().weights
    if value is not None:
        weights = {key: np.full_like(here, value) for key, here in weights.items()}
    return task_bytes(Task(round=round, weights=weights, base_shift=None), NOISY, 1, {})


def north(how: Any, terms: Terms = NOISY, ledger: SiteLedger | None = None) -> SiteSide:
    weights = {"north": terms.weights["a"], **{k: v for k, v in terms.weights.items() if k != "a"}}
    return SiteSide(
        name="north",
        learner=Moves({"north": how}),
        terms=replace(terms, weights=weights),
        seed=1,
        frozen={},
        ledger=ledger,
    )


def alike(one: bytes, other: bytes) -> bool:
    a, b = (messages.decoded(data, "fp32") for data in (one, other))
    same = all(np.array_equal(a.weights[key], b.weights[key]) for key in b.weights)
    return same and a.facts == b.facts and len(one) == len(other)


@pytest.mark.parametrize("how", sorted(OVERFLOWS))
@pytest.mark.parametrize("value", [None, 3e38])
def test_numbers_that_overflow_are_answered_with_the_noise_of_an_update_of_zero(
    how: str, value: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    """To the bit what a site without any data would send, as the account has it."""
    with caplog.at_level(logging.WARNING):
        found = north(OVERFLOWS[how]).answer(task(value))
    assert alike(found, north(0.0).answer(task(value)))
    assert "sends noise alone" in caplog.text


def test_so_are_updates_that_overflow() -> None:
    assert alike(north(other_end).answer(task(3e38)), north(0.0).answer(task(3e38)))


@pytest.mark.parametrize("how", sorted(OVERFLOWS))
def test_in_a_secure_sum_too(how: str) -> None:
    parts = [north(one, SUMMED).masked_part(task()) for one in (OVERFLOWS[how], 0.0)]
    assert np.array_equal(*parts)


@pytest.mark.parametrize("terms", [NOISY, SUMMED], ids=["each site", "sum"])
def test_a_round_with_such_a_site_is_like_any_other(terms: Terms) -> None:
    learner = Moves({"a": 0.01, "b": float("nan"), "c": 0.01, "d": 0.01})
    state, report = conduct(start(), InProcess(learner, terms, 1), terms, 1)
    assert not report.failed and report.answered == ("a", "b", "c", "d")
    still = Moves({**learner.how, "b": 0.0})
    same, _ = conduct(start(), InProcess(still, terms, 1), terms, 1)
    assert all(np.array_equal(state.weights[key], same.weights[key]) for key in state.weights)


def test_a_round_that_was_answered_with_noise_is_spent(tmp_path: Path) -> None:
    of = recipe(SITE, rounds=2)
    plan = plan_of(of)
    assert plan is not None
    terms = terms_of(of, plan, SIZES)
    kept = SiteLedger.of(tmp_path / "ledger.json", "north", terms, plan)
    side = SiteSide(
        name="north",
        learner=Moves({"north": float("nan")}),
        terms=terms,
        seed=1,
        frozen={},
        ledger=kept,
    )
    data = task_bytes(Task(round=1, weights=start().weights, base_shift=None), terms, 1, {})
    messages.decoded(side.answer(data), terms.send)
    assert kept.answered() == (1,)
    with pytest.raises(SiteRefused, match="is not answered again"):
        side.answer(data)


def test_without_noise_on_updates_it_is_said_what_went_wrong() -> None:
    state, report = conduct(
        start(),
        InProcess(Moves({**dict.fromkeys(EVEN, 1.0), "b": float("nan")}), Terms(weights=EVEN), 1),
        Terms(weights=EVEN),
        1,
    )
    assert "not finite" in report.failed["b"] and moved(state) == pytest.approx(1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused_before_anything_is_learned(value: float) -> None:
    """Whatever the data are; the message itself cannot be made by `encoded`, so it is made by hand."""

    def never(weights: Weights) -> Weights:
        raise AssertionError("nothing may be learned from these")

    learner: Callable[[Weights], Weights] = never
    data = task(1.5).replace(np.float32(1.5).tobytes(), np.float32(value).tobytes())
    with pytest.raises(SiteRefused, match="the server's weights are not finite"):
        north(learner).answer(data)
