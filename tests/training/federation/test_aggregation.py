"""Rules of aggregation against hand-worked numbers, dense means of products, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training.federation.leastsquares import ALPHA, INPUTS, KEY_A, KEY_B, LAYER, OUTPUTS
from training.errors import TrainingError
from training.federation import aggregation
from training.federation.shift import WHOLE, dense, grown
from training.federation.updates import layers

ONE = "w.lora_B.weight"


def of(*values: float) -> dict[str, np.ndarray]:
    return {ONE: np.array([values], np.float32)}


def test_fedavg_by_hand() -> None:
    parts = aggregation.shares(
        {"north": 0.75, "south": 0.25}, {"north": 0, "south": 0}, fixed=False
    )
    mean = aggregation.weighted_sum({"north": of(4, 0), "south": of(0, 8)}, parts, of(0, 0))
    assert aggregation.fedavg(of(1, 1), mean)[ONE].tolist() == [[4, 3]]  # 1 + 3/4 * 4, 1 + 1/4 * 8
    assert aggregation.fedavg(of(1, 1), mean, 0.5)[ONE].tolist() == [[2.5, 2]]


def test_shares_of_silent_sites_are_dealt_out_or_kept() -> None:
    weights = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert aggregation.shares(weights, {"a": 0, "b": 0}, fixed=False) == pytest.approx(
        {"a": 0.625, "b": 0.375}
    )
    assert aggregation.shares(weights, {"a": 0, "b": 0}, fixed=True) == {"a": 0.5, "b": 0.3}


def test_fedadam_by_hand() -> None:
    """Two steps of Reddi et al. 2021, algorithm 2, worked with paper and pencil for a mean of 0.1 and then of -0.2."""
    weights, moments = aggregation.fedadam(of(0), {ONE: np.array([[0.1]])}, {}, 0.01)
    m, v = 0.1 * 0.1, 0.99 * 1e-6 + 0.01 * 0.01
    assert moments[f"m.{ONE}"].item() == pytest.approx(m) and moments[
        f"v.{ONE}"
    ].item() == pytest.approx(v)
    first = 0.01 * m / (v**0.5 + 1e-3)
    assert weights[ONE].item() == pytest.approx(first, rel=1e-6) and first == pytest.approx(
        9.0503e-3, rel=1e-4
    )
    weights, moments = aggregation.fedadam(weights, {ONE: np.array([[-0.2]])}, moments, 0.01)
    m, v = 0.9 * m + 0.1 * -0.2, 0.99 * v + 0.01 * 0.04
    assert weights[ONE].item() == pytest.approx(first + 0.01 * m / (v**0.5 + 1e-3), rel=1e-6)


def adapter(rank: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        KEY_A: rng.standard_normal((rank, INPUTS)).astype(np.float32),
        KEY_B: rng.standard_normal((OUTPUTS, rank)).astype(np.float32),
    }


def product(weights: dict[str, np.ndarray]) -> np.ndarray:
    return (
        ALPHA
        / weights[KEY_A].shape[0]
        * weights[KEY_B].astype(float)
        @ weights[KEY_A].astype(float)
    )


def whole(weights: dict[str, np.ndarray], shift: object) -> np.ndarray:
    return product(weights) + dense(shift)[LAYER]  # type: ignore[arg-type, index]


def test_stack_by_hand() -> None:
    """Ranks 1 and 2, parts 1/4 and 3/4, alpha 2: 1/4 * 2/1 * [1][1 0] + 3/4 * 2/2 * I = diag(1.25, 0.75)."""
    key_a, key_b = "l.lora_A.weight", "l.lora_B.weight"
    after = {
        "small": {key_a: np.array([[1, 0]], np.float32), key_b: np.array([[1], [0]], np.float32)},
        "large": {key_a: np.eye(2, dtype=np.float32), key_b: np.eye(2, dtype=np.float32)},
    }
    like = {key_a: np.zeros((2, 2), np.float32), key_b: np.ones((2, 2), np.float32)}
    fresh, shift = aggregation.stack(
        like, after, {"small": 0.25, "large": 0.75}, 2.0, None, aggregation.fresh_from(1, 1)
    )
    assert dense(shift)["l"].tolist() == [[1.25, 0], [0, 0.75]]  # type: ignore[index]
    assert not fresh[key_b].any() and 0 < np.abs(fresh[key_a]).max() <= 2**-0.5


def test_exact_by_hand() -> None:
    """B_1 A_1 = 2 * 2, B_2 A_2 = 0 * 0: mean of products 2, product of means 1, so the residual is 1 (alpha = rank = 1)."""
    key_a, key_b = "l.lora_A.weight", "l.lora_B.weight"
    after = {
        site: {key_a: np.full((1, 1), value, np.float32), key_b: np.full((1, 1), value, np.float32)}
        for site, value in {"a": 2, "b": 0}.items()
    }
    weights, shift = aggregation.exact(after["a"], after, {"a": 0.5, "b": 0.5}, 1.0, None)
    assert (weights[key_a].item(), weights[key_b].item(), dense(shift)["l"].item()) == (1, 1, 1)  # type: ignore[index]


@settings(max_examples=25, deadline=None)
@given(
    ranks=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    seed=st.integers(0, 1000),
    rounds=st.integers(1, 3),
)
def test_stack_equals_the_dense_mean_of_products(ranks: list[int], seed: int, rounds: int) -> None:
    wanted, shift, weights = np.zeros((OUTPUTS, INPUTS)), None, adapter(4, seed)
    parts = dict(
        zip(
            "abcde",
            np.random.default_rng(seed).dirichlet([1.0] * len(ranks)).tolist(),
            strict=False,
        )
    )
    for number in range(rounds):
        after = {
            site: adapter(rank, seed + 10 * number + at)
            for at, (site, rank) in enumerate(zip("abcde", ranks, strict=False))
        }
        weights, shift = aggregation.stack(
            weights, after, parts, ALPHA, shift, aggregation.fresh_from(seed, number)
        )
        wanted = wanted + sum(parts[site] * product(one) for site, one in after.items())
        np.testing.assert_allclose(whole(weights, shift), wanted, rtol=1e-5, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(sites=st.integers(1, 5), seed=st.integers(0, 1000))
def test_exact_equals_the_dense_mean_of_products(sites: int, seed: int) -> None:
    after = {f"s{at}": adapter(2, seed + at) for at in range(sites)}
    parts = dict.fromkeys(after, 1 / sites)
    before = grown(
        None, {LAYER: (np.ones((OUTPUTS, 1), np.float32), np.ones((1, INPUTS), np.float32))}
    )
    weights, shift = aggregation.exact(adapter(2, 9999), after, parts, ALPHA, before)
    wanted = 1 + sum(product(one) for one in after.values()) / sites
    np.testing.assert_allclose(whole(weights, shift), wanted, rtol=1e-5, atol=1e-5)


def test_averaging_factors_alone_is_not_exact() -> None:
    after = {f"s{at}": adapter(2, at) for at in range(3)}
    naive = product(
        {key: np.mean([one[key] for one in after.values()], axis=0) for key in (KEY_A, KEY_B)}
    )
    assert np.abs(naive - sum(product(one) for one in after.values()) / 3).max() > 0.1


@pytest.mark.parametrize("rule", ["fedavg", "stack", "exact"])
def test_equal_sites_give_what_each_has_and_order_does_not_matter(rule: str) -> None:
    one = adapter(2, 5)
    sites = {f"s{at}": one for at in range(4)}
    parts = dict.fromkeys(sites, 0.25)
    np.testing.assert_allclose(aggregate(rule, sites, parts), product(one), rtol=1e-5, atol=1e-5)
    others = {f"s{at}": adapter(2, at) for at in range(4)}
    turned = dict(reversed(others.items()))
    assert np.array_equal(aggregate(rule, others, parts), aggregate(rule, turned, parts))


def aggregate(
    rule: str, after: dict[str, dict[str, np.ndarray]], parts: dict[str, float]
) -> np.ndarray:
    zero = {key: np.zeros_like(value) for key, value in next(iter(after.values())).items()}
    if rule == "fedavg":
        return product(aggregation.fedavg(zero, aggregation.weighted_sum(after, parts, zero)))
    if rule == "stack":
        return whole(
            *aggregation.stack(zero, after, parts, ALPHA, None, aggregation.fresh_from(1, 1))
        )
    return whole(*aggregation.exact(zero, after, parts, ALPHA, None))


def test_a_shift_becomes_dense_when_factors_are_no_longer_smaller() -> None:
    rng, shift, wanted = np.random.default_rng(1), None, np.zeros((8, 8))
    kept = []
    for _ in range(6):
        left, right = (
            rng.standard_normal((8, 1)).astype(np.float32),
            rng.standard_normal((1, 8)).astype(np.float32),
        )
        shift = grown(shift, {"l": (left, right)})
        wanted += left.astype(float) @ right.astype(float)
        kept.append("l" + WHOLE in shift)
        np.testing.assert_allclose(dense(shift)["l"], wanted, rtol=1e-5, atol=1e-5)  # type: ignore[index]
    assert kept == [False] * 3 + [True] * 3  # rank 4: 4 * (8 + 8) = 8 * 8
    assert dense(None) is None


def test_half_an_adapter_is_refused() -> None:
    with pytest.raises(TrainingError, match=r"l\.lora_B\.weight: no whole LoRA adapter"):
        layers({"l.lora_A.weight": 0})
