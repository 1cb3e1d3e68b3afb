"""Turns between two minds until a stop rule: somebody takes leave, or the turn limit is reached."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from simcounsel.agents.mind import Lived, Mind, Scene
from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.events import (
    PRACTICE,
    Assessed,
    ClientShifted,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Event,
    Foreign,
    Memory,
    PracticeEvent,
    Said,
    as_event,
)
from simcounsel.llm.question import Ask
from simcounsel.policies.policy import Concluding, Holding, Policy
from simcounsel.prompts import phrase
from simcounsel.safety.assessing import assess
from simcounsel.specs.practice import SafetySettings

MORE_WHILE_HELD = 24
"""Lines beyond its limit that a conversation may have while it must not end."""
HELD_FOR = 6
"""So many more lines there are at least after a policy said that it must not end; enough for two
more of the policy's own.
"""

Assess = Callable[[Said, str, tuple[object, ...], str], Ask[Assessed | None]]
"""How near danger is in a client's line, from the line, the line before it, a key for chance and
the language; None: nothing was heard.
"""


def listening(safety: SafetySettings) -> Assess | None:
    """How danger is listened for under these settings; None: not at all. A line in which there is
    not even a word to wonder about leaves nothing in the log.
    """
    if safety.counselors == "nothing":
        return None

    def hear(
        said: Said, before: str, key: tuple[object, ...], language: str
    ) -> Ask[Assessed | None]:
        heard = yield from assess(
            said.text,
            before,
            who=said.who,
            key=key,
            language=language,
            chat=said.chat,
            message=said.message,
            every_line=safety.ask == "every_line",
        )
        return heard if heard.level != "none" or heard.evidence else None

    return hear


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two: a mind, what it knows of the world, and the policy that guides it."""

    mind: Mind
    scene: Scene
    policy: Policy

    @property
    def name(self) -> str:
        """The resident's name."""
        return self.mind.resident.name


@dataclass(frozen=True, kw_only=True)
class Talked:
    """A whole conversation: events in order, and each side's memory drafts by name."""

    events: tuple[Event, ...]
    drafts: dict[str, tuple[Memory, ...]]
    poignancy: dict[str, int]


@dataclass(kw_only=True)
class _Course:
    """A conversation as it goes."""

    started: ConversationStarted
    max_turns: int
    assess: Assess | None = None
    lines: list[TalkLine] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    moves: dict[str, list[tuple[str, str | None]]] = field(default_factory=dict)
    own: dict[str, list[PracticeEvent]] = field(default_factory=dict)
    leaver: str | None = None
    held: bool = False
    limit: int = field(init=False)

    def __post_init__(self) -> None:
        self.limit = self.max_turns

    def hold(self, who: str) -> None:
        """It must not end here: the limit moves on, and whoever takes leave is asked to stay,
        once.
        """
        self.limit = min(
            self.max_turns + MORE_WHILE_HELD, max(self.limit, len(self.lines) + HELD_FOR)
        )
        if self.leaver not in (None, who) and not self.held:
            self.leaver, self.held = None, True

    def wait_for(self, who: str) -> None:
        """It must not end before `who` has spoken, even if they had taken leave and the limit is
        reached.
        """
        self.limit = max(self.limit, len(self.lines) + 1)
        if self.leaver == who:
            self.leaver = None


def converse(
    first: Side,
    second: Side,
    started: ConversationStarted,
    max_turns: int,
    assess: Assess | None = None,
) -> Ask[Talked]:
    """Talk, `first` beginning; then each takes away its own. assess: what is done with each
    client's line after it was said; None: nothing.

    When somebody takes leave the other still answers, and it ends; the last line that the limit
    allows is a leave-taking as well. A policy may hold a conversation that must not end.
    """
    names = (first.name, second.name)
    course = _Course(
        started=started,
        max_turns=max_turns,
        assess=assess,
        moves={name: [] for name in names},
        own={name: [] for name in names},
    )
    events: list[Event] = [started]
    speaker, listener = first, second
    while len(course.lines) < course.limit:
        events += yield from _turn(course, speaker, listener)
        if course.leaver not in (None, speaker.name):
            break
        speaker, listener = listener, speaker
    cause: Literal["goodbye", "limit"] = "goodbye" if course.leaver else "limit"
    events.append(
        ConversationEnded(
            chat=started.chat, cause=cause, by=course.leaver, messages=len(course.lines)
        )
    )
    return (yield from _part(course, first, second, events))


