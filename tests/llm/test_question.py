"""What a question sends, and the key under which its reply is recorded."""

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, create_model

from simcounsel.llm.question import Example, Facts, Question, Reply, embedding, traced
from simcounsel.llm.schemas import Limits, exactly, schema_of, schema_text
from tests.each import each
from tests.stage import ROOT


class Day(BaseModel):
    mood: str


@dataclass(frozen=True, kw_only=True)
class NightFacts(Facts):
    slept: float
    """Hours."""
    dreams: tuple[str, ...] = ()


ASKED = Question(
    verb="fill",
    purpose="day",
    who="Ines",
    system="You are Ines.",
    prompt="How was it?",
    schema=Day,
    examples=tuple(Example(text=f"Line {n}.") for n in range(8)),
    facts=NightFacts(slept=5.5),
    seed=3,
    fallback=None,
)


@each(
    "changed",
    [
        {"system": "You are Walter."},
        {"prompt": "How is it?"},
        {"talk": (("user", "Hello."),)},
        {"examples": (Example(text="Another line."), *ASKED.examples[1:])},
        {"examples": (*ASKED.examples[:7], Example(text="The last is for stand-ins alone."))},
        {"facts": NightFacts(slept=5.0)},
        {"facts": NightFacts(slept=5.5, dreams=("of water",))},
        {"temperature": 0.0},
        {"max_tokens": 10},
        {"seed": 4},
        {"purpose": "night"},
    ],
)
def test_whatever_can_reach_the_answer_is_in_the_key(changed: dict[str, object]) -> None:
    assert replace(ASKED, **changed).key != ASKED.key  # type: ignore[arg-type]


def test_a_schema_of_the_same_name_is_another_question() -> None:
    other = create_model("Day", mood=(str, ...), hours=(int, ...))
    assert replace(ASKED, schema=other).key != ASKED.key


def test_what_cannot_reach_the_answer_is_not_in_the_key() -> None:
    assert replace(ASKED, fallback=Day(mood="calm"), check=lambda day: None).key == ASKED.key


@pytest.mark.slow
def test_the_key_is_the_same_in_another_process() -> None:
    """Of which strings have other hashes."""
    code = "from tests.llm.test_question import ASKED; print(hash('Ines'), ASKED.key)"
    for seed in ("0", "4711"):
        told = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        assert told[1] == ASKED.key
        if told[0] != str(hash("Ines")):
            return  # else ours is by chance that seed
    raise AssertionError("hashes were the same in both")


def test_half_a_character_has_a_key_too() -> None:
    assert replace(ASKED, prompt="\ud83d").key != replace(ASKED, prompt="\ud83e").key


def test_facts_are_data_only() -> None:
    with pytest.raises(TypeError, match="facts are data only"):
        _ = replace(ASKED, facts=NightFacts(slept=object())).key  # type: ignore[arg-type]


def test_messages_hold_no_example_and_the_schema_where_it_does_not_go_beside_them() -> None:
    system, user = ASKED.messages
    assert '"mood"' not in system["content"]
    assert user == {"role": "user", "content": "How was it?"}
    with_schema, same = ASKED.messages_with_schema
    assert with_schema["content"].startswith(system["content"]) and same == user
    assert with_schema["content"].count('"mood"') == 2  # as a property and among the required ones
    assert not any(one.text in with_schema["content"] for one in ASKED.examples)
    bare = replace(ASKED, system="")
    assert [one["role"] for one in bare.messages_with_schema] == ["system", "user"]


def test_vectors_do_not_depend_on_who_asks() -> None:
    assert embedding("remember", "Ines", ("a",)).key == embedding("remember", "Omar", ("a",)).key
    assert embedding("remember", "Ines", ("a",)).key != embedding("remember", "Ines", ("b",)).key


def test_an_event_is_traced_to_all_its_replies() -> None:
    one, two = Reply(value=1, call="a"), Reply(value=2, call="b", source="fallback")
    assert traced(one, two, one) == {"calls": ("a", "b"), "fallback": True}
    assert traced(one) == {"calls": ("a",), "fallback": False}


class Slot(BaseModel):
    place: Annotated[str, Field(min_length=1, description="where")]
    at: Annotated[str, Field(pattern=r"^\d\d:\d\d$")] = "00:00"


class Plan(BaseModel):
    slots: list[Slot]


@dataclass(frozen=True, kw_only=True)
class PlanFacts(Facts):
    places: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        """Two slots, at one of the places."""
        return {"slots": exactly("ab"), "slots.place": {"enum": [*self.places]}, "slots.at": None}


def test_what_only_the_facts_know_narrows_the_schema_that_is_sent() -> None:
    facts = PlanFacts(places=("Hall", "Garden"))
    planned = replace(ASKED, schema=Plan, facts=facts)
    slots = planned.sent_schema["properties"]["slots"]
    assert (slots["minItems"], slots["maxItems"]) == (2, 2)
    slot = planned.sent_schema["$defs"]["Slot"]
    assert slot["properties"] == {
        "place": {"type": "string", "description": "where", "enum": ["Hall", "Garden"]}
    }
    assert (slot["required"], slot["additionalProperties"]) == (["place"], False)
    assert "Hall" not in planned.messages_with_schema[0]["content"], "as the prompt says it"
    assert schema_of(Plan)["$defs"]["Slot"]["properties"]["at"]["pattern"] == r"^\d\d:\d\d$"
    assert replace(planned, facts=PlanFacts(places=("Hall",))).key != planned.key


def test_a_limit_of_a_field_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        _ = replace(ASKED, facts=PlanFacts(places=("Hall",))).sent_schema


def test_a_schema_is_sent_without_titles_and_means_the_same() -> None:
    class Titled(BaseModel):
        title: str
        inner: list[Day]

    class Outer(BaseModel):
        rows: list[Titled]

    sent = schema_of(Outer)
    assert set(sent["$defs"]["Titled"]["properties"]) == {"title", "inner"}
    assert '"title"' not in schema_text(Day)
    assert schema_text(Outer).count('"title"') == 2  # the field, and that it is required
