"""Attacks on one session against values worked by hand."""

import math
import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from training.audit import scores
from training.audit.scored import Scored
from training.errors import TrainingError


def scored(
    logp: Sequence[float],
    mean: Sequence[float] = (),
    std: Sequence[float] = (),
    name: str = "s1",
    text: str = "Take your time.",
) -> Scored:
    many = len(logp)
    return Scored(
        id=name,
        client="Ana",
        text=text,
        logp=np.array(logp, float),
        mean=np.array(mean or [0.0] * many, float),
        std=np.array(std or [1.0] * many, float),
    )


def test_attacks_by_hand() -> None:
    one = scored([-1, -2, -3, -4, -5, -6, -7, -8, -9, -10.0])
    assert scores.loss(one).value == pytest.approx(-5.5)
    assert scores.zlib_ratio(one).value == pytest.approx(
        -5.5 / len(zlib.compress(b"Take your time."))
    )
    assert scores.min_k(one).value == pytest.approx(-9.5)
    assert scores.min_k(one, 1.0).value == pytest.approx(-5.5)
    assert scores.reference(
        one, scored([-2, -3, -4, -5, -6, -7, -8, -9, -10, -12.0])
    ).value == pytest.approx(1.1)


def test_min_k_plus_plus_standardizes_by_the_models_own_distribution_not_over_the_vocabulary() -> (
    None
):
    """Probabilities 0.9, 0.05, 0.05: under the model the mean of log p is -0.394 and its deviation 0.867; uniformly over the three
    words, as a peer has it, they would be -2.032 and 1.363, and the second word would score -0.707 instead of -3.0."""
    p = np.array([0.9, 0.05, 0.05])
    mean, std = (
        float((p * np.log(p)).sum()),
        float(np.sqrt((p * (np.log(p) - (p * np.log(p)).sum()) ** 2).sum())),
    )
    assert (mean, std) == (pytest.approx(-0.3944, abs=1e-4), pytest.approx(0.8671, abs=1e-4))
    found = scores.min_k_plus_plus(scored([math.log(0.05)], [mean], [std])).value
    assert found == pytest.approx((math.log(0.05) - mean) / std) == pytest.approx(-3.0)
    uniform = (math.log(0.05) - np.log(p).mean()) / np.log(p).std()
    assert uniform == pytest.approx(-0.7071, abs=1e-4)


def test_larger_always_means_member() -> None:
    """What is learned costs less, at every token: every attack scores it higher."""
    known, new = scored([-0.5] * 10, [-2.0] * 10), scored([-3.0] * 10, [-2.0] * 10)
    base = scored([-3.0] * 10)
    for attack in (scores.loss, scores.zlib_ratio, scores.min_k, scores.min_k_plus_plus):
        assert attack(known).value > attack(new).value  # type: ignore[operator]
    assert scores.reference(known, base).value > scores.reference(new, base).value  # type: ignore[operator]


@pytest.mark.parametrize("many", [1, 2, 4])
def test_short_sessions_have_numbers(many: int) -> None:
    """A peer's Min-K% is NaN below five tokens, and such sessions drop out without a word."""
    one = scored([-2.0] * many)
    assert scores.min_k(one).value == -2.0
    assert scores.min_k_plus_plus(one).value == -2.0


def test_where_there_is_no_number_it_is_said_why() -> None:
    nothing = scored([], text="")
    for attack in scores.SELF.values():
        assert attack(nothing) == scores.AttackScore(value=None, why_not="no token to score")
    assert scores.reference(nothing, nothing).why_not == "no token to score"
    assert scores.loss(scored([-math.inf])).why_not == "the model gave a log-probability of -inf"
    assert (
        scores.min_k_plus_plus(scored([0.0], [0.0], [0.0])).value == 0.0
    )  # certain, and right: neither for nor against


def test_scores_of_other_tokens_are_not_compared() -> None:
    with pytest.raises(TrainingError, match="'s1' with 1 tokens is compared with 's1' with 2"):
        scores.attack("reference", [scored([-1.0])], [scored([-1.0, -2.0])])
    with pytest.raises(
        TrainingError, match="1 sessions, such as 's1', were not scored by the base"
    ):
        scores.attack("reference", [scored([-1.0])], [scored([-1.0], name="s2")])
    with pytest.raises(TrainingError, match="needs the same sessions"):
        scores.attack("reference", [scored([-1.0])])
    with pytest.raises(TrainingError, match=r"\(T,\)"):
        scored([-1.0, -2.0], [0.0])
    assert (
        scores.attack("reference", [scored([-1.0])], [scored([-9.0], name="s2"), scored([-3.0])])[
            0
        ].value
        == 2.0
    )
