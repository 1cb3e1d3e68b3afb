"""What is counted in the talk, by hand."""

import pytest

from simcounsel.instruments.talk import TalkCounts, count, measure, talk_measured

C, X = "Counselor", "Client"


def kinds(text: str, heard: str = "") -> dict[str, int]:
    """What one line of the counselor counts as."""
    found = count([(X, heard), (C, text)] if heard else [(C, text)])
    return {
        name: n
        for name in ("questions", "open_questions", "reflections", "advice")
        if (n := getattr(found, name))
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("What happened then?", {"questions": 1, "open_questions": 1}),
        ("And how did that feel?", {"questions": 1, "open_questions": 1}),
        ("Could you tell me more about her?", {"questions": 1, "open_questions": 1}),
        ("When he says that, what goes through you?", {"questions": 1, "open_questions": 1}),
        ("Are you sleeping?", {"questions": 1}),
        ("Did you tell him?", {"questions": 1}),
        ("In what way?", {"questions": 1, "open_questions": 1}),
        ("You should get up earlier.", {"advice": 1}),
        ("Try a warm bath.", {"advice": 1}),
        ("I would suggest a list.", {"advice": 1}),
        ("Why don't you call him?", {"questions": 1, "advice": 1}),
        ("Have you tried a list?", {"questions": 1, "advice": 1}),
        ("It sounds like a heavy week.", {"reflections": 1}),
        ("You feel left alone.", {"reflections": 1}),
        ("So part of you still answers to him.", {"reflections": 1}),
        ("There is worry close to that.", {"reflections": 1}),
        ("Good morning.", {}),
        ("We have time.", {}),
        ("", {}),
        ("...", {}),
        ("你感到很累。", {"reflections": 1}),
        ("你觉得怎么样？", {"questions": 1, "open_questions": 1}),
        ("你睡得好吗？", {"questions": 1}),
        ("我建议你多运动。", {"advice": 1}),
        (
            "You feel left alone. What would help? Try to rest.",
            {"reflections": 1, "questions": 1, "open_questions": 1, "advice": 1},
        ),
    ],
)
def test_one_sentence(text: str, what: dict[str, int]) -> None:
    assert kinds(text) == what


def test_what_takes_up_the_clients_words_is_a_reflection() -> None:
    heard = "I count the hours until the alarm rings."
    assert kinds("Counting hours until the alarm, that is your night.", heard) == {"reflections": 1}
    assert kinds("The weather was fine in your town.", heard) == {}


LINES = (
    (C, "Hello there. What is it today?"),
    (X, "I count the hours at night."),
    (C, "You feel awake with the hours. Are you tired? Try some tea."),
    (X, "Yes."),
    (C, "Good."),
)


def test_counts() -> None:
    assert count(LINES) == TalkCounts(
        turns=3,
        sentences=6,
        questions=2,
        open_questions=1,
        question_marks=2,
        reflections=1,
        advice=1,
        counselor_words=19,
        client_words=7,
        client_turns=2,
        counselor_characters=94,
        client_characters=31,
        talks=1,
    )


def test_measures() -> None:
    assert {item.id: item.value for item in measure(LINES)} == {
        "reflections_per_turn": 0.3333,
        "reflections_to_questions": 0.5,
        "open_question_share": 0.5,
        "advice_per_turn": 0.3333,
        "talk_share": 0.7308,
        "question_marks_per_turn": 0.6667,
        "counselor_messages": 3,
        "client_messages": 2,
        "counselor_characters": 31.3333,
        "client_characters": 15.5,
        "characters_to_characters": 3.0323,
    }


def test_nothing_to_divide_by() -> None:
    reasons = {item.id: item.reason for item in measure([(C, "Good.")])}
    assert reasons["open_question_share"] == "no question was asked"
    assert reasons["talk_share"] is None
    assert {item.value for item in measure(())} == {None}
    scores = talk_measured("Ines", "end", (), (), "no conversation yet").scores
    assert {(score.value, score.reason) for score in scores} == {(None, "no conversation yet")}
