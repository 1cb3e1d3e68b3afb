"""A lower bound on epsilon from one training (Steinke, Nasr and Jagielski 2023, 'Privacy auditing
with one (1) training run').

Canaries are each put into the training by their own fair coin. From the trained model the auditor
guesses the coin of some, the most and the least conspicuous, and abstains from the others. A
training that is (epsilon, delta)-private for the canary's unit lets no more than so many guesses be
right; if more are, epsilon is larger. A bound of 0 proves nothing: it is what a weak attack finds
too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from training.errors import TrainingError

SHARES = (0.05, 0.1, 0.2, 0.5)
"""Shares of the canaries that are guessed about; the best is taken, and the chance of error divided
among them.
"""
LARGEST = 64.0
"""Where the search ends: an epsilon that no finite number of guesses proves."""


@dataclass(frozen=True, kw_only=True)
class OneRun:
    """What guesses about canaries say of one training."""

    canaries: int
    """How many there were, in and out."""
    guesses: int
    """`guesses`, `correct`: of the choice with the best bound."""
    correct: int
    epsilon: float
    """The training is not (epsilon', delta)-private for any epsilon' below this, with `confidence`.
    """
    delta: float
    confidence: float
    tried: int
    """How many numbers of guesses the best was chosen from."""
    most: float
    """The epsilon that this audit would have shown if every guess had been right."""


def audit(
    scores: Sequence[float],
    included: Sequence[bool],
    *,
    delta: float,
    confidence: float = 0.95,
    shares: Sequence[float] = SHARES,
    seed: int = 0,
) -> OneRun:
    """The audit of one training. scores: of all canaries, larger for what looks learned; included:
    what the coins said. TrainingError for fewer than two canaries, or scores that are no numbers.
    """
    many = len(scores)
    if many != len(included) or many < 2:
        raise TrainingError(
            f"{many} scores for {len(included)} canaries; the audit needs both of at least two"
        )
    if not np.isfinite(np.asarray(scores, float)).all():
        raise TrainingError(
            "a canary's score is not a number; every canary must be scored, since leaving some out"
            " would depend on the training"
        )
    sizes = sorted({max(2, 2 * round(share * many / 2)) for share in shares})
    alone = 1 - (1 - confidence) / len(sizes)
    found = []
    for guesses in sizes:
        correct = count_correct(scores, included, guesses, seed)
        found.append((epsilon_at_least(many, guesses, correct, delta, alone), -guesses, correct))
    epsilon, guesses, correct = max(found)
    most = max(epsilon_at_least(many, guesses, guesses, delta, alone) for guesses in sizes)
    return OneRun(
        canaries=many,
        guesses=-guesses,
        correct=correct,
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        tried=len(sizes),
        most=most,
    )


def count_correct(
    scores: Sequence[float], included: Sequence[bool], guesses: int, seed: int = 0
) -> int:
    """How many guesses are right: `in` for the upper half of `guesses`, `out` for the lower. Equal
    scores are put in an order drawn by the seed, so that the order of the list, which may hold the
    coins, tells nothing.
    """
    shuffled = np.random.default_rng([seed, 0xA0D17]).permutation(len(scores))
    order = shuffled[np.argsort(np.asarray(scores, float)[shuffled], kind="stable")]
    coins, lower = np.asarray(included, bool)[order], guesses // 2
    return int((~coins[:lower]).sum() + coins[len(order) - (guesses - lower) :].sum())


def p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """The largest probability of so many correct guesses under any (epsilon, delta)-private
    training.

    Each guess is right as if by randomized response, with probability e^epsilon / (1 + e^epsilon);
    delta adds 2 m delta times the largest mean over i of P(correct - i <= Binomial < correct)
    (theorem 5.2, corollary 5.4 and appendix D).
    """
    if not 0 <= correct <= guesses <= canaries or guesses < 1:
        raise ValueError(
            f"{correct} correct of {guesses} guesses about {canaries} canaries is impossible"
        )
    if not epsilon >= 0 or not 0 <= delta <= 1:
        raise ValueError(f"epsilon {epsilon:g} must be at least 0, delta {delta:g} from 0 to 1")
    right = 1 / (1 + math.exp(-epsilon))
    by_chance = float(binom.sf(correct - 1, guesses, right))
    if delta == 0 or correct == 0:
        return min(by_chance, 1.0)
    steps = np.arange(1, correct + 1)
    below = np.cumsum(binom.pmf(correct - steps, guesses, right))
    return min(by_chance + 2 * canaries * delta * float((below / steps).max()), 1.0)


def epsilon_at_least(
    canaries: int, guesses: int, correct: int, delta: float, confidence: float = 0.95
) -> float:
    """The largest epsilon that so many correct guesses rule out at this confidence, rounded down; 0
    if none.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence:g} must lie between 0 and 1")

    def ruled_out(epsilon: float) -> bool:
        return p_value(canaries, guesses, correct, epsilon, delta) < 1 - confidence

    if not ruled_out(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while ruled_out(high) and high < LARGEST:
        low, high = high, 2 * high
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if ruled_out(middle) else (low, middle)
    return low
