"""`scripted:planted=POINTS`: the scripted model with an effect whose size is known, to see whether
the whole chain finds it.

The scripted counselor says one sentence that marks help. A client who remembers that sentence
reports fewer points on every questionnaire than it would have otherwise; nobody else does. So the
effect reaches a report only through a conversation, a memory, a self-report, the log, the tables
and the statistics, each of them the real one.

    scripted:planted=4,spread=2,noise=1.5,draw=7

planted: how many points fewer, on average over clients. spread: how far that differs between
clients (standard deviation, in points; 0 if not given). noise: from one time to the next (standard
deviation, in points; a twentieth of the largest sum if not given). draw: which clients there are,
so to speak: with another number the same names differ otherwise in what is usual for them and in
what help does for them.
"""

import json
import re
from dataclasses import dataclass
from random import Random
from typing import Any

from simcounsel.agents.facts import LineFacts, SelfReportFacts
from simcounsel.agents.questionnaire import FormItem
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.errors import ModelError
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted

FORM = re.compile(
    r"scripted:planted=(?P<points>\d+(?:\.\d+)?)(?:,spread=(?P<spread>\d+(?:\.\d+)?))?"
    r"(?:,noise=(?P<noise>\d+(?:\.\d+)?))?(?:,draw=(?P<draw>\d+))?"
)
MARK = "Let us go through your nights together, one by one, and see what can change."
USUAL, SPREAD, NOISE = 0.62, 0.10, 0.05
"""What a client reports without help: mean, standard deviation between clients, and from one time
to the next; as shares of the largest sum.
"""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """What is planted; all but `draw` in points of a sum."""

    points: float
    spread: float = 0.0
    """Standard deviation of the effect between clients."""
    noise: float | None = None
    """Standard deviation from one time to the next; None: NOISE."""
    draw: int = 0

    def of(self, client: str) -> float:
        """The effect on a client of that name."""
        return self.points + self.spread * chance(self.draw, client, "effect").gauss(0.0, 1.0)


def planted(name: str) -> Scripted:
    """The model of that name. ModelError when it is not of this form."""
    found = FORM.fullmatch(name)
    if not found:
        raise ModelError(
            f"no model {name!r}; a planted effect is written scripted:planted=4 (points of a sum)"
            " or, with what clients differ in, scripted:planted=4,spread=2,noise=1.5,draw=7"
        )
    plant = Plant(
        points=float(found["points"]),
        spread=float(found["spread"] or 0.0),
        noise=float(found["noise"]) if found["noise"] else None,
        draw=int(found["draw"] or 0),
    )
    model = Scripted(
        {"line_counselor": _help, "self_report": lambda question, rng: _report(question, plant)}
    )
    model.name = name
    return model


def _help(question: Question[Any], rng: Random) -> str:
    """The counselor's line: the mark in front of a number, since no line may be said twice; and
    so poignant that it comes to mind before experiences with drawn feelings.
    """
    facts = question.facts
    assert isinstance(facts, LineFacts)
    line = LineAnswer(
        say=f"{MARK} Number {len(facts.lines) + 1}.",
        emotion="trust",
        intensity=8,
        poignancy=10,
        wish="say goodbye" if facts.move == "close" else "go on",
    )
    return str(question.fallback.model_copy(update=line.model_dump()).model_dump_json())


def _report(question: Question[Any], plant: Plant) -> str:
    """Answers that add up to the client's usual sum with noise, lower by its effect if what is sent
    tells of help.
    """
    facts = question.facts
    assert isinstance(facts, SelfReportFacts)
    top = int(sum(item.high - item.low for item in facts.items))
    usual = chance(plant.draw, question.who, "usual").gauss(USUAL, SPREAD)
    spread = NOISE * top if plant.noise is None else plant.noise
    noise = chance(question.seed, "noise").gauss(0.0, spread)
    helped = any(MARK in message["content"] for message in question.messages)
    total = min(0.9, max(0.35, usual)) * top + noise - (plant.of(question.who) if helped else 0.0)
    return json.dumps(
        _shared_out(max(0, min(top, round(total))), facts.items, chance(question.seed, "items"))
    )


def _shared_out(total: int, items: tuple[FormItem, ...], rng: Random) -> dict[str, float]:
    """`total` points over the items, a point at a time to one that is not full yet."""
    points = dict.fromkeys((item.id for item in items), 0)
    room = {item.id: int(item.high - item.low) for item in items}
    for _ in range(total):
        one = rng.choice(sorted(name for name in points if points[name] < room[name]))
        points[one] += 1
    return {item.id: item.low + points[item.id] for item in items}
