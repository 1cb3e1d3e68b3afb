"""Diversity, by hand and against nltk."""

import numpy as np
import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from simcounsel.chance import chance
from simcounsel.corpus.diversity import (
    Equal,
    dialogue_vectors,
    distinct,
    diversity,
    draw_in_order,
    equal_for,
    self_bleu,
    spread,
)
from tests.corpus.made import dialogue
from tests.each import each


def test_distinct_by_hand() -> None:
    one = dialogue("1", "x", "a b a b", "x", "a b")
    assert distinct([one], 1).value == pytest.approx(2 / 6)
    found = distinct([one], 2)
    assert found.value == pytest.approx(2 / 4), "ab ba ab | ab: no pair over the end of a line"
    assert found.n == 4
    assert distinct([one], 1, lengths=2).value == 1.0
    assert distinct([dialogue("1", "x", "a")], 3).value is None


def texts(seed: int, count: int) -> list[list[str]]:
    draw = chance(seed, "texts")
    words = "the a cat dog sat on mat and ran to tree".split()
    return [[draw.choice(words) for _ in range(draw.randint(3, 30))] for _ in range(count)]


@each("seed", range(5))
def test_self_bleu_is_nltks(seed: int) -> None:
    given = texts(seed, 12)
    smoothed = SmoothingFunction().method1
    theirs = [
        sentence_bleu(
            [other for k, other in enumerate(given) if k != n], one, smoothing_function=smoothed
        )
        for n, one in enumerate(given)
    ]
    assert self_bleu(given).value == pytest.approx(float(np.mean(theirs)), abs=1e-12)


def test_self_bleu_at_its_ends() -> None:
    assert self_bleu([["a", "b", "c", "d", "e"]] * 3).value == pytest.approx(1.0)
    assert self_bleu([["a", "b", "c", "d"], ["e", "f", "g", "h"]]).value == 0.0
    assert self_bleu([["a"], []]).value is None


def test_spread_is_the_mean_over_pairs() -> None:
    rows = np.random.default_rng(1).normal(size=(7, 5))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    pairs = [1 - float(unit[a] @ unit[b]) for a in range(7) for b in range(a)]
    assert spread(rows).value == pytest.approx(float(np.mean(pairs)))
    assert spread(np.ones((3, 4))).value == pytest.approx(0.0)
    assert spread(rows[:1]).value is None


def test_a_dialogues_vector_is_its_lines_mean() -> None:
    table = {"a": [1.0, 0.0], "b": [0.0, 2.0], "c": [3.0, 0.0], "d": [1.0, 0.0]}
    found = dialogue_vectors(
        [dialogue("1", "a", "b"), dialogue("2", "c", "d")],
        lambda lines: np.array([table[line] for line in lines]),
    )
    assert found.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_corpora_are_compared_on_equal_terms() -> None:
    """Twice the same words are no less diverse because there are more of them."""
    small = [dialogue(str(n), "x", " ".join(f"w{n}-{k % 7}" for k in range(30))) for n in range(20)]
    large = [dialogue(str(n), "x", " ".join(f"w{n}-{k % 7}" for k in range(30))) for n in range(60)]
    equal = equal_for([small, large])
    assert equal == Equal(dialogues=20, lengths=600)
    assert diversity(large, equal)["distinct_1"].value == pytest.approx(
        diversity(small, equal)["distinct_1"].value or 0, abs=1e-12
    )
    assert diversity(large, equal)["self_bleu"].n == 20
    assert diversity(small)["spread"].value is None
    assert equal_for([[], small]).dialogues == 20


def test_the_draw_depends_on_ids_alone() -> None:
    some = [dialogue(str(n), "a", "b") for n in range(10)]
    order = [one.id for one in draw_in_order(some, 1)]
    assert [one.id for one in draw_in_order(some[::-1], 1)] == order
    assert [one.id for one in draw_in_order(some[:6], 1)] == [id for id in order if int(id) < 6]
    assert [one.id for one in draw_in_order(some, 2)] != order
