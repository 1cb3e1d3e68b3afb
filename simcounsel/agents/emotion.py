"""Plutchik's wheel (1980): eight primary emotions, 45 degrees apart, `neutral` at the hub."""

import math
from typing import Literal

from simcounsel.specs.vocabulary import EMOTIONS, Emotion

WHEEL: tuple[Emotion, ...] = EMOTIONS[:8]

ADJECTIVE: dict[Emotion, str] = {
    "joy": "glad",
    "trust": "at ease",
    "fear": "afraid",
    "surprise": "thrown",
    "sadness": "low",
    "disgust": "fed up",
    "anger": "angry",
    "anticipation": "expectant",
    "neutral": "calm",
}
"""The everyday word for each, as it is in speech."""


SIGN: dict[Emotion, Literal[-1, 0, 1]] = {
    "joy": 1,
    "trust": 1,
    "anticipation": 1,
    "fear": -1,
    "sadness": -1,
    "disgust": -1,
    "anger": -1,
    "surprise": 0,
    "neutral": 0,
}
"""Whether an emotion is pleasant or unpleasant to feel; surprise can be either, so it has none."""
PLEASANT: frozenset[Emotion] = frozenset(emotion for emotion, sign in SIGN.items() if sign > 0)


def emotion_relevance(a: Emotion, b: Emotion) -> float:
    """How near two emotions are on the wheel, in [0, 1]: 1 the same, 0 the opposite, 1/2 at a right
    angle; neutral beside anything else is 1/2, beside itself 1. In between (1 + cos angle) / 2."""
    if a == b:
        return 1.0
    if a == "neutral" or b == "neutral":
        return 0.5
    angle = math.radians(45 * (WHEEL.index(a) - WHEEL.index(b)))
    return (1 + math.cos(angle)) / 2


RELEVANCE: tuple[tuple[float, ...], ...] = tuple(
    tuple(emotion_relevance(a, b) for b in EMOTIONS) for a in EMOTIONS
)
"""`emotion_relevance` as a table in the order of EMOTIONS, for recall."""
