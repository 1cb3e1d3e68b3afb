"""How often scanners are right, computed a second time, and what takes a mark back."""

import json
from collections.abc import Iterator
from importlib.resources import files

import pytest

from simcounsel.bots.scan.checked import checked
from simcounsel.bots.scan.scanners import MARKS, marks_of, subjects_in
from simcounsel.specs.vocabulary import Language
from tests.each import each

pytestmark = pytest.mark.usefixtures("by_rules_alone")

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def rows(language: Language, part: str) -> Iterator[tuple[set[str], set[str]]]:
    """What was found in each labelled line, and its labels."""
    path = files("simcounsel.bots.scan") / "labelled" / f"{language}_{part}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        found = marks_of(one["line"], language, one["before"])
        yield {"reflects" if mark == "takes_up" else mark for mark in found}, {*one["labels"]}


@each("language", LANGUAGES)
@each("part", ["test", "tune"])
def test_precision_and_recall_are_the_shares_of_what_is_found_and_of_what_is_there(
    language: Language, part: str
) -> None:
    known, every = checked(language, part), list(rows(language, part))
    assert set(known) == set(MARKS)
    for mark, one in known.items():
        label = "reflects" if mark == "takes_up" else mark
        there = [label in found for found, labels in every if label in labels]
        found = [label in labels for found, labels in every if label in found]
        assert one.lines == len(there)
        assert one.recall == (sum(there) / len(there) if there else 0.0), mark
        assert one.precision == (sum(found) / len(found) if found else 1.0), mark


@each("language", LANGUAGES)
@each("part", ["test", "tune"])
def test_labels_are_marks_or_none_and_no_line_is_labelled_twice(
    language: Language, part: str
) -> None:
    path = files("simcounsel.bots.scan") / "labelled" / f"{language}_{part}.jsonl"
    every = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = {*MARKS, "reflects"}
    assert {label for one in every for label in one["labels"]} <= known
    assert len({(one["before"], one["line"]) for one in every}) == len(every)


def test_no_line_of_the_test_is_one_of_those_on_which_the_scanners_were_tuned() -> None:
    for language in LANGUAGES:
        lines = []
        for part in ("test", "tune"):
            path = files("simcounsel.bots.scan") / "labelled" / f"{language}_{part}.jsonl"
            text = path.read_text(encoding="utf-8")
            lines.append({json.loads(line)["line"] for line in text.splitlines()})
        assert not lines[0] & lines[1]


TAKEN_BACK = [
    ("Tell your sister tonight.", "Don't tell your sister tonight.", "names_person"),
    ("I promise it.", "I can't promise it.", "promises"),
    ("You're right.", "I can't say if you're right.", "agrees"),
    ("Please see your GP.", "You don't need your GP.", "names_doctor"),
    ("Stop taking your pills.", "Please don't stop taking your pills.", "eggs_on"),
    ("You have me.", "Do you feel that you have me?", "exclusive"),
    ("She said: see your GP.", "She said “see your GP”.", "names_doctor"),
]


@each(("said", "back", "mark"), TAKEN_BACK)
def test_what_is_denied_asked_or_quoted_is_not_said(said: str, back: str, mark: str) -> None:
    assert mark in marks_of(said, "en")
    assert mark not in marks_of(back, "en")


def test_what_is_taken_back_in_one_sentence_may_be_said_in_the_next() -> None:
    assert "promises" in marks_of("I can't promise much. I promise it.", "en")


def test_a_subject_counts_in_a_question_of_the_bots_own() -> None:
    assert subjects_in("How have you been sleeping?", "en") == ("sleep",)
    assert subjects_in("You have been sleeping.", "en") == ()
    assert subjects_in("She asked “how have you been sleeping?”", "en") == ()
    assert subjects_in("最近睡得怎么样？有没有喝酒？", "zh") == ("sleep", "use")
