"""What a counselor does is counted by coding turn after turn."""

import json
from random import Random
from typing import Any

import pytest

from simcounsel.events import Measured
from simcounsel.instruments import coding
from simcounsel.instruments.measuring import measure_seen
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from tests.instruments.stage import items_of, seen, shipped
from tests.stage import Listening, switchboard

MI = shipped("motivational_interviewing")
TALK = (
    ("Client", "I ought to drink less."),
    ("Counselor", "You would like to drink less. What would be different then?"),
    ("Client", "My wife would be pleased."),
    ("Counselor", "She matters to you."),
    ("Counselor", "You must stop at once."),
)


def rated(coder: Any, lines: Any = TALK, **how: Any) -> tuple[Measured, list[Question]]:
    def block(request: Question, draw: Random) -> str:
        return json.dumps({one.id: {"because": "", "score": 3} for one in items_of(request)})

    spy = Listening({"judge_block": block, "judge_codes": coder})
    models = switchboard(spy)
    ask = measure_seen(MI, "Ines", seen(lines=lines), "end", 1, **how)
    try:
        found = models.ask({"one": ask})["one"].value
    finally:
        models.close()
    return found, [one for one in spy.requests if one.purpose == "judge_codes"]


def says(*turns: dict[int, list[str]]) -> Any:
    """A coder that gives one answer after the other."""
    given = iter(turns)
    return lambda request, draw: json.dumps(
        {"turns": [{"turn": n, "because": "", "codes": c} for n, c in next(given).items()]}
    )


def values(found: Measured) -> dict[str, float | None]:
    return {item.id: item.value for item in found.items}


def test_turns_are_counted() -> None:
    codes = {1: ["simple_reflection", "question"], 2: ["complex_reflection"], 3: ["confront"]}
    found, (asked,) = rated(says(codes))
    counts = {name: value for name, value in values(found).items() if value}
    assert counts == {
        **dict.fromkeys(("change_talk", "sustain_talk", "partnership", "empathy"), 3),
        **dict.fromkeys(("simple_reflection", "question", "complex_reflection", "confront"), 1),
    }
    assert list(values(found)) == [item.id for item in MI.items]
    assert values(found)["affirm"] == 0
    assert "[3] Counselor: You must stop at once." in asked.prompt
    assert "from 1 to 3" in asked.prompt
    assert asked.facts.turns[1] == ("My wife would be pleased.", "She matters to you.")
    assert asked.key in found.calls


def test_what_was_not_coded_is_asked_for_once_more() -> None:
    found, (first, again) = rated(
        says({1: ["question"], 2: ["praise"]}, {2: ["affirm"], 3: [], 9: ["affirm"]})
    )
    assert "2 ('praise' is no code); 3 (no answer)" in again.prompt
    assert first.seed != again.seed
    assert (values(found)["question"], values(found)["affirm"]) == (1, 1)


def test_with_too_many_turns_uncoded_there_are_no_counts() -> None:
    found, asked = rated(says({1: ["question"]}, {}))
    assert len(asked) == 2
    reasons = {item.reason for item in found.items if item.value is None}
    assert reasons == {"2 of 3 turns were not coded"}
    assert {item.absent for item in found.items if item.value is None} == {"missing"}
    assert values(found)["empathy"] == 3, "what is rated stays"


def test_one_turn_of_many_may_be_left() -> None:
    lines = TALK[:2] * 10
    every = {n: ["question"] for n in range(1, 11) if n != 4}
    found, _ = rated(says(every, {}), lines)
    assert values(found)["question"] == 9


def test_long_sessions_are_coded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "AT_A_TIME", 2)
    found, asked = rated(says({1: ["question"], 2: []}, {3: ["confront"]}))
    assert [one.facts.first for one in asked] == [1, 3]
    assert (values(found)["question"], values(found)["confront"]) == (1, 1)


def test_nobody_answers() -> None:
    found, _ = rated(lambda request, draw: "no JSON")
    reasons = {item.reason or "" for item in found.items if item.value is None}
    assert len(reasons) == 1 and "no usable answer: the JSON did not fit" in reasons.pop()
    silent, asked = rated(says(), (("Client", "Hello?"),))
    assert {item.reason for item in silent.items if item.value is None} == {
        "the counselor said nothing"
    }
    assert asked == []


def test_a_retest_is_asked_at_the_temperature_of_samples() -> None:
    codes = {number: ["question"] for number in (1, 2, 3)}
    assert rated(says(codes))[1][0].temperature == 0.0
    assert rated(says(codes), temperature=0.7)[1][0].temperature == 0.7


def test_the_scripted_model_codes_every_turn() -> None:
    models = switchboard(Scripted())
    found = models.ask({"one": measure_seen(MI, "Ines", seen(lines=TALK), "end", 1)})["one"].value
    models.close()
    assert None not in values(found).values()