def _turn(course: _Course, speaker: Side, listener: Side) -> Ask[list[Event]]:
    """One line: decide, recall, speak; and what is heard of danger in it."""
    view = _view(course, speaker, listener)
    decision = yield from speaker.policy.decide(view)
    spoken = yield from speaker.mind.speak(speaker.scene, view, decision)
    line, chat = spoken.line, course.started.chat
    said = Said(
        chat=chat,
        message=len(course.lines) + 1,
        who=speaker.name,
        to=listener.name,
        text=line.say,
        emphasis=spoken.emphasis,
        emotion=line.emotion,
        intensity=line.intensity,
        poignancy=line.poignancy,
        source=spoken.source,
        calls=spoken.calls,
        fallback=spoken.fallback,
    )
    decided = Decided(
        who=speaker.name,
        chat=chat,
        policy=decision.policy or speaker.policy.name,
        move=decision.move,
        options=decision.options,
        reason=decision.reason,
    )
    kept = tuple(as_event(event) for event in decision.events)
    lived = tuple(as_event(event) for event in spoken.events)
    course.said.append(said)
    course.own[speaker.name] += (event for event in kept if isinstance(event, PRACTICE))
    course.own[speaker.name] += (event for event in lived if isinstance(event, Foreign))
    if decision.holds:
        course.hold(speaker.name)
    course.moves[speaker.name].append((decision.move, decision.policy))
    course.lines.append(
        TalkLine(who=speaker.name, text=line.say, emphasis=spoken.emphasis, emotion=line.emotion)
    )
    heard = yield from _assess(course, speaker, listener, said)
    if line.wish == "say goodbye" and course.leaver is None:
        course.leaver = speaker.name
    return [*kept, decided, *lived, said, *heard]


def _assess(
    course: _Course, speaker: Side, listener: Side, said: Said
) -> Ask[tuple[Assessed, ...]]:
    """Danger in a client's line. A listener whose policy has to answer it gets another line in any
    case.
    """
    if course.assess is None or speaker.mind.resident.spec.role != "client":
        return ()
    before = course.lines[-2].text if len(course.lines) > 1 else ""
    heard = yield from course.assess(
        said,
        before,
        (speaker.scene.seed, speaker.scene.tick, said.chat, said.message),
        speaker.scene.language,
    )
    if heard is None:
        return ()
    course.own[listener.name].append(heard)
    if isinstance(listener.policy, Holding) and listener.policy.holds(
        _view(course, listener, speaker)
    ):
        course.wait_for(listener.name)
    return (heard,)


def _view(course: _Course, me: Side, other: Side) -> TalkView:
    resident, started = me.mind.resident, course.started
    own, moves = [line for line in course.lines if line.who == me.name], course.moves[me.name]
    return TalkView(
        chat=started.chat,
        me=me.name,
        other=other.name,
        other_role=other.mind.resident.spec.role,
        place=started.place,
        meeting=resident.meetings.get(other.name, 0) + 1,
        appointment=started.cause == "appointment",
        lines=tuple(course.lines),
        moves=tuple(move for move, _ in moves),
        deciders=tuple(decider for _, decider in moves),
        turns_left=course.limit - len(course.lines),
        most_left=max(course.limit, course.max_turns + MORE_WHILE_HELD) - len(course.lines),
        parting=course.leaver is not None,
        closeness=resident.close_to(other.name),
        emotion=own[-1].emotion if own else resident.emotion,
        key=(me.scene.seed, me.scene.tick, started.chat),
        minute=me.scene.minute,
        start=me.scene.start,
        language=me.scene.language,
        locale=me.scene.locale,
        guards=tuple(getattr(resident.persona, "coping_strategies", ())),
        kept=tuple(resident.practice.get(other.name, ())),
        own=tuple(course.own[me.name]),
    )


def _part(course: _Course, first: Side, second: Side, events: list[Event]) -> Ask[Talked]:
    """Each side's memories of the lines, its summary and its new relationship score, and what its
    policy keeps.
    """
    drafts: dict[str, tuple[Memory, ...]] = {}
    poignancy: dict[str, int] = {}
    for me, other in ((first, second), (second, first)):
        lived: Lived = yield from me.mind.take_away(me.scene, _view(course, me, other))
        events += map(as_event, lived.events)
        drafts[me.name] = (
            *(_line_memory(said, course.started.place, other.name) for said in course.said),
            *lived.drafts,
        )
        poignancy[me.name] = max((m.poignancy or 0 for m in lived.drafts), default=0)
        if isinstance(me.policy, Concluding):
            kept = yield from me.policy.conclude(_view(course, me, other))
            events += map(as_event, kept)
            drafts[me.name] += tuple(
                _insight_memory(event, me, other.name)
                for event in kept
                if isinstance(event, ClientShifted) and event.insight is not None
            )
    return Talked(events=tuple(events), drafts=drafts, poignancy=poignancy)


def _insight_memory(event: ClientShifted, me: Side, other: str) -> Memory:
    """What became clear to a client in a conversation stays as a thought."""
    return Memory(
        id="",
        type="thought",
        text=phrase(
            "client_words",
            "since",
            me.scene.language,
            other=other,
            me=event.who,
            insight=event.insight,
        ),
        emotion=me.mind.resident.emotion,
        intensity=5,
        poignancy=8,
        company=(other,),
        chat=event.chat,
        origin="insight",
    )


def _line_memory(said: Said, place: str, other: str) -> Memory:
    return Memory(
        id="",
        type="chat",
        text=f"{said.who} said to {said.to}: “{said.text}”",
        emotion=said.emotion,
        intensity=said.intensity,
        poignancy=said.poignancy,
        place=place,
        company=(other,),
        chat=said.chat,
        message=said.message,
        origin="talk",
    )
