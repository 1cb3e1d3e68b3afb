"""Who decides how near danger is: the detector where it is sure, a model in doubt, a questionnaire's item."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simcounsel.danger.hearing.assessing import assess
from simcounsel.danger.hearing.detector import hear
from simcounsel.danger.hearing.in_answers import assessed_by_item, raised_by_item
from simcounsel.danger.hearing.in_file import dangers_in_file, dangers_in_lines
from simcounsel.danger.hearing.judging import LineContext, RiskAnswer
from simcounsel.embedded import Embedded
from simcounsel.engine.measures import danger_in
from simcounsel.events import Assessed, ItemAnswer, Measured
from simcounsel.events.practice import DangerDetails
from simcounsel.llm.driving import play, pursue
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.vocabulary import Danger, RiskLevel
from tests.each import each
from tests.prompts.test_golden import compare, shown
from tests.stage import switchboard

ROOT = Path(__file__).parents[2]
DOUBTFUL = "They would be better off without me."


def about(before: str = "") -> LineContext:
    return LineContext(who="Ines", key=(1, "c", 3), before=before)


def says(level: RiskLevel, *kinds: Danger, **more: Any) -> RiskAnswer:
    """A model's judgment; of suicide if no kind is given."""
    some = kinds or (("suicide",) if level != "none" else ())
    return RiskAnswer(level=level, kinds=some, **more)


def judged(line: str, *answers: RiskAnswer, before: str = "") -> Assessed:
    """With a model that answers so; StopIteration's RuntimeError when it is asked more often."""
    return play(assess(line, about(before), chat="c", message=3), *answers)


@each("line", ["I had soup for lunch.", "This job is killing me."])
def test_no_model_is_asked_where_nothing_is_heard(line: str) -> None:
    assessed = judged(line)
    assert (assessed.level, assessed.by, assessed.kinds) == ("none", "words", ())


@each(
    ("line", "level"),
    [
        ("I want to kill myself.", "high"),
        ("I'm going to shoot myself tonight, the gun is loaded.", "imminent"),
        ("我不想活了", "low"),
    ],
)
def test_clear_words_need_no_model_for_their_level(line: str, level: str) -> None:
    """A model is asked for what else the line says; its level counts only where it is higher."""
    assessed = judged(line, says("none"))
    assert (assessed.level, assessed.by, assessed.kinds) == (level, "words", ("suicide",))
    assert (assessed.chat, assessed.message) == ("c", 3)
    assert all(quote in line for quote in assessed.evidence)
    higher = judged("我不想活了", says("imminent"))
    assert (higher.level, higher.by) == ("imminent", "model")


def test_a_model_is_asked_in_doubt() -> None:
    request = next(assess(DOUBTFUL, about("How was the week?")))
    assert isinstance(request, Question)
    assert (request.verb, request.purpose, request.tier, request.temperature) == (
        "fill",
        "risk",
        "quick",
        0.0,
    )
    assert request.fallback == says("low") and hear(DOUBTFUL).level == "low"
    assert DOUBTFUL in request.prompt and "How was the week?" in request.prompt


def test_the_prompt() -> None:
    request = next(assess(DOUBTFUL, about("How was the week?")))
    assert isinstance(request, Question)
    compare("risk", shown(request.system, request.prompt))


@each(
    ("said", "level"),
    [("none", "none"), ("low", "low"), ("high", "high"), ("imminent", "imminent")],
)
def test_one_hint_is_what_a_model_says(said: RiskLevel, level: str) -> None:
    assessed = judged(DOUBTFUL, says(said))
    assert (assessed.level, assessed.by) == (level, "model")
    assert assessed.kinds == (("suicide",) if level != "none" else ())


def test_several_hints_fall_one_level_at_most() -> None:
    line = "I found a home for both cats. They'd be better off without me. I won't be needing it by then."
    assert hear(line).level == "high" and hear(line).doubt
    assert judged(line, says("none")).level == "low"


