"""What is left out of an average, and why; clipping."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.each import each
from training.errors import TrainingError
from training.federation.screening import clip_to, problem_of
from training.federation.updates import norm_of

LIKE = {"a": np.zeros((2, 3), np.float32), "b": np.zeros((3, 1), np.float32)}


def with_(**other: np.ndarray) -> dict[str, np.ndarray]:
    return {**LIKE, **other}


@each(
    ("delta", "why"),
    [
        (with_(a=np.full((2, 3), np.nan, np.float32)), "'a' has 6 entries that are not finite"),
        (
            with_(b=np.array([[1], [-np.inf], [0]], np.float32)),
            "'b' has 1 entries that are not finite",
        ),
        ({"a": LIKE["a"]}, "1 of 2 tensors are missing, such as 'b'"),
        (with_(c=LIKE["a"]), "1 tensors that nobody asked for, such as 'c'"),
        (with_(b=np.zeros((1, 3), np.float32)), r"'b' has shape \(1, 3\), not \(3, 1\)"),
        (with_(a=np.zeros((2, 3), np.float64)), "'a' is float64, not float32"),
    ],
)
def test_what_is_wrong_is_named(delta: dict[str, np.ndarray], why: str) -> None:
    found = problem_of(delta, LIKE)
    with pytest.raises(TrainingError, match=why):
        raise TrainingError(found)


def test_what_is_as_agreed_passes() -> None:
    assert problem_of(LIKE, LIKE) is None
    assert problem_of(with_(b=np.full((3, 1), 100, np.float32)), LIKE) is None


def test_norm_of_huge_entries_is_not_lost() -> None:
    assert norm_of(with_(b=np.full((3, 1), 1e30, np.float32))) > 1e30


def test_clip_by_hand() -> None:
    clipped = clip_to({"a": np.array([[3, 0]], np.float32), "b": np.array([[4]], np.float32)}, 1.0)
    assert clipped["a"].ravel().tolist() == pytest.approx([0.6, 0]) and clipped[
        "b"
    ].item() == pytest.approx(0.8)
    short = {"a": np.array([[0.3, 0.4]], np.float32)}
    assert np.array_equal(clip_to(short, 1.0)["a"], short["a"])


@settings(max_examples=50, deadline=None)
@given(size=st.floats(1e-8, 1e30), clip=st.floats(1e-6, 1e6), seed=st.integers(0, 999))
def test_clipped_is_never_longer_than_the_clip(size: float, clip: float, seed: int) -> None:
    long = {"a": (size * np.random.default_rng(seed).standard_normal((7, 5))).astype(np.float32)}
    after = norm_of(clip_to(long, clip))
    assert after <= clip * (1 + 1e-12) and after >= min(clip, norm_of(long)) * (1 - 1e-5)


@each("clip", [0.0, -1.0, float("nan"), float("inf")])
def test_a_clip_that_bounds_nothing_is_refused(clip: float) -> None:
    with pytest.raises(TrainingError, match="bounds nothing"):
        clip_to(LIKE, clip)
