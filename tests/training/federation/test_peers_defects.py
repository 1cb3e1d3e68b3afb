"""Defects that were found in other federations' code, each shown not to be in ours. Those of training and audit are tested there."""

import math
from typing import Any

import numpy as np
import pytest

from tests.training.federation.leastsquares import SITE, SIZES, plan_of, recipe, run_round, start
from tests.training.federation.test_all_rounds import Never, go
from tests.training.federation.test_rounds import EVEN, Moves, moved
from training.errors import TrainingError
from training.federation import aggregation, draws, fixedpoint, screening
from training.federation.all_rounds import PlanSpending
from training.federation.draws import poisson
from training.federation.state import ServerState
from training.federation.terms import Terms, terms_of
from training.federation.updates import norm_of
from training.privacy import budget, gaussian

WIDE = ServerState(weights={"w.lora_B.weight": np.zeros((100, 100), np.float32)})


def private(noise_at: str, std: float = 0.3, **more: Any) -> Terms:
    return Terms(
        weights=EVEN,
        fixed=True,
        clip=1.0,
        noise_at=noise_at,
        noise_std=std,
        tells_loss=False,
        secure=noise_at == "sum",
        **more,
    )  # type: ignore[arg-type]


def noise_is_there(noise_at: str) -> bool:
    state, _ = run_round(WIDE, Moves(dict.fromkeys(EVEN, 0.0)), private(noise_at), 1)
    return (
        abs(state.weights["w.lora_B.weight"].std() / (0.3 if noise_at == "sum" else 0.15) - 1)
        < 0.05
    )