def test_what_is_said_openly_is_never_lowered() -> None:
    line = "I wish I was dead. I found a home for both cats."
    assert hear(line).doubt
    assert judged(line, says("none")).level in ("low", "high")


@pytest.mark.parametrize("model", [Scripted(), Embedded()], ids=["scripted", "embedded"])
def test_a_model_that_cannot_judge_leaves_it_to_the_detector(model: Scripted | Embedded) -> None:
    models = switchboard(model)
    (outcome,) = models.ask({"x": assess(DOUBTFUL, about())}).values()
    models.close()
    assert (outcome.value.level, outcome.value.by) == ("low", "words")
    assert "no model that can judge" in outcome.value.why and outcome.troubles == ()


def alone(line: str, **context: Any) -> Assessed:
    """Where no model can judge."""
    models = switchboard(Scripted())
    (outcome,) = models.ask({"x": assess(line, replace(about(), **context))}).values()
    models.close()
    return outcome.value


def test_a_line_in_doubt_waits_for_a_second_one_of_the_same_danger() -> None:
    first = alone(DOUBTFUL, noted=())
    assert (first.level, first.kinds, first.noted) == ("none", (), ("suicide",))
    assert "waits for a second line" in first.why
    assert alone(DOUBTFUL, noted=("abuse",)).noted == ("suicide",)
    second = alone(DOUBTFUL, noted=("suicide",))
    assert (second.level, second.kinds, second.noted) == ("low", ("suicide",), ())


@each(
    ("line", "context"),
    [
        ("I want to die.", {"noted": ()}),
        ("Maybe.", {"noted": (), "before": "Do you think about killing yourself?"}),
        ("He won't let me see my sister.", {"noted": ()}),
        (DOUBTFUL, {"noted": (), "kinds": ("self_harm",)}),
        (DOUBTFUL, {"noted": (), "file": ("suicide",)}),
        (DOUBTFUL, {"noted": None}),
    ],
)
def test_what_waits_for_no_second_line(line: str, context: dict[str, Any]) -> None:
    """Said openly, an answer, nearly sure, danger heard before, a file that tells of it, a line
    without a talk.
    """
    assert alone(line, **context).level != "none"


def test_a_model_that_judges_waits_for_nothing() -> None:
    judged = play(assess(DOUBTFUL, replace(about(), noted=())), says("low"))
    assert (judged.level, judged.noted) == ("low", ())


def test_a_model_that_answers_nonsense_leaves_it_to_the_detector() -> None:
    models = switchboard(Scripted({"risk": lambda request, draw: "perhaps"}))
    assessed = asyncio.run(pursue(assess(DOUBTFUL, about()), models.answer)).value
    models.close()
    assert (assessed.level, assessed.by) == ("low", "words")


@each(("value", "level"), [(0, "none"), (1, "low"), (2, "high"), (3.0, "high")])
def test_item_nine(value: float, level: str) -> None:
    assert raised_by_item(value) == level
    assessed = assessed_by_item(value, who="Ines")
    assert (assessed.level, assessed.by, assessed.chat) == (level, "questionnaire", None)
    assert bool(assessed.kinds) == (value > 0)


@each("value", [-1, 4, 0.5])
def test_item_nine_has_four_answers(value: float) -> None:
    with pytest.raises(ValueError, match="answered 0, 1, 2 or 3"):
        raised_by_item(value)


