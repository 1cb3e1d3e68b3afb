"""The lines that a detector of danger is tuned and measured on: whole, in halves that are alike, no line twice.

A detector is measured on them elsewhere; here nothing is said about any detector.
"""

import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

LINES = Path(__file__).parent.parent / "data" / "risk_lines.yaml"
MORE, UNSEEN = LINES.with_name("risk_lines_tune.yaml"), LINES.with_name("risk_lines_test.yaml")
KINDS = ("suicide", "self_harm", "harm_to_others", "abuse")
LEVELS = ("low", "high", "imminent")
FIELDS = {"id", "split", "text", "kinds", "level", "hard", "why"}
# Share of all their words that two lines of different splits may have in common; 0.29 is the most among these.
NEAR = 0.4

Line = dict[str, Any]


@pytest.fixture(scope="module")
def lines() -> list[Line]:
    """Every line of the file."""
    return list(yaml.safe_load(LINES.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def more() -> list[Line]:
    """The further lines to work on."""
    return list(yaml.safe_load(MORE.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def unseen() -> list[Line]:
    """The lines only to measure on."""
    return list(yaml.safe_load(UNSEEN.read_text(encoding="utf-8")))


def split(lines: list[Line], name: str) -> list[Line]:
    """The lines of a split."""
    return [line for line in lines if line["split"] == name]


def cell(line: Line) -> tuple[str, str]:
    """Kind and level that a line is filed under."""
    return (line["kinds"][0] if line["kinds"] else "none", line["level"])


def words(line: Line) -> frozenset[str]:
    """The words of a line, each once, in small letters."""
    return frozenset(re.findall(r"[a-z']+", line["text"].lower()))


def test_every_line_is_whole(lines: list[Line], more: list[Line], unseen: list[Line]) -> None:
    for line in lines + more + unseen:
        assert set(line) == FIELDS, line
        assert line["split"] in ("tune", "test"), line
        assert isinstance(line["hard"], bool) and line["why"].strip(), line
        assert 3 <= len(line["text"].split()) <= 45, line
        assert set(line["kinds"]) <= set(KINDS) and len(set(line["kinds"])) == len(line["kinds"]), (
            line
        )
        assert line["level"] in LEVELS if line["kinds"] else line["level"] == "none", line


def test_ids_are_unique_and_none_is_left_out(lines: list[Line]) -> None:
    assert sorted(line["id"] for line in lines) == [
        f"r{number:03d}" for number in range(1, len(lines) + 1)
    ]


def test_the_lines_to_measure_with_come_after_all_others(lines: list[Line]) -> None:
    """Who works on a detector can read the tune lines and stop."""
    assert lines == split(lines, "tune") + split(lines, "test")


def test_there_are_enough_of_each(lines: list[Line]) -> None:
    counts = Counter(cell(line) for line in lines)
    assert len(lines) >= 320
    assert all(counts[kind, level] >= 12 for kind, level in product(KINDS, LEVELS)), counts
    assert 0.4 <= counts["none", "none"] / len(lines) <= 0.6
    for danger in (False, True):
        assert sum(line["hard"] for line in lines if bool(line["kinds"]) is danger) >= 100


def test_the_halves_are_alike(lines: list[Line]) -> None:
    tune, test = (
        Counter((*cell(line), line["hard"]) for line in split(lines, name))
        for name in ("tune", "test")
    )
    assert abs(tune.total() - test.total()) <= 1
    assert all(abs(tune[key] - test[key]) <= 1 for key in tune | test), (tune, test)


def test_further_lines_are_to_work_on_only(more: list[Line]) -> None:
    assert len(more) >= 400 and split(more, "tune") == more
    assert sorted(line["id"] for line in more) == [
        f"t{number:03d}" for number in range(1, len(more) + 1)
    ]
    danger = [line for line in more if line["kinds"]]
    assert 0.4 <= len(danger) / len(more) <= 0.6 and sum(line["hard"] for line in danger) >= 100


def test_unseen_lines_are_to_measure_on_only(unseen: list[Line]) -> None:
    assert split(unseen, "test") == unseen
    assert [line["id"] for line in unseen] == [f"s{number:03d}" for number in range(1, 241)]
    assert Counter((bool(line["kinds"]), line["hard"]) for line in unseen) == {
        (True, True): 60,
        (True, False): 60,
        (False, True): 90,
        (False, False): 30,
    }


def test_no_line_comes_twice(lines: list[Line], more: list[Line], unseen: list[Line]) -> None:
    texts = Counter(
        " ".join(re.findall(r"\w+", line["text"].lower())) for line in lines + more + unseen
    )
    assert [text for text, times in texts.items() if times > 1] == []


def test_no_line_is_a_near_copy_of_one_in_the_other_split(
    lines: list[Line], more: list[Line], unseen: list[Line]
) -> None:
    tuned, tested = (
        [(line["text"], words(line)) for line in some]
        for some in (split(lines, "tune") + more, split(lines, "test") + unseen)
    )
    for (one, its), (other, others) in product(tuned, tested):
        shared = len(its & others) / len(its | others)
        assert shared < NEAR, (round(shared, 2), one, other)
