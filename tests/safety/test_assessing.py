"""Who decides how near danger is: the detector where it is sure, a model in doubt, a questionnaire's item."""

import asyncio

import pytest

from simcounsel.engine.measures import raised_by
from simcounsel.events import Assessed, ItemAnswer, Measured
from simcounsel.llm.driving import play, pursue
from simcounsel.llm.question import Question
from simcounsel.safety.assessing import assess, assessed_by_item, raised_by_item
from simcounsel.safety.detector import hear
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS
from simcounsel.standins import Embedded
from simcounsel.standins.scripted import Scripted
from tests.prompts.test_golden import compare, shown
from tests.stage import switchboard

DOUBTFUL = "They would be better off without me."


def judged(line: str, *answers: str, before: str = "") -> Assessed:
    """With a model that answers so; StopIteration's RuntimeError when it is asked more often."""
    return play(assess(line, before, who="Ines", key=(1, "c", 3), chat="c", message=3), *answers)


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("I had soup for lunch.", "none"),
        ("This job is killing me.", "none"),
        ("I want to kill myself.", "high"),
        ("I'm going to shoot myself tonight, the gun is loaded.", "imminent"),
        ("我不想活了", "low"),
    ],
)
def test_no_model_is_asked_where_the_words_are_clear(line: str, level: str) -> None:
    assessed = judged(line)
    assert (assessed.level, assessed.by, assessed.chat, assessed.message) == (
        level,
        "words",
        "c",
        3,
    )
    assert all(quote in line for quote in assessed.evidence)


def test_a_model_is_asked_in_doubt() -> None:
    request = next(assess(DOUBTFUL, "How was the week?", who="Ines", key=(1,)))
    assert isinstance(request, Question)
    assert (request.verb, request.purpose, request.tier, request.temperature) == (
        "choose",
        "risk",
        "quick",
        0.0,
    )
    assert request.options == RISK_LEVELS and request.fallback == hear(DOUBTFUL).level == "low"
    assert DOUBTFUL in request.prompt and "How was the week?" in request.prompt


def test_the_prompt() -> None:
    request = next(assess(DOUBTFUL, "How was the week?", who="Ines", key=(1,)))
    assert isinstance(request, Question)
    compare("risk", shown(request.system, request.prompt))


@pytest.mark.parametrize(
    ("said", "level"),
    [("none", "none"), ("low", "low"), ("high", "high"), ("imminent", "imminent")],
)
def test_one_hint_is_what_a_model_says(said: str, level: str) -> None:
    assessed = judged(DOUBTFUL, said)
    assert (assessed.level, assessed.by) == (level, "model")
    assert assessed.kinds == (("suicide",) if level != "none" else ())


def test_several_hints_fall_one_level_at_most() -> None:
    line = "I found a home for both cats. They'd be better off without me. I won't be needing it by then."
    assert hear(line).level == "high" and hear(line).doubt
    assert judged(line, "none").level == "low"


def test_what_is_said_openly_is_never_lowered() -> None:
    line = "I wish I was dead. I found a home for both cats."
    assert hear(line).doubt
    assert judged(line, "none").level in ("low", "high")


@pytest.mark.parametrize("model", [Scripted(), Embedded()], ids=["scripted", "embedded"])
def test_a_model_that_cannot_judge_leaves_it_to_the_detector(model: Scripted | Embedded) -> None:
    models = switchboard(model)
    (outcome,) = models.ask({"x": assess(DOUBTFUL, who="Ines", key=(1,))}).values()
    models.close()
    assert (outcome.value.level, outcome.value.by) == ("low", "words")
    assert "no model that can judge" in outcome.value.why and outcome.troubles == ()


def test_a_model_that_answers_nonsense_leaves_it_to_the_detector() -> None:
    models = switchboard(Scripted({"risk": lambda request, draw: "perhaps"}))
    assessed = asyncio.run(pursue(assess(DOUBTFUL, who="Ines", key=(1,)), models.answer)).value
    models.close()
    assert (assessed.level, assessed.by) == ("low", "words")


@pytest.mark.parametrize(("value", "level"), [(0, "none"), (1, "low"), (2, "high"), (3.0, "high")])
def test_item_nine(value: float, level: str) -> None:
    assert raised_by_item(value) == level
    assessed = assessed_by_item(value, who="Ines")
    assert (assessed.level, assessed.by, assessed.chat) == (level, "questionnaire", None)
    assert bool(assessed.kinds) == (value > 0)


@pytest.mark.parametrize("value", [-1, 4, 0.5])
def test_item_nine_has_four_answers(value: float) -> None:
    with pytest.raises(ValueError, match="answered 0, 1, 2 or 3"):
        raised_by_item(value)


@pytest.mark.parametrize(
    ("value", "level"),
    [(0.0, None), (None, None), (0.5, "low"), (1.0, "low"), (1.5, "high"), (2.5, "high")],
)
def test_a_mean_answer_to_item_nine_counts_as_the_answer_above_it(
    value: float | None, level: str | None
) -> None:
    """Asked several times, half an answer above zero is danger."""
    measured = Measured(
        who="Ines",
        instrument="phq9",
        version="1",
        point="once",
        respondent="self",
        items=(ItemAnswer(id="p8", value=3.0), ItemAnswer(id="p9", value=value)),
        scores=(),
    )
    assert [one.level for one in raised_by(measured)] == ([level] if level else [])


def test_a_model_may_be_asked_about_every_line_that_is_no_clear_danger() -> None:
    def watched(line: str, *answers: str) -> Assessed:
        return play(assess(line, who="Ines", key=(1,), every_line=True), *answers)

    quiet = "The blue folder goes to Ann."
    assert hear(quiet).level == "none" and not hear(quiet).doubt
    likeliest = hear(quiet).likeliest
    assert likeliest in DANGERS
    assert (
        watched(quiet, "high").level,
        watched(quiet, "high").by,
        watched(quiet, "high").kinds,
    ) == ("high", "model", (likeliest,))
    assert (watched(quiet, "none").level, watched(quiet, "none").kinds) == ("none", ())
    assert watched("I want to kill myself.").by == "words" and watched(" ").level == "none"
