"""`scripted`: answers drawn by the request's own seed, out of its options, schema, examples and
closed lists.

For tests, benchmarks and dry runs: instant, deterministic, without meaning. A dictionary of
functions by purpose replaces the drawn answer where a test, or a planted effect, wants its own.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from simcounsel.agents.facts import (
    AppraisalFacts,
    DayFacts,
    InsightsFacts,
    LineFacts,
    SkippedDaysFacts,
    SlotsFacts,
)
from simcounsel.chance import chance
from simcounsel.clock import time_text
from simcounsel.instruments.coding import CodedTurns, TurnCodes
from simcounsel.instruments.facts import CodeFacts
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.policies.socratic import MoveFacts
from simcounsel.registry import Registry
from simcounsel.scripted.registry import Given, StandIns

Script = Callable[[Question[Any], Random], str]
WORDS = (
    "quiet morning tea letter window walk sleep kitchen phone neighbour garden work worry hour"
    " light door rain table "
).split()
CHINESE = "安静 早晨 茶 信 窗 散步 睡眠 厨房 电话 邻居 花园 工作 担心 时辰 光 门 雨 桌子".split()


@dataclass(frozen=True, kw_only=True)
class ScriptedAnswers:
    """What the scripted model answers to questions of a guest that a draw cannot answer (entry
    points of the group simcounsel.scripted).
    """

    register: Callable[[StandIns], None]


ANSWERS: Registry[ScriptedAnswers] = Registry(
    "simcounsel.scripted", "answers of the scripted model", ScriptedAnswers, {}
)


class Scripted:
    """A ChatModel without a model. scripts: by purpose, the raw text of the answer."""

    name = "scripted"

    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self._scripts = dict(scripts or {})
        self._standins = StandIns(self.name)
        self._standins.add(MoveFacts, _move)
        self._standins.add(DayFacts, _day)
        self._standins.add(CodeFacts, _coded)
        for plugin in ANSWERS.plugins():
            ANSWERS.load(plugin).register(self._standins)

    async def complete(self, request: Question[Any], complaint: str | None) -> Completion:
        """A drawn answer that fits what was asked for."""
        rng = chance(request.seed, request.purpose, complaint or "")
        script = self._scripts.get(request.purpose)
        known = script is None and self._standins.knows(request.facts)
        given = self._standins.answer(request) if known else None
        text = (
            given.text if given else script(request, rng) if script else drawn_answer(request, rng)
        )
        words = len(request.system.split()) + len(request.prompt.split())
        return Completion(
            text=text,
            tokens_in=words,
            tokens_out=len(text.split()),
            source=given.source if given else "generated",
            notes=given.notes if given else {},
        )

    async def close(self) -> None:
        """Nothing to let go of."""


def drawn_answer(request: Question[Any], rng: Random) -> str:
    """An answer that the question allows, drawn."""
    match request.verb:
        case "choose":
            return rng.choice(request.options)
        case "rate":
            low, high = request.scale or (1, 10)
            return str(rng.randint(low, high))
        case "fill" if request.facts and not request.facts.drawn:
            return str(request.fallback.model_dump_json())
        case "fill":
            assert request.schema is not None
            schema = request.schema.model_json_schema()
            return json.dumps(_instance(schema, schema, rng, request, ""), ensure_ascii=False)
        case _:
            return _sentence(rng, request.language)


def _move(facts: MoveFacts, question: Question[str]) -> Given[str]:
    """What is due by rule, else drawn."""
    if facts.due:
        move, why = facts.due
        return Given(value=move, notes={"why": why})
    return Given(
        value=chance(question.seed, "move").choice(question.options), notes={"why": "drawn"}
    )


def _day(facts: DayFacts, question: Question[Any]) -> Given[Any]:
    """Drawn strokes; of a revision at least one that is still to come."""
    assert question.schema is not None
    fields = json.loads(drawn_answer(question, chance(question.seed, question.purpose, "")))
    now = time_text(facts.minute)
    if facts.why is not None and all(stroke["at"] < now for stroke in fields["strokes"]):
        fields["strokes"][-1]["at"] = now
    return Given(value=question.schema.model_validate(fields))


def _coded(facts: CodeFacts, question: Question[Any]) -> Given[CodedTurns]:
    """At most two drawn codes for each turn."""
    rng = chance(question.seed, question.purpose)
    turns = [
        TurnCodes(turn=number, codes=rng.sample(facts.codes, rng.randint(0, 2)))
        for number in range(facts.first, facts.first + len(facts.turns))
    ]
    return Given(value=CodedTurns(turns=turns))


def _sentence(rng: Random, language: str) -> str:
    words = [rng.choice(WORDS) for _ in range(3)]
    number = rng.randrange(10_000)
    if language == "zh":
        one, two, three = (CHINESE[WORDS.index(word)] for word in words)
        return f"我在想{one}和{two}，还有{three}，第{number}号。"
    return (
        f"I was thinking about the {words[0]} and the {words[1]} this {words[2]}, number {number}."
    )


def _instance(
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    rng: Random,
    request: Question[Any],
    name: str,
) -> Any:
    """A value that fits a JSON schema, drawn; texts out of the examples where there are any."""
    if "$ref" in schema:
        return _instance(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root, rng, request, name)
    if "anyOf" in schema:
        return _instance(schema["anyOf"][0], root, rng, request, name)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            return {
                key: _instance(part, root, rng, request, key)
                for key, part in schema["properties"].items()
            }
        case "boolean":
            return rng.random() < 0.5
        case "array" if (closed := _closed(request, name)) is not None:
            return rng.sample(closed, min(len(closed), rng.randint(0, 2)))
        case "array" if "enum" in schema["items"]:
            closed = schema["items"]["enum"]
            return rng.sample(closed, min(len(closed), _length(schema, request, rng)))
        case "array":
            return [
                _instance(schema["items"], root, rng, request, name)
                for _ in range(_length(schema, request, rng))
            ]
        case "integer":
            high = schema.get("maximum", 10)
            if name == "evidence" and isinstance(request.facts, InsightsFacts):
                high = len(request.facts.evidence)
            return rng.randint(
                schema.get("minimum", 1), max(1, min(high, schema.get("maximum", high)))
            )
        case "number":
            low, step = schema.get("minimum", 0), schema.get("multipleOf", 1)
            return low + step * rng.randint(
                0, round((schema.get("maximum", low + step) - low) / step)
            )
    if name == "at":
        return f"{rng.randrange(6, 22):02d}:{rng.choice(('00', '15', '30', '45'))}"
    if isinstance(request.facts, LineFacts) and (drawn := _state_field(name, request.facts, rng)):
        return drawn
    if name == "place" and isinstance(request.facts, SlotsFacts) and request.facts.places:
        return rng.choice([place.name for place in request.facts.places])
    if name == "belief" and isinstance(request.facts, InsightsFacts) and request.facts.beliefs:
        return rng.choice([*request.facts.beliefs])
    if name in ("activity", "do", "seen"):
        return f"spends time with the {rng.choice(WORDS)}"
    return _sentence(rng, request.language)


def _state_field(name: str, facts: LineFacts, rng: Random) -> str | None:
    """What moves a client, drawn: half of the time the other's last line whole, and a part of its
    file; None for other fields.
    """
    match name:
        case "quote":
            heard = facts.heard.text if facts.heard and rng.random() < 0.5 else ""
            return heard[:400] or "-"
        case "touched":
            return rng.choice([*facts.parts]) if facts.parts else "-"
    return None


def _closed(request: Question[Any], name: str) -> Sequence[str] | None:
    """What a list with that name may hold; None when that is not said."""
    return request.facts.closed.get(name) if request.facts else None


def _length(schema: Mapping[str, Any], request: Question[Any], rng: Random) -> int:
    match request.facts:
        case (
            SlotsFacts(minutes=wanted) | AppraisalFacts(news=wanted) | SkippedDaysFacts(days=wanted)
        ):
            return len(wanted)
    low = int(schema.get("minItems", 1))
    return rng.randint(low, min(int(schema.get("maxItems", low)), low + 1))
