"""What only a client knows about itself reaches nobody else, except through what was said."""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

import pytest
from pydantic import BaseModel

from simcounsel.events import Reflected, Remembered, Said
from simcounsel.llm.question import Facts, Question
from simcounsel.runs.run import Run
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.world import World
from tests.stage import Listening, changed, happened, live, switchboard, three

TOLD = "xtoldx the harbour light"


class Planted:
    """A unique sentence for each private text of a persona."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}

    def secret(self, field: str) -> str:
        word = f"xsecret{len(self.secrets)}x"
        self.secrets[word] = field
        return word

    def mark(self, value: Any, field: str) -> Any:
        """The value with a secret in each text in it; times, closed lists and numbers stay."""
        if isinstance(value, BaseModel):
            kept = {
                "at",
                "since",
                "until",
                "kind",
                "place",
                "emotion",
                "intensity",
                "stage",
                "answers",
                "pronouns",
                "role",
                "age",
            }
            return value.model_copy(
                update={
                    key: self.mark(getattr(value, key), f"{field}.{key}")
                    for key in type(value).model_fields
                    if key not in kept
                }
            )
        if isinstance(value, tuple):
            return tuple(self.mark(item, field) for item in value)
        return f"{value} {self.secret(field)}" if isinstance(value, str) else value


def planted() -> tuple[World, Planted]:
    """The tiny world with three, every private text of Ines's file marked; what she does is seen, so routines and days are not."""
    world, plant = three(), Planted()
    residents = []
    for resident in world.residents:
        if isinstance(resident.persona, ClientPersona):
            hidden = [
                f
                for f in type(resident.persona).model_fields
                if f not in ("name", "role", "theme", "pronouns", "age", "routines", "days")
            ]
            persona = resident.persona.model_copy(
                update={f: plant.mark(getattr(resident.persona, f), f) for f in hidden}
            )
            residents.append(resident.model_copy(update={"persona": persona}))
        else:
            residents.append(resident)
    return changed(world, residents=tuple(residents)), plant


def leaks(plant: Planted) -> dict[str, Any]:
    """A client whose inner answers are full of what it reads in its own prompt, and who says one thing aloud."""

    def own(request: Question) -> str:
        return " ".join(sorted(secrets_in(request.system + request.prompt)))[:300] or "xsecret0x"

    def told(request: Question, draw: Random) -> str:
        return json.dumps(
            {
                "say": f"It is about {TOLD}, and that is number {draw.randrange(10**6)}.",
                "emotion": "fear",
                "intensity": 7,
                "poignancy": 8,
                "wish": "go on",
            }
        )

    def for_ines(answer: Any) -> Any:
        return lambda request, draw: (
            json.dumps(answer(request)) if request.who == "Ines" else PLAIN[request.purpose]
        )

    feeling = {"emotion": "fear", "intensity": 8, "poignancy": 9}
    return {
        "line_client": told,
        "persona": for_ines(lambda r: {"characteristic": own(r), "recent_feeling": own(r)}),
        "questions": for_ines(lambda r: {"questions": [own(r)]}),
        "insights": for_ines(
            lambda r: {"insights": [{"text": own(r), "evidence": [1], **feeling}]}
        ),
        "summarize": for_ines(lambda r: {"summary": own(r), "closeness": "closer", **feeling}),
        "plan_day": for_ines(
            lambda r: {"strokes": [{"at": f"{8 + n:02d}:00", "do": own(r)[:150]} for n in range(5)]}
        ),
    }


PLAIN = {
    "persona": json.dumps(
        {"characteristic": "steady and quiet", "recent_feeling": "a little moved"}
    ),
    "questions": json.dumps({"questions": ["What matters here?"]}),
    "insights": json.dumps(
        {
            "insights": [
                {
                    "text": "It matters to listen.",
                    "evidence": [1],
                    "emotion": "trust",
                    "intensity": 4,
                    "poignancy": 5,
                }
            ]
        }
    ),
    "summarize": json.dumps(
        {
            "summary": "They talked quietly for a while.",
            "closeness": "closer",
            "emotion": "trust",
            "intensity": 4,
            "poignancy": 8,
        }
    ),
    "plan_day": json.dumps(
        {"strokes": [{"at": f"{8 + n:02d}:00", "do": "works quietly"} for n in range(5)]}
    ),
}


