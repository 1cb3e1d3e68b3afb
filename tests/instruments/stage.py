"""What tests of instruments set up: a measured world, blinded lines, small scales of every shape."""

from functools import cache
from typing import Any

from simcounsel.agents.questionnaire import FormItem
from simcounsel.instruments.facts import BlockFacts, ItemFacts, ProbeFacts
from simcounsel.instruments.material import Material
from simcounsel.instruments.scale import find_scale
from simcounsel.llm.question import Question
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.scale import Scale
from simcounsel.specs.world import World
from tests.stage import changed, three

EVERYTHING: tuple[dict[str, Any], ...] = (
    {"instrument": "phq9", "when": "start"},
    {"instrument": "insomnia_severity", "when": "end"},
    {"instrument": "affect", "when": "every day at 10:15", "who": ["Omar", "Ines"]},
    {"instrument": "session_alliance", "when": "after every session"},
    {"instrument": "motivational_interviewing", "when": "after every session"},
    {"instrument": "persona_change", "when": "end"},
    {"instrument": "persona_consistency", "when": "tick 5"},
    {"instrument": "talk_measures", "when": "end"},
)
LINES = (
    ("Counselor", "Good to meet you, [client]. What has been on your mind?"),
    ("Client", "I lie awake at night and count the hours."),
    ("Counselor", "You lie awake and count the hours. What goes through your mind then?"),
    ("Client", "That my work will suffer."),
)


def items_of(question: Question) -> tuple[FormItem, ...]:
    """The items that a judge is asked about."""
    facts = question.facts
    if isinstance(facts, ProbeFacts):
        return ()
    if isinstance(facts, ItemFacts):
        return (facts.item,)
    assert isinstance(facts, BlockFacts)
    return facts.items


@cache
def measured_world() -> World:
    """The tiny world with three, measured in every way."""
    return changed(three(), measurements=tuple(MeasurementSpec(**one) for one in EVERYTHING))


def seen(**more: Any) -> Material:
    """A short conversation as an observer gets it."""
    return Material(**({"lines": LINES, "chats": ("2:Ines+Miriam",), "blinded": True} | more))


def scale(**more: Any) -> Scale:
    """A small scale: four items from 0 to 4, one of them reversed, two subscales, a sum."""
    fields: dict[str, Any] = {
        "id": "small",
        "name": "Small",
        "measures": "smallness",
        "version": "1",
        "level": "client",
        "scope": "shared",
        "respondent": "observer",
        "sees": "transcript",
        "stands_in_for": None,
        "source": "these tests",
        "licence": "Apache-2.0",
        "instruction": "Rate.",
        "range": {"min": 0, "max": 4},
        "labels": {0: "no", 4: "yes"},
        "direction": "higher_is_better",
        "scoring": "sum",
        "items": [
            {"id": "a", "text": "First.", "subscale": "one"},
            {"id": "b", "text": "Second.", "subscale": "one", "reverse": True},
            {"id": "c", "text": "Third.", "subscale": "two"},
            {"id": "d", "text": "Fourth.", "subscale": "two"},
        ],
        "subscales": [
            {"id": "one", "name": "One"},
            {"id": "two", "name": "Two", "scoring": "mean"},
        ],
    }
    return Scale.model_validate(fields | more)


def shipped(name: str) -> Scale:
    """A scale of ours."""
    return find_scale(name)
