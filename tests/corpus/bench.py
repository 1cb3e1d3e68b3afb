"""What the tests of a synthesis set up over and over: settings, scripted roles, a workshop whose requests are kept."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from simcounsel.corpus.disclosure import DISCLOSURES
from simcounsel.corpus.synthesis.events import QUALITIES, SynthesisEvent, own
from simcounsel.corpus.synthesis.facts import SeekFacts
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings import ROLES, Synthesis, SynthesisModels
from simcounsel.corpus.synthesis.situations import Situation
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.events import Warned
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.models import ChatModel
from simcounsel.llm.outage import Patience
from simcounsel.llm.question import Question
from simcounsel.llm.switchboard import Switchboard
from simcounsel.scripted import Script
from tests.stage import Listening

E = TypeVar("E", bound=SynthesisEvent | Warned)
SECRET = "I hid the letters under the stairs."
SITUATION = (
    "I am a ferryman of fifty. Since May I cannot sleep. I feel hollow. As a boy I was left alone on the island. "
    "I would like to rest. What could I try?"
)
PARTS = ("character", "plight", "plight", "plight", "demand", "demand")


def settings(count: int = 2, **more: Any) -> Synthesis:
    """A synthesis of `count` situations, the scripted model in all roles, waves of two."""
    situations = tuple(
        Situation(id=f"seed-{n}", text=SITUATION, theme="sleep") for n in range(1, count + 1)
    )
    fields: dict[str, Any] = {
        "situations": situations,
        "models": SynthesisModels(default="scripted"),
        "wave": 2,
        "turns": 6,
        "fewest_turns": 3,
    }
    return Synthesis(**(fields | more))


def file_of(*texts: str, **more: Any) -> str:
    """An extractor's answer: six texts, a stage each."""
    facts = [
        {"of": of, "stage": stage, "text": text, "invented": False}
        for of, stage, text in zip(PARTS, DISCLOSURES, texts, strict=True)
    ]
    return json.dumps({"theme": "sleep", "facts": facts} | more)


def tells(request: Question, draw: Random) -> str:
    """A seeker that tells the first fact that it may, word for word."""
    assert isinstance(request.facts, SeekFacts)
    offered = request.facts.offered
    said = offered[0].text if offered else f"I am quiet for a while, {draw.randrange(10**6)}."
    return json.dumps({"line": said, "facts": [offered[0].id] if offered else []})


def asks(request: Question, draw: Random) -> str:
    """A supporter with a line of its own each time."""
    return json.dumps(
        {
            "reasoning": "They tell it slowly; I let them.",
            "stage": "listening",
            "skill": "open question",
            "strategies": [],
            "line": f"What was it like for you, number {draw.randrange(10**6)}?",
        }
    )


def judges(
    revise: bool = False,
    advice: str = "Stay with the feeling a little longer.",
    go_on: bool = True,
    **ratings: int,
) -> Script:
    """An evaluator that always says the same."""
    fields = {
        **dict.fromkeys(QUALITIES, 7),
        **ratings,
        "revise": revise,
        "advice": advice if revise else "",
        "go_on": go_on,
    }
    return lambda request, draw: json.dumps(fields)


def teaches(*strategies: str) -> Script:
    """A manager that always says the same."""
    return lambda request, draw: json.dumps({"strategies": list(strategies)})


def roles(**scripts: Script) -> dict[str, Script]:
    """Scripts of a well-behaved six, some replaced."""
    texts = [f"{part}." for part in SITUATION.rstrip("?").split(". ")]
    usual: dict[str, Script] = {
        "extract": lambda request, draw: file_of(*texts[:5], "What could I try?"),
        "seek": tells,
        "support": asks,
        "evaluate": judges(),
        "correct": lambda request, draw: (
            f"You feel hollow, you say. Number {draw.randrange(10**6)}."
        ),
        "distil": teaches("Stay with the feeling."),
    }
    return usual | scripts


def board(model: ChatModel | Mapping[str, ChatModel], **kind: Any) -> Switchboard:
    """A model for all roles, or one for each."""
    each = model if isinstance(model, Mapping) else dict.fromkeys(ROLES, model)
    return Switchboard(each, HashEmbeddings(), **({"patience": Patience(wait_s=0)} | kind))


def written(
    out: Path,
    about: Synthesis | SynthesisRecord | None = None,
    model: ChatModel | None = None,
    on_line: Callable[[SynthesisEvent], None] | None = None,
    waves: int | None = None,
    in_flight: int = 64,
    **kind: Any,
) -> tuple[SynthesisRecord, Listening]:
    """A synthesis with scripted roles, and what they were asked."""
    listening = model or Listening(roles())
    with Workshop(
        about or settings(),
        out=out,
        models=board(listening, in_flight=in_flight),
        on_line=on_line,
        **kind,
    ) as workshop:
        return workshop.run(waves), listening


def happened(run: SynthesisRecord, *kinds: type[E]) -> list[E]:
    """The events of these kinds, in order."""
    events = (own(entry.event) for entry in run.entries())
    return [event for event in events if isinstance(event, kinds)]
