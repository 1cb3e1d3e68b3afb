"""Membership attacks on one session: a number that is larger the more likely the session was
learned from.

Short sessions are scored like others as long as there is a token; where there is no number, it is
said why, never NaN.
"""

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from training.audit.scored import Floats, Scored
from training.errors import TrainingError

Attack = Literal["loss", "zlib", "min_k", "min_k_plus_plus", "reference"]
ATTACKS: tuple[Attack, ...] = get_args(Attack)
TITLES: Mapping[Attack, str] = {
    "loss": "LOSS",
    "zlib": "zlib",
    "min_k": "Min-K%",
    "min_k_plus_plus": "Min-K%++",
    "reference": "reference",
}
LOWEST = 0.2
"""The share of tokens that Min-K% looks at, the least likely ones; 20% is the authors' choice for
both variants.
"""
FLATTEST = 1e-4
"""Below this standard deviation the model was certain of the next token: it tells nothing, and is
not divided by.
"""


@dataclass(frozen=True, kw_only=True)
class AttackScore:
    """An attack's number for one session; None with the reason."""

    value: float | None
    why_not: str | None = None


NO_TOKENS = AttackScore(value=None, why_not="no token to score")


def loss(one: Scored) -> AttackScore:
    """The mean log-probability of a token (Yeom et al. 2018)."""
    return _finite(float(one.logp.mean())) if one.tokens else NO_TOKENS


def zlib_ratio(one: Scored) -> AttackScore:
    """Minus the loss over the length in bytes of the text, compressed by zlib (Carlini et al. 2021,
    section 5).
    """
    if not one.tokens or not one.text:
        return NO_TOKENS
    return _finite(float(one.logp.mean()) / len(zlib.compress(one.text.encode())))


def min_k(one: Scored, share: float = LOWEST) -> AttackScore:
    """The mean log-probability of the least likely tokens (Shi et al. 2024, equation 1)."""
    return _finite(_lowest(one.logp, share)) if one.tokens else NO_TOKENS


def min_k_plus_plus(one: Scored, share: float = LOWEST) -> AttackScore:
    """Min-K% of log-probabilities that are standardized at each place by mean and deviation over
    the model's own next-token distribution, hence weighted by probability, not uniformly over the
    vocabulary (Zhang et al. 2025, equation 3).
    """
    if not one.tokens:
        return NO_TOKENS
    return _finite(_lowest((one.logp - one.mean) / np.maximum(one.std, FLATTEST), share))


def reference(one: Scored, base: Scored) -> AttackScore:
    """How much less the session costs than under the untouched base model, nats per token (Carlini
    et al. 2021; Mireshghallah et al. 2022). TrainingError if the two are not of the same tokens.
    """
    if one.id != base.id or one.tokens != base.tokens:
        raise TrainingError(
            f"session {one.id!r} with {one.tokens} tokens is compared with {base.id!r} with"
            f" {base.tokens}; score the same sessions with both models"
        )
    return _finite(float((one.logp - base.logp).mean())) if one.tokens else NO_TOKENS


def _lowest(values: Floats, share: float) -> float:
    """The mean of the lowest share of values, of one at least."""
    if not 0 < share <= 1:
        raise ValueError(f"share {share:g} must be above 0 and at most 1")
    many = max(1, math.floor(share * values.size))
    return float(np.partition(values, many - 1)[:many].mean())


def _finite(value: float) -> AttackScore:
    return (
        AttackScore(value=value)
        if math.isfinite(value)
        else AttackScore(value=None, why_not=f"the model gave a log-probability of {value}")
    )


SELF: Mapping[str, Callable[[Scored], AttackScore]] = {
    "loss": loss,
    "zlib": zlib_ratio,
    "min_k": min_k,
    "min_k_plus_plus": min_k_plus_plus,
}
"""The attacks that need nothing but the model itself."""


def attack(
    name: Attack, sessions: Sequence[Scored], base: Sequence[Scored] | None = None
) -> list[AttackScore]:
    """One attack on every session, in order. base: the same sessions under the untouched model.
    TrainingError when an attack lacks what it needs.
    """
    if name != "reference":
        return [SELF[name](one) for one in sessions]
    if base is None:
        raise TrainingError(
            "attack 'reference' needs the same sessions scored by the base model; score them"
            " with the adapter off"
        )
    pairs = zip(sessions, _aligned(sessions, base), strict=True)
    return [reference(one, other) for one, other in pairs]


def _aligned(sessions: Sequence[Scored], base: Sequence[Scored]) -> list[Scored]:
    by_id = {one.id: one for one in base}
    missing = [one.id for one in sessions if one.id not in by_id]
    if missing:
        raise TrainingError(
            f"{len(missing)} sessions, such as {missing[0]!r}, were not scored by the base model;"
            " score the same sessions with both"
        )
    return [by_id[one.id] for one in sessions]
