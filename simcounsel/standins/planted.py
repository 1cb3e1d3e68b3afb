"""`scripted:planted=POINTS`: the scripted model with an effect whose size is known, to see whether
the whole chain finds it.

The scripted counselor says one sentence that marks help. A client who remembers that sentence
reports POINTS fewer on every questionnaire than it would have otherwise; nobody else does. So the
effect reaches a report only through a conversation, a memory, a self-report, the log, the tables
and the statistics, each of them the real one.
"""

import json
import re
from random import Random
from typing import Any

from simcounsel.agents.facts import LineFacts, SelfReportFacts
from simcounsel.agents.questionnaire import FormItem
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.errors import ModelError
from simcounsel.llm.question import Question
from simcounsel.standins.scripted import Scripted

FORM = re.compile(r"scripted:planted=(\d+)")
MARK = "Let us go through your nights together, one by one, and see what can change."
USUAL, SPREAD, NOISE = 0.62, 0.10, 0.05
"""What a client reports without help: mean, standard deviation between clients and seeds, and from
one time to the next; as shares of the largest sum.
"""


def planted(name: str) -> Scripted:
    """The model of that name. ModelError when it is not of this form."""
    found = FORM.fullmatch(name)
    if not found:
        raise ModelError(
            f"no model {name!r}; a planted effect is written scripted:planted=4, points of a sum"
        )
    points = int(found.group(1))
    model = Scripted(
        {"line_counselor": _help, "self_report": lambda question, rng: _report(question, points)}
    )
    model.name = name
    return model


def _help(question: Question[Any], rng: Random) -> str:
    """The counselor's line: the mark in front of a number, since no line may be said twice; and
    so poignant that it comes to mind before what is lived with drawn feelings.
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


def _report(question: Question[Any], points: int) -> str:
    """Answers that add up to the client's usual sum with noise, `points` lower if what is sent
    tells of help.
    """
    facts = question.facts
    assert isinstance(facts, SelfReportFacts)
    top = sum(item.high - item.low for item in facts.items)
    usual = chance(facts.seed, question.who, "usual").gauss(USUAL, SPREAD)
    noise = chance(question.seed, "noise").gauss(0.0, NOISE)
    helped = any(MARK in message["content"] for message in question.messages)
    total = round(min(0.95, max(0.3, usual + noise)) * top) - (points if helped else 0)
    return json.dumps(
        _shared_out(max(0, min(int(top), total)), facts.items, chance(question.seed, "items"))
    )


def _shared_out(total: int, items: tuple[FormItem, ...], rng: Random) -> dict[str, float]:
    """`total` points over the items, a point at a time to one that is not full yet."""
    points = dict.fromkeys((item.id for item in items), 0)
    room = {item.id: int(item.high - item.low) for item in items}
    for _ in range(total):
        one = rng.choice(sorted(name for name in points if points[name] < room[name]))
        points[one] += 1
    return {item.id: item.low + points[item.id] for item in items}
