"""Noise: how much, of which shape, and from where."""

import math
import os

import numpy as np
import pytest
from scipy import stats

from tests.each import each
from training.errors import TrainingError
from training.federation.draws import GRID_BITS, noised

STD = 2.5


def drawn(
    source: str, *, seed: int = 1, round: int = 1, site: str = "north", size: int = 40_000
) -> np.ndarray:
    return noised(
        {"a": np.zeros((2, size // 2), np.float32)},
        STD,
        seed=seed,
        round=round,
        site=site,
        source=source,
    )["a"].ravel()  # type: ignore[arg-type]


@pytest.mark.parametrize("source", ["seeded", "secure"])
def test_noise_is_normal_with_the_standard_deviation_of_the_account(source: str) -> None:
    noise = drawn(source)
    spread = math.sqrt(2 / noise.size)  # relative standard error of a variance
    assert abs(noise.var() / STD**2 - 1) < 6 * spread
    assert abs(noise.mean()) < 6 * STD / math.sqrt(noise.size)
    assert stats.kstest(noise / STD, "norm").pvalue > 1e-6
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 6 / math.sqrt(noise.size)


def test_seeded_noise_repeats_and_differs_by_round_site_and_seed() -> None:
    one = drawn("seeded")
    assert np.array_equal(one, drawn("seeded"))
    for other in (drawn("seeded", round=2), drawn("seeded", site="south"), drawn("seeded", seed=2)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.03


def test_two_tensors_of_one_shape_get_different_noise() -> None:
    both = noised(
        {"a": np.zeros(50, np.float32), "b": np.zeros(50, np.float32)},
        STD,
        seed=1,
        round=1,
        site="",
        source="seeded",
    )
    assert not np.array_equal(both["a"], both["b"])


def test_secure_noise_does_not_repeat() -> None:
    assert not np.array_equal(drawn("secure"), drawn("secure"))


def test_secure_noise_comes_from_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = [], os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or real(size))
    drawn("seeded", size=100)
    assert not asked
    drawn("secure", size=100)
    assert sum(asked) >= 100 * 8


def test_what_secure_noise_releases_lies_on_a_grid_whatever_the_update() -> None:
    """So that the lowest bits tell nothing (Mironov 2012)."""
    step = 2.0 ** (math.floor(math.log2(STD)) - GRID_BITS)
    for value in (0.0, 1e-7, 0.1, 1 / 3):
        released = noised(
            {"a": np.full(1000, value, np.float32)}, STD, seed=1, round=1, site="a", source="secure"
        )["a"]
        assert np.array_equal(released / step, np.round(released / step))
        assert np.array_equal(
            released.astype(np.float32), released
        )  # so float32 loses nothing of it


@each("std", [0.0, -1.0, float("nan"), float("inf")])
def test_noise_that_protects_nothing_is_refused(std: float) -> None:
    with pytest.raises(TrainingError, match="protects nothing"):
        noised({"a": np.zeros(1, np.float32)}, std, seed=1, round=1, site="", source="seeded")