def texts(value: Any) -> Iterator[str]:
    """Every text inside a value, to any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, BaseModel):
        yield from texts(dict(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from texts(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts(key)
            yield from texts(inner)
    elif isinstance(value, Iterable):
        for inner in value:
            yield from texts(inner)
    elif callable(value) and not isinstance(value, type):
        for cell in getattr(value, "__closure__", None) or ():
            if not hasattr(cell.cell_contents, "memory"):
                yield from texts(cell.cell_contents)


def sent(request: Question) -> str:
    """All that a model could get to see of a request."""
    return "\n".join(
        texts(
            [
                request.system,
                request.prompt,
                request.options,
                request.texts,
                request.examples,
                request.facts,
                request.fallback,
                request.check,
            ]
        )
    )


def secrets_in(text: str) -> set[str]:
    """The planted words in a text."""
    return set(re.findall(r"xsecret\d+x", text))


@pytest.fixture(scope="module")
def spied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, list[Question], Planted]:
    world, plant = planted()
    spy = Listening(leaks(plant))
    run = live(tmp_path_factory.mktemp("secrets"), world, models=switchboard(spy))
    return run, spy.requests, plant


def test_the_search_finds_what_it_looks_for(spied: tuple[Run, list[Question], Planted]) -> None:
    run, requests, plant = spied
    own = set().union(*(secrets_in(sent(request)) for request in requests if request.who == "Ines"))
    unseen = {field for word, field in plant.secrets.items() if word not in own}
    # of the file, only what no model is asked with stays out of Ines's own prompts
    assert unseen <= {"people.note"}
    assert len(plant.secrets) > 200
    assert any(
        "xsecret" in event.memory.text
        for event in happened(run, Remembered)
        if event.who == "Ines" and event.memory.origin == "summary"
    )
    assert any(
        "xsecret" in insight.text
        for event in happened(run, Reflected)
        if event.who == "Ines"
        for insight in event.insights
    )


def test_no_secret_reaches_anybody_else(spied: tuple[Run, list[Question], Planted]) -> None:
    _, requests, plant = spied
    others = [request for request in requests if request.who not in ("Ines", "everyone")]
    assert {request.who for request in others} == {"Miriam", "Omar"}
    assert {
        "line_counselor",
        "line_layperson",
        "move",
        "summarize",
        "insights",
        "persona",
        "plan_day",
        "plan_slots",
        "appraise",
    } <= {request.purpose for request in others}
    assert {
        (r.who, r.purpose, plant.secrets[word]) for r in others for word in secrets_in(sent(r))
    } == set()


def test_what_was_said_is_heard(spied: tuple[Run, list[Question], Planted]) -> None:
    run, requests, _ = spied
    assert all(TOLD in said.text for said in happened(run, Said) if said.who == "Ines")
    for who, purpose in (
        ("Miriam", "line_counselor"),
        ("Miriam", "move"),
        ("Miriam", "summarize"),
        ("Omar", "line_layperson"),
        ("Omar", "summarize"),
    ):
        assert any(
            TOLD in request.prompt
            for request in requests
            if (request.who, request.purpose) == (who, purpose)
        ), (who, purpose)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Told(Facts):
    """Facts with something deep within."""

    known: Mapping[str, list[tuple[str, str]]]


def test_a_leak_would_be_found() -> None:
    secret = "xsecret7x"
    hidden = [
        Question(
            verb="write",
            purpose="p",
            who="Miriam",
            facts=Told(known={"b": [("c", secret)]}),
            fallback=None,
        ),
        Question(verb="write", purpose="p", who="Miriam", fallback=(secret,)),
        Question(
            verb="write",
            purpose="p",
            who="Miriam",
            check=lambda value: secret + str(value),
            fallback=None,
        ),
    ]
    assert all(secrets_in(sent(request)) == {secret} for request in hidden)


def test_nobody_else_remembers_a_secret(spied: tuple[Run, list[Question], Planted]) -> None:
    run, _, _ = spied
    theirs = [event.memory.text for event in happened(run, Remembered) if event.who != "Ines"]
    assert len(theirs) > 20
    assert not any(secrets_in(text) for text in theirs)