@each(
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
    assert [one.level for one in danger_in(measured)] == ([level] if level else [])


def test_a_model_may_be_asked_about_every_line() -> None:
    def watched(line: str, *answers: RiskAnswer) -> Assessed:
        return play(assess(line, about(), every_line=True), *answers)

    quiet = "The blue folder goes to Ann."
    assert hear(quiet).level == "none" and not hear(quiet).doubt
    heard = watched(quiet, says("high", "self_harm"))
    assert (heard.level, heard.by, heard.kinds) == ("high", "model", ("self_harm",))
    assert (watched(quiet, says("none")).level, watched(quiet, says("none")).kinds) == ("none", ())
    assert watched(" ").level == "none"


FAREWELL = "Friday, after the Thursday repair, I hand over the key to my sister."


def test_who_judges_the_level_judges_the_kinds() -> None:
    """The classifier takes the line for something else, and is not asked."""
    said = says("high", "suicide", words=("hand over the key",))
    heard = play(assess(FAREWELL, about(), every_line=True), said)
    assert heard.kinds == ("suicide",) and hear(FAREWELL).likeliest == "abuse"
    assert heard.evidence == ("hand over the key",)
    both = judged("I want to kill myself, and he hits me.", says("high", "abuse"))
    assert both.kinds == ("suicide", "abuse")


def test_what_a_model_reads_out_of_a_line_is_in_the_clients_words() -> None:
    said = says("high", when="Friday", people=("my sister", "Lena"), means="the pills")
    details = play(assess(FAREWELL, about(), every_line=True), said).details
    assert details == DangerDetails(when="Friday", people=("my sister",), means=None)
    assert play(assess(FAREWELL, about(), every_line=True), says("none")).details is None
    assert judged("I want to die.", says("high")).details == DangerDetails()


def test_a_level_without_a_kind_is_of_the_kind_that_is_asked_about_first() -> None:
    """What the classifier takes for likeliest is no kind that a model judged."""
    asks = assess(FAREWELL, about(), every_line=True)
    assert play(asks, RiskAnswer(level="high")).kinds == ("suicide",)
    before = replace(about(), kinds=("self_harm",))
    asks = assess(FAREWELL, before, every_line=True)
    assert play(asks, RiskAnswer(level="high")).kinds == ("self_harm",)


def test_a_hint_out_of_a_file_without_danger_is_none() -> None:
    """A stand-in speaks lines out of the client's file; what was said openly counts all the same."""
    for model in (Scripted(), Embedded()):
        models = switchboard(model)
        asks = {
            f"{name} {line}": assess(line, replace(about(), file=file))
            for name, file in (("calm", ()), ("danger", ("suicide",)), ("said", None))
            for line in (DOUBTFUL, "I want to die.")
        }
        heard = {name: outcome.value for name, outcome in models.ask(asks).items()}
        models.close()
        assert heard[f"calm {DOUBTFUL}"].level == "none"
        assert "holds no danger" in heard[f"calm {DOUBTFUL}"].why
        assert heard[f"danger {DOUBTFUL}"].level == heard[f"said {DOUBTFUL}"].level == "low"
        assert {heard[f"{name} I want to die."].level for name in ("calm", "danger", "said")} == {
            hear("I want to die.").level
        }


@each(
    ("history", "kinds"),
    [
        ("Ines is suicidal.", ("suicide",)),
        ("Last spring she tried to take her own life with pills.", ("suicide",)),
        ("She has been self-harming since she was fourteen.", ("self_harm",)),
        ("Her father beats her.", ("abuse",)),
        ("She draws valves, and sleeps badly.", ()),
    ],
)
def test_the_danger_that_is_written_in_a_file(history: str, kinds: tuple[Danger, ...]) -> None:
    ines = load_persona(ROOT / "personas" / "ines.yaml")
    assert isinstance(ines, ClientPersona) and dangers_in_file(ines, "en") == ()
    worse = ines.model_copy(update={"history": f"{ines.history} {history}"})
    assert dangers_in_file(worse, "en") == kinds


def test_the_danger_in_the_lines_of_a_file() -> None:
    assert dangers_in_lines(["I want to kill myself."], "en") == ("suicide",)
    assert dangers_in_lines(["I'd rather sort it out in a shop."], "en") == ()
    assert dangers_in_lines(["我想自杀。"], "zh") == ("suicide",)