@pytest.mark.parametrize("noise_at", ["each_site", "sum"])
def test_noise_is_not_computed_and_dropped(noise_at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flower's LocalDpMod until December 2024. The check itself is checked: with the noise dropped it says so."""
    assert noise_is_there(noise_at)
    monkeypatch.setattr(
        draws,
        "noised",
        lambda values, std, **_: {key: value.astype(np.float64) for key, value in values.items()},
    )
    monkeypatch.setattr(fixedpoint, "discrete_normals", lambda size, *_: np.zeros(size, np.int64))
    assert not noise_is_there(noise_at)


def test_epsilon_of_a_round_is_not_called_the_total() -> None:
    """Flower's Opacus example makes a new accountant every round; the paper states an epsilon per round."""
    spending = PlanSpending(
        plan_of(recipe({**SITE, "noise_multiplier": 4.8448, "delta": 1e-5}, rounds=100))
        or pytest.fail("no plan")
    )
    assert spending.ledger(1, "seeded").epsilon == pytest.approx(0.751, abs=0.001)
    assert spending.ledger(100, "seeded").epsilon == pytest.approx(10.39, abs=0.01)
    assert [spending.after(many) for many in (1, 2, 3)] == sorted(
        {spending.after(many) for many in (1, 2, 3)}
    )


@pytest.mark.parametrize(("weights", "largest"), [("uniform", 1 / 3), ("by_size", 0.6)])
def test_sensitivity_is_not_apart_from_the_clip_and_the_weights(
    weights: str, largest: float
) -> None:
    """FLIP chooses a sensitivity of 1e-4 beside a clip of 1; Flower divides by the number of sites where the weights are unequal."""
    plan = plan_of(
        recipe(
            {**SITE, "noise_at": "sum", "weights": weights, "clip": 0.7}, averaging={"secure": True}
        )
    ) or pytest.fail("no plan")
    terms = terms_of(
        recipe(
            {**SITE, "noise_at": "sum", "weights": weights, "clip": 0.7}, averaging={"secure": True}
        ),
        plan,
        SIZES,
    )
    assert (
        terms.noise_std
        == pytest.approx(5 * 0.7 * largest)
        == pytest.approx(5 * budget.sensitivity(plan))
    )
    reach = []
    for site in SIZES:
        lone = Terms(
            weights=terms.weights,
            fixed=True,
            clip=0.7,
            noise_at="sum",
            noise_std=0.3,
            secure=True,
            tells_loss=False,
        )
        still = dict.fromkeys(SIZES, 0.0)
        state, none = (
            run_round(start(), Moves(how), lone, 1)[0] for how in ({**still, site: 100.0}, still)
        )
        reach.append(
            norm_of({key: state.weights[key] - value for key, value in none.weights.items()})
        )
    assert max(reach) == pytest.approx(budget.sensitivity(plan), rel=1e-4)


def test_the_clip_is_not_inverted() -> None:
    """What is too long gets shorter and what is short stays; a larger clip lets more through (Flower's adaptive clip goes the wrong way)."""
    long = {"a": np.full((3, 3), 5, np.float32)}
    assert [round(norm_of(screening.clip_to(long, clip)), 4) for clip in (0.1, 1, 10, 100)] == [
        0.1,
        1,
        10,
        15,
    ]
    state = [
        moved(
            run_round(start(), Moves(dict.fromkeys(EVEN, size)), private("each_site", 1e-9), 1)[0]
        )
        for size in (0.001, 100.0)
    ]
    entries = sum(value.size for value in start().weights.values())
    assert state == pytest.approx([0.001, 1 / math.sqrt(entries)], rel=1e-3)


def test_a_nan_update_does_not_pass_the_clip() -> None:
    """min(1, NaN) is 1 in Flower's clip."""
    for bad in (np.nan, np.inf):
        with pytest.raises(TrainingError, match="cannot be clipped"):
            screening.clip_to({"a": np.array([[bad, 1]], np.float32)}, 1.0)
    state, report = run_round(
        start(),
        Moves({**dict.fromkeys(EVEN, 0.001), "b": float("nan")}),
        private("sum", 0.3, dropouts=1),
        1,
    )
    assert not report.failed and report.void is None
    assert all(np.isfinite(value).all() for value in state.weights.values())


def test_a_zero_update_does_not_divide_by_zero() -> None:
    zero = {"a": np.zeros((2, 2), np.float32)}
    assert not screening.clip_to(zero, 1.0)["a"].any() and screening.problem_of(zero, zero) is None


def test_noise_is_on_clipped_updates_and_not_the_other_way_round() -> None:
    """FedLLM-Bench adds noise to updates that are not clipped. After clip, then noise, the length is that of the noise, not the clip."""
    state, _ = run_round(WIDE, Moves(dict.fromkeys(EVEN, 50.0)), private("each_site"), 1)
    spread = state.weights["w.lora_B.weight"]
    assert (
        spread.std() == pytest.approx(0.15, rel=0.05) and abs(spread.mean() - 0.01) < 0.01
    )  # clip 1 over sqrt(10,000)


def test_the_account_of_poisson_draws_is_not_of_shuffled_ones() -> None:
    """dp-transformers and FATE-LLM account Poisson and shuffle: then every round would have the same number of sites."""
    numbers = {
        len(poisson(EVEN, 0.5, 1, number, source))
        for number in range(60)
        for source in ("seeded", "secure")
    }  # type: ignore[arg-type]
    assert numbers == {0, 1, 2, 3, 4}
    of = {**SITE, "noise_at": "sum", "participation": 0.5, "noise_multiplier": 1.0}
    plan = plan_of(recipe(of, averaging={"secure": True})) or pytest.fail("no plan")
    full = plan.model_copy(
        update={"privacy": plan.privacy.model_copy(update={"participation": 1.0})}
    )
    halved, whole = budget.total_epsilon(plan, 6, 1.0), budget.total_epsilon(full, 6, 1.0)
    assert (
        0.5 * whole < halved < whole
    )  # sampling by sites is worth something, and less than leaving half the rounds out
    assert terms_of(recipe(of, averaging={"secure": True}), plan, SIZES).hidden_draw


def test_fedavg_does_not_return_the_first_client() -> None:
    """FLoRA's FedIT baseline: two equal sites with 2 and 4 give 1 there."""
    sites = {
        "first": {"a": np.array([[2.0]], np.float32)},
        "second": {"a": np.array([[4.0]], np.float32)},
    }
    zero = {"a": np.zeros((1, 1), np.float32)}
    mean = aggregation.weighted_sum(sites, {"first": 0.5, "second": 0.5}, zero)
    assert aggregation.fedavg(zero, mean)["a"].item() == 3.0
    assert moved(
        run_round(start(), Moves({"a": 2.0, "b": 4.0}), Terms(weights={"a": 0.5, "b": 0.5}), 1)[0]
    ) == pytest.approx(3)


def test_a_plan_does_not_run_past_its_budget(tmp_path: Any) -> None:
    for budget_epsilon in (
        gaussian.epsilon_of(5, 1e-3, 6) * 0.999,
        gaussian.epsilon_of(5, 1e-3, 1) / 2,
    ):
        with pytest.raises(TrainingError, match="would be overrun"):
            go(recipe({**SITE, "budget_epsilon": budget_epsilon}), tmp_path, sites=Never())


@pytest.mark.parametrize("noise_at", ["each_site", "sum"])
def test_a_site_that_fails_does_not_make_the_others_weigh_more_than_was_accounted(
    noise_at: str,
) -> None:
    """The same seed, so that the noise of both is the same, and the difference the site's alone."""
    of = {"a": 1e3, "b": RuntimeError("x"), "c": 0.0, "d": RuntimeError("y")}
    quiet = {**of, "a": 0.0}
    few = {"weights": {**EVEN, "e": 1e-9}, "dropouts": 2} if noise_at == "sum" else {}
    terms = Terms(**{**vars(private(noise_at)), **few})
    both = [run_round(start(), Moves({**how, "e": 0.0}), terms, 1)[0] for how in (of, quiet)]
    far = norm_of({key: both[0].weights[key] - value for key, value in both[1].weights.items()})
    assert far == pytest.approx(0.25, rel=1e-4)
