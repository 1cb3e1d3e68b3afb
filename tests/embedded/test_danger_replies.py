"""A stand-in that is asked about danger answers by the client's file, in words that are read as meant."""

from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.protection.data import words
from simcounsel.danger.protection.ladder import ASKED, NAMING, SETTLING, Step
from simcounsel.danger.protection.reading import plain_answer
from simcounsel.danger.protection.wording import lines_of
from simcounsel.embedded.danger_replies import danger_reply
from simcounsel.embedded.labelled import labelled
from simcounsel.llm.question import Example
from simcounsel.safety.help import Help
from simcounsel.specs.vocabulary import DANGERS, Danger
from tests.each import each
from tests.stage import line_facts, said, view

CALM = (Example(text="I'd rather it were about the mattress, that can be sorted out in a shop."),)
GRAVE: dict[Danger, Example] = {
    "suicide": Example(text="I want to kill myself."),
    "self_harm": Example(text="I cut my arms every night."),
    "harm_to_others": Example(text="I am going to kill him."),
    "abuse": Example(text="My husband beats me."),
}
HELP = Help(locale="en-GB", language="en")


def reply(heard: str, *voice: Example, seed: int = 1) -> str | None:
    seen = view(said("Ines", "It's the nights."), said("Miriam", heard))
    return danger_reply(line_facts(seen), voice, seed)


@each("step", ASKED)
@each("kind", DANGERS)
def test_every_line_of_the_protocol_that_asks_is_answered(step: Step, kind: Danger) -> None:
    for line in lines_of(step, kind, HELP):
        asked = line.replace("{name}", "Ines")
        calm, grave = reply(asked, *CALM), reply(asked, GRAVE[kind])
        assert calm and grave, asked
        answers = words("en")["answers"]
        if step in SETTLING:
            assert plain_answer(calm, answers, "yes") == "yes"
        else:
            assert plain_answer(calm, answers) == "no"
            there = step in NAMING
            assert plain_answer(grave, answers) == ("yes" if there else "no")


def test_other_questions_are_none() -> None:
    for other in (
        "What brings you here?",
        "What has helped you to get through it so far?",
        "Hello.",
    ):
        assert reply(other, GRAVE["suicide"]) is None


def test_a_question_of_a_policy_without_the_protocol_is_understood() -> None:
    said_no = reply("May I ask you something? Are you thinking of suicide?", *CALM)
    assert said_no is not None and plain_answer(said_no, words("en")["answers"]) == "no"
    assert hear(said_no, "en", "Are you thinking of suicide?").denied == ("suicide",)


def test_another_danger_than_the_file_holds_is_denied() -> None:
    answer = reply("Is somebody hurting you?", GRAVE["suicide"])
    assert answer is not None and plain_answer(answer, words("en")["answers"]) == "no"


def test_what_was_said_is_not_said_again() -> None:
    asked, told = "Are you thinking of killing yourself?", []
    for seed in range(5):
        seen = view(*(said("Ines", one) for one in told), said("Miriam", asked))
        answer = danger_reply(line_facts(seen), CALM, seed)
        assert answer is not None and answer not in told
        told.append(answer)
    assert set(told) == {text for text, label in labelled("danger_replies") if label == "no"}
