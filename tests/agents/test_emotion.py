"""Plutchik's wheel."""

from math import cos, pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcounsel.agents.emotion import ADJECTIVE, RELEVANCE, WHEEL, emotion_relevance
from simcounsel.specs.vocabulary import EMOTIONS, Emotion
from tests.each import each

EMOTION = st.sampled_from(EMOTIONS)


@each(
    ("a", "b", "nearness"),
    [
        ("joy", "joy", 1.0),
        ("joy", "sadness", 0.0),
        ("joy", "fear", 0.5),
        ("joy", "trust", (1 + cos(pi / 4)) / 2),
        ("joy", "anticipation", 0.8536),
        ("joy", "surprise", 0.1464),
        ("trust", "disgust", 0.0),
        ("fear", "anger", 0.0),
        ("surprise", "anticipation", 0.0),
        ("neutral", "joy", 0.5),
        ("anger", "neutral", 0.5),
        ("neutral", "neutral", 1.0),
    ],
)
def test_by_hand(a: Emotion, b: Emotion, nearness: float) -> None:
    assert emotion_relevance(a, b) == pytest.approx(nearness, abs=5e-5)


@given(EMOTION, EMOTION)
def test_symmetric_and_in_range(a: Emotion, b: Emotion) -> None:
    assert emotion_relevance(a, b) == pytest.approx(emotion_relevance(b, a))
    assert 0 <= emotion_relevance(a, b) <= 1
    assert (emotion_relevance(a, b) == 1) == (a == b)
    assert RELEVANCE[EMOTIONS.index(a)][EMOTIONS.index(b)] == emotion_relevance(a, b)


def test_each_emotion_has_one_opposite() -> None:
    for a in WHEEL:
        assert [b for b in WHEEL if emotion_relevance(a, b) < 1e-9] == [
            WHEEL[(WHEEL.index(a) + 4) % 8]
        ]
    assert set(ADJECTIVE) == set(EMOTIONS)
