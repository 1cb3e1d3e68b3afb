"""Every kind of question can be answered without a language model that could read it, or says that
it cannot.
"""

import asyncio
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from importlib import import_module

import pytest

import simcounsel
from simcounsel.agents.facts import SkippedDaysFacts
from simcounsel.agents.tasks import SkippedDayAnswer, SkippedDaysAnswer
from simcounsel.embedded.provider import Embedded
from simcounsel.errors import ModelError
from simcounsel.llm.models import Failure
from simcounsel.llm.question import Facts, Question
from simcounsel.scripted import Scripted
from simcounsel.scripted.registry import Given, StandIns
from tests.stage import ELSEWHERE


@dataclass(frozen=True, kw_only=True)
class UnknownFacts(Facts):
    """Of a question that nobody answers."""


def kinds(of: type[Facts] = Facts) -> Iterator[type[Facts]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


@pytest.fixture(scope="module")
def ours() -> list[type[Facts]]:
    for module in pkgutil.walk_packages(simcounsel.__path__, "simcounsel."):
        if not module.name.endswith(("__main__", *ELSEWHERE)):
            import_module(module.name)
    return [kind for kind in kinds() if kind.__module__.startswith("simcounsel.")]


def test_the_embedded_model_draws_what_it_cannot_judge() -> None:
    """A scale is drawn by the scripted model; no weights are loaded for it."""
    question = Question[float](
        verb="rate",
        purpose="judge_item",
        who="Ines",
        scale=(1, 5),
        facts=UnknownFacts(),
        fallback=3,
    )
    embedded = Embedded()
    answers = [asyncio.run(model.complete(question, None)) for model in (embedded, Scripted())]
    assert answers[0] == replace(answers[1], source="random"), "the log says that it was drawn"
    assert embedded._llama is None


def test_two_kinds_have_two_names(ours: list[type[Facts]]) -> None:
    """The name is in the question's key."""
    assert len({kind.__name__ for kind in ours}) == len(ours)


def test_facts_hold_nothing_that_lives(ours: list[type[Facts]]) -> None:
    living = ("Resident", "Past", "TalkView", "MemoryOf", "Callable", "ndarray", "Any")
    assert not [
        (kind.__name__, one.name)
        for kind in ours
        for one in fields(kind)
        for word in living
        if word in str(one.type)
    ]


def test_a_question_without_a_stand_in_is_an_error() -> None:
    question = Question[str](
        verb="write", purpose="new", who="Ines", facts=UnknownFacts(), fallback=""
    )
    with pytest.raises(ModelError, match="no stand-in answers UnknownFacts"):
        StandIns("embedded").answer(question)


def test_an_answer_that_does_not_fit_is_a_failure_like_that_of_any_model() -> None:
    standins = StandIns("embedded")
    standins.add(
        SkippedDaysFacts,
        lambda facts, question: Given(
            value=SkippedDayAnswer(day="", emotion="joy", intensity=1, poignancy=1)
        ),
    )
    usual = SkippedDaysAnswer(
        days=(SkippedDayAnswer(day="A day at home.", emotion="joy", intensity=1, poignancy=1),)
    )
    question = Question[SkippedDaysAnswer](
        verb="fill",
        purpose="p",
        who="Ines",
        facts=SkippedDaysFacts(days=(1,), usual=usual),
        fallback=usual,
    )
    with pytest.raises(Failure, match="does not fit: day"):
        standins.answer(question)
