"""What the embedded model answers in an interview. Runs are scripted; only MiniLM is needed."""

import re
from collections.abc import Iterator

import pytest

from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.interview import Interview, open_models
from simcounsel.runs.run import Run
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


@pytest.mark.parametrize(
    ("who", "question", "answer"),
    [
        ("Ines", "How old are you?", r"^I'm 34\.$"),
        ("Ines", "Hello! What do you do for a living?", "technical illustrator"),
        ("Ines", "Who lives with you?", "I live alone"),
        ("Ines", "Who is Omar?", "^Omar is my neighbour and friend"),
        ("Ines", "Tell me about your mother.", "^Lurdes is my mother"),
        ("Ines", "How's your goddaughter?", "Clara"),
        ("Ines", "Where are you from?", "^Portuguese"),
        ("Ines", "What time is it?", "^Monday, 12:30"),
        ("Ines", "Tell me about your grandmother.", "grandmother"),
        ("Ines", "Tell me about your husband.", "no husband"),
        ("Ines", "What did Miriam say?", "^Miriam said: “"),
        ("Ines", "What did you tell Miriam?", "^I said: “"),
        ("Ines", "Who is Peter?", "anybody called Peter"),
        ("Ines", "What is the capital of Peru?", "."),
        ("Miriam", "What is your job?", "I'm a counselor"),
        ("Miriam", "How is your son?", "Yaw"),
        (
            "Omar",
            "What do you do for a living?",
            "I'm a baker with a small bakery in my own kitchen",
        ),
        ("Omar", "Do you have family?", "my daughter Salma"),
    ],
)
def test_what_is_asked_is_answered(
    run: Run, models: Switchboard, who: str, question: str, answer: str
) -> None:
    (told,) = asked(run, models, who, question)
    assert re.search(answer, told), told


def test_nobody_says_the_same_twice_but_facts(run: Run, models: Switchboard) -> None:
    for who in ("Ines", "Omar", "Miriam"):
        told = asked(
            run,
            models,
            who,
            *["What are you afraid of?"] * 4,
            "What makes you happy?",
            "What makes you happy?",
        )
        assert len(set(told)) == len(told)
    first, again = asked(run, models, "Ines", "How old are you?", "What is your age?")
    assert first in again


def test_a_follow_up_goes_on_with_what_was_said(run: Run, models: Switchboard) -> None:
    _, more = asked(run, models, "Ines", "Do you like your work?", "Can you say more about that?")
    assert not more.startswith("I couldn't tell you")
    _, she = asked(run, models, "Ines", "What do you think of Miriam?", "What did she ask you?")
    assert "Miriam" in she


def test_a_question_about_self_harm_gets_a_plain_answer(run: Run, models: Switchboard) -> None:
    for who in ("Ines", "Miriam"):
        for told in asked(run, models, who, *["Have you ever thought about ending your life?"] * 4):
            assert told.startswith(
                ("There's nothing I could tell you", "I've nothing to say", "I can't answer that")
            )


def test_what_was_not_yet_concluded_is_not_known(run: Run, models: Switchboard) -> None:
    later = {
        thought.say
        for thought in next(r for r in run.world.residents if r.name == "Ines").persona.thoughts
    }
    questions = (
        "What have you learned about yourself?",
        "What do you fear?",
        "What do you think about your mother?",
        "What are you ashamed of?",
    )
    for told in asked(run, models, "Ines", *questions, tick=0):
        assert not any(
            thought.removeprefix("Ines ").split()[1:5] == told.split()[2:6] for thought in later
        )


def test_the_same_question_gets_the_same_answer(run: Run, models: Switchboard) -> None:
    assert asked(run, models, "Omar", "What do you miss?") == asked(
        run, models, "Omar", "What do you miss?"
    )
