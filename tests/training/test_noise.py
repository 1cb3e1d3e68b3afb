"""Noise has the distribution that is accounted for, and two releases never share it."""

import numpy as np
import pytest
from scipy import stats

from training.privacy.noise import generator, normals, secure_generator


@pytest.mark.parametrize("key", [("seed", 1), None], ids=["seeded", "secure"])
def test_it_is_normal_with_this_standard_deviation(key: tuple[str | int, ...] | None) -> None:
    """Kolmogorov and Smirnov would be deceived once in a million."""
    drawn = normals(400_001, 2.5, key)
    assert drawn.shape == (400_001,)
    assert stats.kstest(drawn, stats.norm(scale=2.5).cdf).pvalue > 1e-6
    assert stats.kstest(drawn, stats.norm(scale=2.4).cdf).pvalue < 1e-3, "the test would notice"


def test_a_key_repeats_and_every_part_of_it_counts() -> None:
    assert np.array_equal(
        normals(9, 1, (1, "site", "noise", 4)), normals(9, 1, (1, "site", "noise", 4))
    )
    others = [
        (2, "site", "noise", 4),
        (1, "sites", "noise", 4),
        (1, "site", "draw", 4),
        (1, "site", "noise", 5),
        ("1", "site", "noise", 4),
    ]
    assert len({normals(1, 1, key)[0] for key in [(1, "site", "noise", 4), *others]}) == 6


def test_secure_noise_does_not_repeat() -> None:
    assert not np.array_equal(normals(9, 1, None), normals(9, 1, None))
    assert secure_generator().random() != secure_generator().random()
    assert generator(("a",)).random() == generator(("a",)).random()


def test_neighbouring_coordinates_are_independent() -> None:
    drawn = normals(40_000, 1, None)
    for apart in (1, 2, 10_000, 20_000):
        assert abs(np.corrcoef(drawn[:-apart], drawn[apart:])[0, 1]) < 0.05


@pytest.mark.parametrize("std", [-1.0, float("nan")])
def test_no_noise_of_that_kind(std: float) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        normals(3, std, None)
