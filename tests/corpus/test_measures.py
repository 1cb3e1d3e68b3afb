"""Counts over a corpus, worked out by hand."""

import math

import pytest

from simcounsel.corpus.dialogues import Dialogue, Draft, Origin, Turn
from simcounsel.corpus.measures import (
    Number,
    corpus_measures,
    dialogue_measures,
    modification,
    quartiles,
    seconds_per_session,
    skill_coverage,
    templatedness,
    unit_of,
    units,
)
from tests.corpus.made import dialogue


def test_units_are_words_or_chinese_characters() -> None:
    assert units("I don’t know -- it's a 3-year-old, isn't it?") == [
        "i",
        "don't",
        "know",
        "it's",
        "a",
        "3-year-old",
        "isn't",
        "it",
    ]
    assert units("我很累。OK吗？") == ["我", "很", "累", "ok", "吗"]
    assert units("… ?! 🙂") == []
    assert unit_of([dialogue("1", "我很累", "听起来很难")]) == "characters"
    assert unit_of([dialogue("1", "I am tired", "Go on.")]) == "words"
    assert unit_of([dialogue("1", "I am tired", "听起来")]) == "words and characters"
    assert unit_of([]) == "words"


def test_a_dialogue_in_numbers() -> None:
    one = dialogue(
        "1",
        "I cannot sleep",
        "open question | What happens then?",
        "I lie awake",
        "reflection | You lie there.",
    )
    found = dialogue_measures(one)
    assert found["turns"].value == 4
    assert found["length"].value == (3 + 3 + 3 + 3) / 4
    assert found["questions"].value == 0.5
    assert found["skills"] == Number(value=2, n=2)
    assert found["open_question_share"].value == 1.0
    assert found["talk_share"].value == 0.5
    assert found["modified"].value is None and "draft" in str(found["modified"].reason)


def test_a_corpus_in_numbers() -> None:
    found = corpus_measures(
        [
            dialogue("1", "one two", "three"),
            dialogue("2", "one two three four", "a b c", "d", "e f g h"),
        ]
    )
    assert found["sessions"].value == 2
    assert found["clients"].value == 2
    assert found["utterances"].value == 3
    assert found["length"].value == pytest.approx((2 + 1 + 4 + 3 + 1 + 4) / 6)
    assert found["counselor_length"].value == pytest.approx((1 + 3 + 4) / 3)
    assert found["client_length"].value == pytest.approx((2 + 4 + 1) / 3)
    assert found["questions"].value == 0.0
    assert found["skills"].value is None


def test_nothing_is_none_and_never_zero() -> None:
    found = corpus_measures([])
    assert found["sessions"].value == 0
    assert all(
        number.value is None and number.reason
        for name, number in found.items()
        if name not in ("sessions", "clients")
    )
    alone = dialogue_measures(
        Dialogue(id="1", client="c", turns=(Turn(speaker="client", text="Hm."),))
    )
    assert alone["questions"].value is None
    assert alone["counselor_length"].value is None


def test_modification_is_known_only_with_drafts_or_a_corrector() -> None:
    draft = Draft(text="Cheer up.", reason="soothing")
    turns = (
        Turn(speaker="client", text="a"),
        Turn(speaker="counselor", text="b", draft=draft),
        Turn(speaker="client", text="c"),
        Turn(speaker="counselor", text="d"),
    )
    one = Dialogue(id="1", client="c", turns=turns)
    assert modification([one]) == Number(value=0.5, n=2)
    plain = dialogue("2", "a", "b")
    assert modification([plain]).value is None
    corrected = plain.model_copy(update={"origin": Origin(file="run", models={"corrector": "m"})})
    assert modification([corrected]) == Number(value=0.0, n=1)


def test_templates_are_openings_that_dialogues_share() -> None:
    same = [
        dialogue(str(n), "a", "It sounds like you are tired.", "b", f"{n} completely own line")
        for n in range(3)
    ]
    assert templatedness(same) == Number(value=0.5, n=6)
    assert templatedness(same[:2]).value == 0.0, "two lines are no template"
    within = [
        dialogue("1", *["a", "It sounds like this."] * 5),
        dialogue("2", "a", "Quite another line here."),
    ]
    assert templatedness(within).value == 0.0, (
        "one counselor's habit within one dialogue is no template of the corpus"
    )
    short = [dialogue(str(n), "a", "Go on.") for n in range(5)]
    assert templatedness(short).value == 0.0
    chinese = [dialogue(str(n), "我累", "听起来你" + "很" * n) for n in range(3)]
    assert templatedness(chinese).value == 1.0


def test_a_template_must_be_common() -> None:
    many = [dialogue(f"own-{n}", "a", f"w{n} x{n} y{n}") for n in range(397)]
    shared = [dialogue(f"same-{n}", "a", "I hear you say that") for n in range(3)]
    assert templatedness([*many, *shared]).value == 0.0, "3 of 400 are less than 1%"
    assert templatedness([*many[:297], *shared]).value == pytest.approx(3 / 300)


def test_skills() -> None:
    one = dialogue(
        "1", "a", "reflection | b", "c", "reflection | d", "e", "open question | f", "g", "goal | h"
    )
    found = skill_coverage([one])
    assert found["skills"] == Number(value=3 / 18, n=4)
    entropy = -(0.5 * math.log2(0.5) + 2 * 0.25 * math.log2(0.25))
    assert found["effective_skills"].value == pytest.approx(2**entropy)
    even = skill_coverage([dialogue("1", "a", "goal | b", "c", "summary | d")])
    assert even["effective_skills"].value == pytest.approx(2.0)
    own = skill_coverage([dialogue("1", "a", "socratic | b")])
    assert own["skills"].value is None and "own names" in str(own["skills"].reason)
    assert own["effective_skills"].value == 1.0


def test_a_line_of_a_course_counts_each_of_its_skills() -> None:
    turns = (
        Turn(speaker="client", text="I sleep badly."),
        Turn(speaker="counselor", text="b", skill="open", skills=("pin_down", "reflect")),
        Turn(speaker="counselor", text="c", skill="pin_down", skills=("pin_down",)),
    )
    one = Dialogue(id="1", client="a", turns=turns, objectives=("Hear the night.", "Say how."))
    plain = dialogue("2", "a", "goal | b")
    counted = dialogue_measures(one)
    assert [counted[name].value for name in ("skills", "skill_uses", "objectives")] == [2, 3, 2]
    assert dialogue_measures(plain)["objectives"].value is None
    both = corpus_measures([one, plain])
    assert both["skill_uses"] == Number(value=2.0, n=2)
    assert both["objectives"] == Number(value=2.0, n=1)


def test_quartiles() -> None:
    assert quartiles([]) is None
    found = quartiles([1, 2, 3, 4])
    assert found is not None
    assert (found.least, found.first, found.median, found.third, found.greatest) == (
        1,
        1.75,
        2.5,
        3.25,
        4,
    )


def test_seconds() -> None:
    both = [dialogue("1", "a", "b"), dialogue("2", "a", "b")]
    assert seconds_per_session({"1": 2.0, "2": 4.0, "other": 99.0}, both) == Number(value=3.0, n=2)
    assert seconds_per_session({}, both).value is None
