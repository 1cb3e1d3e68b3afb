"""What the embedded model answers in an interview. Runs are scripted; only MiniLM is needed."""

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simcounsel.agents.answering import own_words
from simcounsel.embedded.interviews import NO_HARM, UNKNOWN
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview import Interview
from simcounsel.measuring.models import open_models
from simcounsel.runs.run import Run
from simcounsel.specs.persona import ClientPersona
from tests.commands import Command
from tests.stage import live, three

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(tmp_path_factory.mktemp("asked"), three())


@pytest.fixture(scope="module")
def models(run: Run) -> Iterator[Switchboard]:
    board = open_models(run, "embedded")
    yield board
    board.close()


def asked(run: Run, models: Switchboard, who: str, *questions: str, tick: int = 8) -> list[str]:
    interview = Interview.begin(run, who, tick, "embedded")
    told = [interview.ask(question, models) for question in questions]
    assert {one["source"] for one in told} == {"chosen"}
    return [str(one["answer"]) for one in told]


@pytest.mark.parametrize("who", ["Ines", "Omar", "Miriam"])
def test_an_answer_is_in_ones_own_words_or_says_that_one_does_not_know(
    run: Run, models: Switchboard, who: str
) -> None:
    known = own_words(Interview.begin(run, who, 8).past)
    told = asked(run, models, who, "What are you afraid of?", "What makes you happy?")
    assert set(told) <= {*known, *UNKNOWN}


def test_the_nearest_is_said(run: Run, models: Switchboard) -> None:
    known = own_words(Interview.begin(run, "Ines", 8).past)
    assert asked(run, models, "Ines", known[0]) == [known[0]]


def test_what_was_said_in_a_talk_is_known(run: Run) -> None:
    past = Interview.begin(run, "Miriam", 8).past
    said = [line.text for held in past.conversations for line in held.lines if line.who == "Miriam"]
    assert said and set(said) <= set(own_words(past))
    others = {
        line.text for held in past.conversations for line in held.lines if line.who != "Miriam"
    }
    assert not others & set(own_words(past))


def test_what_is_far_from_all_is_not_known(run: Run, models: Switchboard) -> None:
    assert set(asked(run, models, "Miriam", "What is the boiling point of mercury?")) <= {*UNKNOWN}


def test_nobody_says_the_same_twice(run: Run, models: Switchboard) -> None:
    for who in ("Ines", "Omar", "Miriam"):
        told = asked(run, models, who, *["What are you afraid of?"] * 4, "What makes you happy?")
        assert len(set(told)) == len(told)


def test_a_question_about_self_harm_gets_a_plain_answer(run: Run, models: Switchboard) -> None:
    for who in ("Ines", "Miriam"):
        for told in asked(run, models, who, *["Have you ever thought about ending your life?"] * 4):
            assert told in NO_HARM


def test_hopeful_lines_are_not_known_before_anybody_has_listened(run: Run) -> None:
    past = Interview.begin(run, "Ines", 0).past
    assert not past.conversations
    persona = past.resident.persona
    assert isinstance(persona, ClientPersona)
    hopeful = {line.text for line in persona.voice if line.stage == "hopeful"}
    assert hopeful and not hopeful & set(own_words(past))


def test_the_same_question_gets_the_same_answer(run: Run, models: Switchboard) -> None:
    assert asked(run, models, "Omar", "What do you miss?") == asked(
        run, models, "Omar", "What do you miss?"
    )


def test_a_run_that_was_written_by_hand_is_asked_at_once(
    simcounsel: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("How do you sleep?\n"))
    folder = Path(shutil.copytree(Run.open("gallery:first-days").folder, "run"))
    ended = simcounsel("talk", folder, "--who", "Ines")
    assert ended.code == 0 and "you: How do you sleep?\nInes: " in ended.out
    assert [one.name for one in Path.cwd().iterdir()] == ["run"]
