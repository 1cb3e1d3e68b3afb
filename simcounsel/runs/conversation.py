"""Conversations as they were held."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from simcounsel.events import (
    Appraised,
    Assessed,
    ConversationEnded,
    ConversationStarted,
    CourseAdvanced,
    Decided,
    Entry,
    Event,
    FactLearned,
    Formulated,
    MaterialOpened,
    Memory,
    PracticeEvent,
    Recalled,
    RelationChanged,
    Said,
    SessionPlanned,
    SessionReviewed,
)

CourseEvent = (
    SessionPlanned | MaterialOpened | SessionReviewed | FactLearned | Formulated | CourseAdvanced
)
COURSE = (SessionPlanned, MaterialOpened, SessionReviewed, FactLearned, Formulated, CourseAdvanced)
E = TypeVar("E", bound=Event, covariant=True)
F = TypeVar("F", bound=Event)


@dataclass(frozen=True, kw_only=True)
class Dated(Generic[E]):
    """An event of a certain kind, with its place in the log."""

    seq: int
    tick: int
    minute: int
    event: E


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line, with what was behind it."""

    seq: int
    """Of its event in the log."""
    event: Said
    decided: Decided | None = None
    """The move that was chosen for it."""
    recalled: Dated[Recalled] | None = None
    """What came to the speaker's mind before it."""
    practice: tuple[PracticeEvent, ...] = ()
    """What policies wrote on the way to it, in order."""
    danger: Assessed | None = None
    """Danger that was heard in it."""

    @property
    def message(self) -> int:
        """Its number in the conversation, from 1."""
        return self.event.message

    @property
    def who(self) -> str:
        """The speaker's name."""
        return self.event.who

    @property
    def text(self) -> str:
        """As it was said."""
        return self.event.text


@dataclass(frozen=True, kw_only=True)
class Aftermath:
    """What one of the two took away."""

    felt: Appraised | None = None
    """How the conversation felt; `about` is the summary in their words."""
    relation: RelationChanged | None = None
    summary: Memory | None = None
    """The memory that was made of it."""
    practice: tuple[PracticeEvent, ...] = ()
    """What their policy wrote once it was over."""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A conversation of two residents."""

    id: str
    """`TICK:NAME+NAME`."""
    tick: int
    minute: int
    seq: int
    """Of the event that it began with."""
    who: tuple[str, str]
    """The two, in the order in which they were named."""
    started: ConversationStarted
    lines: tuple[Line, ...] = ()
    course: tuple[CourseEvent, ...] = ()
    """What a counselor planned and kept of a session in a course of therapy."""
    ended: ConversationEnded | None = None
    """None while it goes on, or where the log lost its end."""
    after: Mapping[str, Aftermath] = field(default_factory=dict)
    """By name."""


def dated(entry: Entry, event: F) -> Dated[F]:
    """An entry's event with its place in the log."""
    return Dated(seq=entry.seq, tick=entry.tick, minute=entry.minute, event=event)
