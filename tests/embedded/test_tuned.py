"""The counselor's lines of a tuned model: asked as it was trained, and taken only when they are fit to be said."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.teaching import Teaching
from simcounsel.embedded.tuned import TRIES, Tuned, fault, spoken_part, talk_of
from simcounsel.prompts import render
from simcounsel.testing.views import changed_view, talk_view
from tests.each import each
from tests.stage import line_facts

GOOD = "You lie awake, and the nights are long. What goes through your mind then?"


def view_of(*lines: tuple[str, str]) -> TalkView:
    said = tuple(
        TalkLine(who=who, text=text, emphasis=None, emotion="neutral") for who, text in lines
    )
    return changed_view(talk_view(), chat="c", key=(1,), turns_left=6, place="Center", lines=said)


HEARD = view_of(
    ("Miriam", "Good to see you."), ("Ines", "I can't sleep. Omar says it is the heat.")
)


@dataclass
class Words:
    """A Similarity by shared words."""

    def nearness(self, text: str, others: Any) -> np.ndarray:
        own = set(text.lower().split())
        return np.array(
            [
                len(own & set(other.lower().split()))
                / max(1, len(own | set(other.lower().split())))
                for other in others
            ]
        )

    def nearest(self, text: str, others: Any) -> float:
        return float(self.nearness(text, others).max()) if len(others) else 0.0


class Answers:
    """A model that gives these answers in turn, then nothing."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked: list[tuple[str, Any, str, int]] = []

    def __call__(self, system: str, talk: Any, heard: str, seed: int) -> str:
        self.asked.append((system, talk, heard, seed))
        return self.texts.pop(0) if self.texts else ""


def say(answers: Answers, view: TalkView = HEARD, said: tuple[str, ...] = ()) -> str | None:
    facts = line_facts(view, said=said)
    return Tuned(Words(), answers).line(facts, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "lines",
    [
        (("client", "I can't sleep."), ("counselor", "Tell me."), ("client", "It began in May.")),
        (("counselor", "Good to see you."), ("client", "Hm."), ("client", "I can't sleep.")),
        (
            ("counselor", "Hello."),
            ("counselor", "Sit down."),
            ("client", "Thank you."),
            ("counselor", "So?"),
            ("client", "I can't sleep."),
        ),
    ],
)
def test_it_is_asked_as_a_corpus_teaches(lines: tuple[tuple[Any, str], ...]) -> None:
    """The same messages that `corpus` and a training make of this talk, up to the counselor's next line."""
    from simcounsel.corpus.dialogues import merge_turns

    turns = tuple(Turn(speaker=who, text=text) for who, text in (*lines, ("counselor", "NEXT")))
    dialogue = merge_turns([Dialogue(id="d", client="c", turns=turns)]).dialogues[0]
    teaching = Teaching()
    *taught, _ = [(message.role, message.text) for message in teaching.chat(dialogue)]
    answers = Answers(GOOD)
    say(
        answers,
        view_of(*(("Miriam" if who == "counselor" else "Ines", text) for who, text in lines)),
    )
    system, talk, heard, _ = answers.asked[0]
    assert [*talk, ("user", heard)] == taught
    assert system == teaching.system_of(dialogue)


@pytest.mark.parametrize("first", ["Ines", "Miriam"])
def test_a_long_talk_is_shown_from_a_point_that_seldom_moves(first: str) -> None:
    """And there it begins with a line of the client, never with the stage direction that nobody has spoken yet."""
    begins = []
    for count in range(1 if first == "Ines" else 2, 80, 2):
        lines = [
            ("Ines" if (n % 2 == 0) == (first == "Ines") else "Miriam", f"line {n}")
            for n in range(count)
        ]
        talk = talk_of(line_facts(view_of(*lines)))
        begins.append(talk[0][1])
        assert (
            talk[0][0] == "user" and talk[-1] == ("user", f"line {count - 1}") and len(talk) <= 25
        )
        assert count <= 24 or talk[0][1].startswith("line")
    assert len(set(begins)) == 6


def test_the_fit_line_is_taken_and_no_more_are_written_than_needed() -> None:
    answers = Answers(
        "My nights are bad as well.", GOOD, "You can't sleep. Is it the heat?", "never asked"
    )
    assert say(answers) == "You can't sleep. Is it the heat?"
    assert [seed for *_, seed in answers.asked] == [7, 8, 9]


def test_without_a_fit_line_there_is_none() -> None:
    answers = Answers("", "Hm", "Miriam: You can't sleep.")
    assert say(answers) is None and len(answers.asked) == TRIES
    assert say(Answers(GOOD), view_of(("Ines", "Yes."), ("Miriam", "Tell me more."))) is None
    assert say(Answers(GOOD), view_of()) is None


def test_nobody_repeats_a_line() -> None:
    assert say(Answers(GOOD), said=(GOOD,)) is None
    assert say(Answers(GOOD.lower()), view_of(("Miriam", GOOD), ("Ines", "Nothing."))) is None


@each(
    ("text", "part"),
    [
        ("One thing. Another one? A third.", "One thing. Another one?"),
        (
            "You said “the heat.” That is much\n to bear.  It may",
            "You said “the heat.” That is much to bear.",
        ),
        ("no end to this", ""),
        ("", ""),
    ],
)
def test_only_whole_sentences_are_said(text: str, part: str) -> None:
    assert spoken_part(text) == part


@each(
    "text",
    [
        GOOD,
        "That sounds hard, Ines.",
        "Omar says one thing. What do you say?",
        "I'm sorry you had such a night, and I'm glad you came.",
        "You say “my nights”, as if they were yours alone.",
    ],
)
def test_good_lines_pass(text: str) -> None:
    assert fault(text, line_facts(HEARD)) is None


@each(
    ("text", "words"),
    [
        ("", "empty"),
        ("Yes.", "too short"),
        ("What is it? And when did it begin?", "more than one question"),
        ("I have not slept for weeks.", "speaks of oneself"),
        ("You and my mother say the same.", "speaks of oneself"),
        ("So you asked Gregor about the heat.", "somebody unknown"),
        ("Miriam is here and hears you.", "names a speaker"),
        ("The client says: you are tired.", "names a speaker"),
        ("You should go to bed earlier.", "decides for the client"),
        ("You could take a pill at night.", "medication unasked"),
        ("As for that, you talk to an AI here.", "as a machine"),
        ("I'm sorry, but I can't help you with that.", "refusal"),
        ("You are tired tired tired tired tired tired.", "repeats itself"),
        ("睡不着的时候你在想什么？你觉得怎么样？", "not in English"),
    ],
)
def test_unfit_lines_are_refused(text: str, words: str) -> None:
    assert words in str(fault(text, line_facts(HEARD)))


def test_danger_is_taken_up_and_what_was_asked_may_be_answered() -> None:
    danger = line_facts(view_of(("Ines", "I don't want to live like this any more.")))
    assert (
        fault("You are tired of the nights. What would help you?", danger)
        == "it passes over danger"
    )
    assert fault("Are you thinking of killing yourself, Ines?", danger) is None
    pills = line_facts(view_of(("Ines", "The doctor gave me pills. Are you an AI?")))
    assert fault("You got pills, and you wonder about them.", pills) is None
    assert fault("You ask whether this is an AI.", pills) is None


def test_the_system_prompt_is_the_corpus_own() -> None:
    answers = Answers(GOOD)
    say(answers)
    assert answers.asked[0][0] == render("export_counselor")[1]
