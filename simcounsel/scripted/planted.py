"""`scripted:planted=POINTS`: the scripted model with an effect whose size is known, to see whether
the whole chain finds it.

The scripted counselor says one sentence that marks help. A client who remembers that sentence
reports fewer points on every questionnaire than it would have otherwise; nobody else does. So the
effect reaches a report only through a conversation, a memory, a self-report, the log, the tables
and the statistics, each of them the real one.

    scripted:planted=4,friend=2,spread=2,noise=1.5,draw=7

planted: how many points fewer, on average over clients. friend: how many fewer for who remembers a
sentence of a layperson's, which is another one; none if not given. spread: how far each differs
between clients (standard deviation, in points; 0 if not given). noise: from one time to the next
(standard deviation, in points; a twentieth of the largest sum if not given). draw: which clients
there are, so to speak: with another number the same names differ otherwise in what is usual for
them and in what help does for them. only: a word without which in the questionnaire's prompt there
is no effect, so that it is an artifact of how the prompt is made (`only=Habits`).
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
from simcounsel.scripted import Script, Scripted

FORM = re.compile(
    r"scripted:planted=(?P<points>\d+(?:\.\d+)?)(?:,friend=(?P<friend>\d+(?:\.\d+)?))?"
    r"(?:,spread=(?P<spread>\d+(?:\.\d+)?))?"
    r"(?:,noise=(?P<noise>\d+(?:\.\d+)?))?(?:,draw=(?P<draw>\d+))?(?:,only=(?P<only>\w+))?"
)
MARK = "Let us go through your nights together, one by one, and see what can change."
FRIENDS_MARK = "Come with me to the market on Saturday, we can talk on the way."
USUAL, SPREAD, NOISE = 0.62, 0.10, 0.05
"""What a client reports without help: mean, standard deviation between clients, and from one time
to the next; as shares of the largest sum.
"""


@dataclass(frozen=True, kw_only=True)
class Plant:
    """What is planted; all but `draw` in points of a sum."""

    points: float
    friend: float = 0.0
    """The effect of a friend."""
    spread: float = 0.0
    """Standard deviation of each effect between clients."""
    noise: float | None = None
    """Standard deviation from one time to the next; None: NOISE."""
    draw: int = 0
    only: str = ""
    """A word that the prompt must have for any effect."""

    def of(self, client: str) -> float:
        """The effect on a client of that name."""
        return self.points + self.spread * chance(self.draw, client, "effect").gauss(0.0, 1.0)

    def of_friend(self, client: str) -> float:
        """The effect of a friend on that client; 0 where none is planted."""
        if not self.friend:
            return 0.0
        return self.friend + self.spread * chance(self.draw, client, "friend").gauss(0.0, 1.0)


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
        friend=float(found["friend"] or 0.0),
        spread=float(found["spread"] or 0.0),
        noise=float(found["noise"]) if found["noise"] else None,
        draw=int(found["draw"] or 0),
        only=found["only"] or "",
    )
    scripts: dict[str, Script] = {
        "line_counselor": lambda question, rng: _help(question, MARK),
        "self_report": lambda question, rng: _report(question, plant),
    }
    if plant.friend:
        scripts["line_layperson"] = lambda question, rng: _help(question, FRIENDS_MARK)
    model = Scripted(scripts)
    model.name = name
    return model


def _help(question: Question[Any], mark: str) -> str:
    """The line of who helps: the mark in front of a number, since no line may be said twice; and
    so poignant that it comes to mind before experiences with drawn feelings.
    """
    facts = question.facts
    assert isinstance(facts, LineFacts)
    line = LineAnswer(
        say=f"{mark} Number {len(facts.lines) + 1}.",
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
    told = "\n".join(message["content"] for message in question.messages)
    helped = (plant.of(question.who) if MARK in told else 0.0) + (
        plant.of_friend(question.who) if FRIENDS_MARK in told else 0.0
    )
    helped = helped if plant.only in told else 0.0
    total = min(0.9, max(0.35, usual)) * top + noise - helped
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
