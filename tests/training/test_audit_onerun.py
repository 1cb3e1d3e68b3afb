"""The one-run audit against the paper's own numbers, sums by hand, and trainings of known epsilon."""

import math

import numpy as np
import pytest

from training.audit.onerun import audit, count_correct, epsilon_at_least, p_value
from training.errors import TrainingError


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "delta", "printed"),
    [
        (1000, 100, 75, 1e-4, 0.673),  # appendix D
        (100_000, 1510, 1439, 1e-5, 2.675),  # section 7; printed cut off, not rounded
    ],
)
def test_the_papers_own_numbers(
    canaries: int, guesses: int, correct: int, delta: float, printed: float
) -> None:
    assert epsilon_at_least(canaries, guesses, correct, delta) == pytest.approx(printed, abs=1e-3)


def test_p_values_by_hand() -> None:
    """Two of two right by a fair coin: 1/4. Epsilon ln 3 makes a guess right three times in four: 9/16, and one or two of two 15/16."""
    assert p_value(10, 2, 2, 0, 0) == pytest.approx(1 / 4)
    assert p_value(10, 2, 2, math.log(3), 0) == pytest.approx(9 / 16)
    assert p_value(10, 2, 1, math.log(3), 0) == pytest.approx(15 / 16)
    # delta: P(1 <= B < 2) / 1 = 1/2 against P(0 <= B < 2) / 2 = 3/8; the larger, times 2 m delta
    assert p_value(10, 2, 2, 0, 0.001) == pytest.approx(1 / 4 + 2 * 10 * 0.001 / 2)
    assert p_value(10, 2, 2, 0, 1) == 1
    assert p_value(10, 2, 0, 5, 0) == 1


def test_pure_epsilon_solves_the_binomial_tail() -> None:
    """All of r right: q^r = 0.05, so epsilon = logit(0.05^(1/r))."""
    q = 0.05 ** (1 / 50)
    assert epsilon_at_least(50, 50, 50, 0) == pytest.approx(math.log(q / (1 - q)), abs=2e-5)
    assert epsilon_at_least(50, 50, 25, 0) == 0
    assert epsilon_at_least(50, 50, 10, 0) == 0
    assert (
        epsilon_at_least(1000, 100, 95, 1e-3)
        < epsilon_at_least(1000, 100, 95, 1e-5)
        < epsilon_at_least(1000, 100, 95, 0)
    )
    with pytest.raises(ValueError, match="3 correct of 2 guesses"):
        p_value(10, 2, 3, 1, 0)


def test_randomized_response_is_not_accused_more_often_than_allowed() -> None:
    """Epsilon 1.5: each coin is told truly with probability e^1.5 / (1 + e^1.5); noise on the told coin ranks them."""
    rng, epsilon, found = np.random.default_rng(1), 1.5, []
    for _ in range(100):
        coins = rng.integers(0, 2, 300).astype(bool)
        told = np.where(rng.random(300) < 1 / (1 + math.exp(-epsilon)), coins, ~coins)
        found.append(
            audit(
                (told + rng.random(300) / 2).tolist(), coins.tolist(), delta=1e-5, shares=(0.2, 0.5)
            ).epsilon
        )
    assert np.mean(np.array(found) > epsilon) <= 0.05
    assert np.median(found) > 0.8  # and most of it is found


def test_a_leak_is_caught() -> None:
    """A training that claims epsilon 1 and keeps every canary."""
    rng = np.random.default_rng(2)
    coins = rng.integers(0, 2, 200).astype(bool)
    found = audit((coins + rng.normal(0, 0.1, 200)).tolist(), coins.tolist(), delta=1e-5)
    assert found.epsilon > 2.5
    assert found.guesses == found.correct == 100
    assert audit((-1.0 * coins).tolist(), coins.tolist(), delta=1e-5).epsilon == 0


def test_several_numbers_of_guesses_cost_confidence() -> None:
    coins = [True, False] * 50
    scores = [float(coin) for coin in coins]
    one, four = audit(scores, coins, delta=0, shares=(0.5,)), audit(scores, coins, delta=0)
    assert one.epsilon == pytest.approx(epsilon_at_least(100, 50, 50, 0, 0.95), abs=1e-5)
    assert four.epsilon == pytest.approx(epsilon_at_least(100, 50, 50, 0, 1 - 0.05 / 4), abs=1e-5)
    assert (one.tried, four.tried) == (1, 4)


def test_equal_scores_are_guessed_by_chance_whatever_the_order_of_the_list() -> None:
    """Sorted by inclusion and all alike: a stable sort would guess every coin."""
    coins = [False] * 100 + [True] * 100
    right = [count_correct([0.0] * 200, coins, 100, seed) for seed in range(60)]
    assert np.mean(right) == pytest.approx(50, abs=3)


def test_what_cannot_be_audited_is_refused() -> None:
    with pytest.raises(TrainingError, match="2 scores for 3 canaries"):
        audit([1.0, 2.0], [True, False, True], delta=1e-5)
    with pytest.raises(TrainingError, match="not a number"):
        audit([1.0, math.nan], [True, False], delta=1e-5)


def test_the_most_that_so_few_canaries_could_show_stands_beside_what_they_did() -> None:
    """A hundred canaries, all guessed right, prove an epsilon of 2.4 and no more."""
    coins = [at % 2 == 0 for at in range(100)]
    perfect = audit([float(coin) for coin in coins], coins, delta=1e-5)
    blind = audit([0.0] * 100, coins, delta=1e-5)
    assert perfect.epsilon == perfect.most == blind.most == pytest.approx(2.38, abs=0.01)
    assert blind.epsilon < 0.5
