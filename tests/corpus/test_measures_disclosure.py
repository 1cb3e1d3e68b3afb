"""How a client opens up, worked out by hand."""

import pytest

from simcounsel.corpus.disclosure import (
    by_stages,
    by_words,
    content,
    disclosed,
    stages_reached,
    words_reached,
)
from tests.corpus.made import dialogue

FILE = "I bake bread at night. My daughter moved to Norway. The house is silent."


def test_content_words() -> None:
    assert content(FILE) == {"bak", "bread", "night", "daughter", "mov", "norwa", "hous", "silent"}
    assert content("Baking, bakes, moving houses; nights") == {"bak", "mov", "hous", "night"}
    assert content("我很累") == {"我很", "很累"}
    assert content("I would not do this to you") == set()


def test_words_of_the_file() -> None:
    one = dialogue(
        "1",
        "I bake at night.",
        "b",
        "Well.",
        "d",
        "My daughter moved, the house is silent. Norway. Bread.",
        "f",
        situation=FILE,
    )
    assert words_reached(one) == pytest.approx([2 / 8, 2 / 8, 1.0])
    assert words_reached(dialogue("1", "a", "b")) is None
    curve = by_words([one, dialogue("2", "a", "b")])
    assert curve is not None
    assert curve.dialogues == 1
    assert curve.first == curve.at_once == 2 / 8
    assert curve.shares[0] == 0.0
    assert curve.shares[3] == 0.0, "three tenths of three lines are none"
    assert curve.shares[4] == 2 / 8
    assert curve.shares[10] == 1.0
    assert disclosed(one)["disclosed"].value == 1.0
    assert disclosed(dialogue("2", "a", "b"))["disclosed"].value is None


def test_what_the_counselor_says_is_not_disclosed() -> None:
    one = dialogue(
        "1", "Hello.", "You bake bread at night, your daughter moved to Norway.", situation=FILE
    )
    assert words_reached(one) == [0.0]
    curve = by_words([one])
    assert curve is not None and curve.at_once is None


def test_stages() -> None:
    one = dialogue(
        "1", "introduces | a", "b", "describes | c", "d", "describes | e", "f", "feels | g", "h"
    )
    assert stages_reached(one) == pytest.approx([1 / 6, 2 / 6, 2 / 6, 3 / 6])
    curve = by_stages([one])
    assert curve is not None
    assert curve.shares == pytest.approx(
        [0, 0, 0, 1 / 6, 1 / 6, 2 / 6, 2 / 6, 2 / 6, 2 / 6, 2 / 6, 3 / 6]
    )
    assert by_stages([dialogue("1", "telling | a", "b")]) is None, (
        "other names are no stages of disclosure"
    )


def test_saying_all_at_once_shows() -> None:
    slow = dialogue(
        "1",
        "I bake bread.",
        "b",
        "At night. My daughter moved.",
        "d",
        "Norway. The house is silent.",
        "f",
        situation=FILE,
    )
    sudden = dialogue("2", FILE, "b", "Hm.", "d", "Yes.", "f", situation=FILE)
    gradual, at_once = by_words([slow]), by_words([sudden])
    assert gradual is not None and at_once is not None
    assert at_once.at_once == 1.0
    assert gradual.at_once == pytest.approx(2 / 8)
