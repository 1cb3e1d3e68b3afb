"""A session in which the client's lines, and how near danger is in each, are written beforehand; the counselor is a real mind and policy."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from simcounsel.agents import speech
from simcounsel.agents.mind import Effects, Scene, Spoken
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.danger.guest import danger_listener
from simcounsel.danger.protection import Guarded
from simcounsel.danger.protection.listener import DangerListener
from simcounsel.engine.aftermath import Talked
from simcounsel.engine.conversation import converse
from simcounsel.engine.talk import Side
from simcounsel.events import (
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Entry,
    Event,
    Judged,
    PracticeEvent,
    Said,
    Transitioned,
)
from simcounsel.llm.question import Ask, Question
from simcounsel.policies import policy_for
from simcounsel.policies.listening import HeardLine
from simcounsel.policies.policy import Policy
from simcounsel.scripted import Script, Scripted
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.vocabulary import Danger, RiskLevel
from simcounsel.specs.world import World
from tests.stage import Alone, scene, switchboard


@dataclass(frozen=True)
class Line:
    """A line of the client."""

    text: str
    level: RiskLevel = "none"
    kind: Danger = "suicide"
    leaves: bool = False
    also: tuple[Danger, ...] = ()


def low(
    text: str = "Some mornings I wish I had not woken up.", kind: Danger = "suicide", **more: Any
) -> Line:
    return Line(text, "low", kind, **more)


def high(
    text: str = "I think about ending it, and I know how.", kind: Danger = "suicide", **more: Any
) -> Line:
    return Line(text, "high", kind, **more)


def imminent(
    text: str = "It is all here in front of me, tonight is the night.",
    kind: Danger = "suicide",
    **more: Any,
) -> Line:
    return Line(text, "imminent", kind, **more)


def risk(level: RiskLevel, *kinds: Danger, **more: Any) -> str:
    """A model's judgment of a line, as it is sent; of suicide if no kind is given."""
    some = (kinds or ("suicide",)) if level != "none" else ()
    return json.dumps({"level": level, "kinds": some, **more})


class Client:
    """Says its lines one after the other, then small ones without danger."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.resident = Alone("Ines").resident
        self.lines = list(lines)
        self.count = 0

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        line = (
            self.lines[self.count]
            if self.count < len(self.lines)
            else Line(f"That is how it was, number {self.count}.")
        )
        self.count += 1
        answer = LineAnswer(
            say=line.text,
            emotion="sadness",
            intensity=5,
            poignancy=5,
            wish="say goodbye" if line.leaves else "go on",
        )
        return Spoken(line=answer, emphasis=None, source="generated")
        yield

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        return Effects()
        yield


class Counselor:
    """Words its lines as every resident does; takes nothing away."""

    def __init__(self, world: World | None = None) -> None:
        self.resident = Alone("Miriam", world).resident

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        return speech.speak(self.resident, scene, view, decision)

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        return Effects()
        yield


def _small_talk(request: Question, draw: Random) -> str:
    """A model's line that fits no step of the protocol; it takes leave where the policy closes."""
    leaves = "say goodbye" if request.facts.move == "close" else "go on"
    say = f"I see, and I was thinking about the window and the tea, number {draw.randrange(10**6)}. Is it so? Is it not?"
    return json.dumps(
        {"say": say, "emotion": "trust", "intensity": 3, "poignancy": 3, "wish": leaves}
    )


class Session:
    """What came of one session: `events`, and the counselor's steps and lines read out of them."""

    def __init__(self, talked: Talked) -> None:
        self.events = talked.events

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def steps(self) -> list[str]:
        return [event.state for event in self.of(Transitioned) if event.protocol == "safety"]

    @property
    def moves(self) -> list[tuple[str, str]]:
        return [(event.policy, event.move) for event in self.of(Decided) if event.who == "Miriam"]

    @property
    def spoken(self) -> list[str]:
        return [event.text for event in self.of(Said) if event.who == "Miriam"]

    @property
    def verdicts(self) -> list[tuple[str, str, str]]:
        return [(event.state, event.verdict, event.by) for event in self.of(Judged)]

    def message_of(self, event: Event) -> int:
        """The number of the line with which an event came about."""
        at = next(number for number, one in enumerate(self.events) if one is event)
        return next(one.message for one in self.events[at:] if isinstance(one, Said))

    @property
    def lines(self) -> list[Said]:
        return self.of(Said)

    @property
    def end(self) -> ConversationEnded:
        return self.of(ConversationEnded)[0]

    def said_at(self, step: str) -> str:
        """The counselor's line with that step."""
        number = [move for _, move in self.moves].index(step)
        return self.spoken[number]

    def entries(self, minute: int = 0) -> tuple[Entry, ...]:
        """As an observer of the log gets them."""
        return tuple(Entry(number, 1, minute, event) for number, event in enumerate(self.events))


def session(*lines: Line, scripts: dict[str, Script] | None = None, **about: Any) -> Session:
    """A talk of Ines with Miriam; about: as `talk_of` takes it."""
    return sessions({"talk": talk_of(*lines, **about)}, scripts)["talk"]


def sessions(
    talks: dict[str, Ask[Talked]], scripts: dict[str, Script] | None = None
) -> dict[str, Session]:
    """Talks that are held all at once. scripts: of the one model, by purpose."""
    models = switchboard(Scripted({"line_counselor": _small_talk, **(scripts or {})}))
    try:
        return {name: Session(outcome.value) for name, outcome in models.ask(talks).items()}
    finally:
        models.close()


def talk_of(
    *lines: Line,
    policy: str | Policy = "socratic",
    max_turns: int = 30,
    language: Any = "en",
    locale: str = "en-GB",
    before: Sequence[Entry] = (),
    seed: int = 1,
    tick: int = 2,
    client_first: bool = False,
    meeting: int = 1,
    listens: SafetySettings | DangerListener | None = None,
    world: World | None = None,
) -> Ask[Talked]:
    """A talk of Ines with Miriam that is still to be held. before: the log of earlier ones.
    listens: how danger is heard; None: as each line has it. world: of the counselor, None: the tiny one.
    """
    client, counselor = Client(lines), Counselor(world)
    for entry in before:
        event: Event = entry.event
        if isinstance(event, ConversationEnded) or (
            isinstance(event, Assessed | Transitioned | Judged | Decided)
            and getattr(event, "who", "Miriam") in ("Miriam", "Ines")
        ):
            if isinstance(event, Decided) and event.who != "Miriam":
                continue
            counselor.resident.observe(entry)
    counselor.resident.meetings["Ines"] = meeting
    guide = (
        policy
        if not isinstance(policy, str)
        else Guarded(policy_for("counselor", policy, language))
    )
    where = replace(scene(), seed=seed, tick=tick, language=language, locale=locale)
    protects = isinstance(guide, Guarded)
    listener: DangerListener | None = Planted.out_of(lines, protects=protects)
    if isinstance(listens, SafetySettings):
        protects = protects and listens.counselors == "protocol"
        listener = danger_listener(listens, protects=protects)
    elif listens is not None:
        listener = listens
    sides = (
        Side(
            mind=counselor,  # type: ignore[arg-type]
            scene=where,
            policy=guide,
            listeners=(listener,) if listener else (),
        ),
        Side(mind=client, scene=where, policy=policy_for("client", None)),  # type: ignore[arg-type]
    )
    order = sides[::-1] if client_first else sides
    started = ConversationStarted(
        chat=f"{tick}:Ines+Miriam",
        who=(order[0].name, order[1].name),
        place="Counseling Center",
        cause="appointment",
        closeness=2,
        probability=1,
    )
    return converse(order[0], order[1], started, max_turns)


@dataclass(frozen=True, kw_only=True)
class Planted(DangerListener):
    """Hears in each line what was planted there."""

    levels: Mapping[str, Line]

    @classmethod
    def out_of(cls, lines: Sequence[Line], *, protects: bool) -> "Planted":
        return cls(levels={line.text: line for line in lines}, protects=protects)

    def hear(self, view: TalkView, line: HeardLine) -> Ask[tuple[PracticeEvent, ...]]:
        said = line.said
        planted = self.levels.get(said.text, Line(said.text))
        if planted.level == "none":
            return ()
        return (
            Assessed(
                who=said.who,
                chat=said.chat,
                message=said.message,
                level=planted.level,
                kinds=tuple(dict.fromkeys((planted.kind, *planted.also))),
                by="words",
                evidence=(planted.text,),
                why="planted",
            ),
        )
        yield
