"""From events to conversations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as _with

from simcounsel.events import (
    PRACTICE,
    Appraised,
    Assessed,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Entry,
    Memory,
    PracticeEvent,
    Recalled,
    RelationChanged,
    Remembered,
    Said,
    TickEnded,
)
from simcounsel.runs.conversation import (
    COURSE,
    Aftermath,
    Conversation,
    CourseEvent,
    Dated,
    Line,
    dated,
)

OF_WORLD = (
    "said",
    "conversation_started",
    "conversation_ended",
    "decided",
    "recalled",
    "appraised",
    "relation_changed",
    "remembered",
    "tick_ended",
    "assessed",
    "judged",
    "transitioned",
    "noted",
    "retrieved",
    "reasoned",
    "client_shifted",
    "homework_agreed",
    "session_planned",
    "material_opened",
    "session_reviewed",
    "fact_learned",
    "formulated",
    "course_advanced",
)
"""Kinds of events that conversations of a world are made of."""


@dataclass(kw_only=True)
class _Open:
    """A conversation of a world as far as it was read."""

    start: Entry
    started: ConversationStarted
    lines: list[Line] = field(default_factory=list)
    course: list[CourseEvent] = field(default_factory=list)
    ended: ConversationEnded | None = None
    felt: dict[str, Appraised] = field(default_factory=dict)
    relation: dict[str, RelationChanged] = field(default_factory=dict)
    summary: dict[str, Memory] = field(default_factory=dict)
    later: dict[str, list[PracticeEvent]] = field(default_factory=dict)
    decided: Decided | None = None
    recalled: Dated[Recalled] | None = None
    practice: list[PracticeEvent] = field(default_factory=list)

    def observe_own(self, entry: Entry) -> None:
        """Take in an event that names this conversation."""
        match entry.event:
            case Said() as said:
                self._line(entry.seq, said)
            case Decided() as decided:
                self.decided = decided
            case ConversationEnded() as ended:
                self.ended = ended
            case Assessed() as danger:
                self._endanger(danger)
            case event if isinstance(event, COURSE):
                self.course.append(event)
            case event if isinstance(event, PRACTICE):
                own = self.ended is not None and event.who is not None
                (self.later.setdefault(str(event.who), []) if own else self.practice).append(event)

    def observe_beside(self, entry: Entry) -> None:
        """Take in an event of one of the two while they talk, or right after."""
        match entry.event:
            case Recalled() as recalled:
                self.recalled = dated(entry, recalled)
            case Appraised() as felt:
                self.felt[felt.who] = felt
            case RelationChanged() as relation:
                self.relation[relation.who] = relation

    @property
    def parted(self) -> bool:
        """Whether both have taken away what they take away."""
        return set(self.relation) >= set(self.started.who)

    def _line(self, seq: int, said: Said) -> None:
        own = self.decided is not None and self.decided.who == said.who
        line = Line(
            seq=seq,
            event=said,
            decided=self.decided if own else None,
            recalled=self.recalled,
            practice=tuple(self.practice),
        )
        self.lines.append(line)
        self.decided, self.recalled, self.practice = None, None, []

    def _endanger(self, danger: Assessed) -> None:
        for number, line in enumerate(self.lines):
            if line.message == danger.message:
                self.lines[number] = _with(line, danger=danger)

    def closed(self) -> Conversation:
        """The conversation as it is now."""
        return Conversation(
            id=self.started.chat,
            tick=self.start.tick,
            minute=self.start.minute,
            seq=self.start.seq,
            who=self.started.who,
            started=self.started,
            lines=tuple(self.lines),
            course=tuple(self.course),
            ended=self.ended,
            after={
                name: Aftermath(
                    felt=self.felt.get(name),
                    relation=self.relation.get(name),
                    summary=self.summary.get(name),
                    practice=tuple(self.later.get(name, ())),
                )
                for name in self.started.who
            },
        )


class Conversations:
    """The conversations of a world, event by event: while it is run, or as its log is read.

    What somebody recalls, feels and thinks of the other belongs to the conversation that was begun
    last, until both have parted; all else says to which conversation it belongs. When a tick has
    ended, so have its conversations.
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._last: _Open | None = None

    def observe(self, entry: Entry) -> tuple[Conversation, ...]:
        """Take in an event, and return the conversations that are complete with it: those of a
        tick at its end, none otherwise.
        """
        event = entry.event
        match event:
            case TickEnded():
                ended = self.under_way()
                self._open, self._last = {}, None
                return ended
            case ConversationStarted():
                self._last = self._open[event.chat] = _Open(start=entry, started=event)
            case Remembered():
                self._summarize(event)
            case Recalled() | Appraised() | RelationChanged():
                last = self._last
                if last is not None and event.who in last.started.who and not last.parted:
                    last.observe_beside(entry)
            case _:
                chat = getattr(event, "chat", None)
                if isinstance(chat, str) and chat in self._open:
                    self._open[chat].observe_own(entry)
        return ()

    def under_way(self) -> tuple[Conversation, ...]:
        """Those of the present tick, as far as they went, in the order in which they began."""
        return tuple(one.closed() for one in self._open.values())

    def _summarize(self, event: Remembered) -> None:
        chat = event.memory.chat
        if event.memory.origin == "summary" and chat is not None and chat in self._open:
            self._open[chat].summary[event.who] = event.memory


def conversations_in(entries: Iterable[Entry]) -> Iterator[Conversation]:
    """The conversations of a world, in the order in which they began; each is yielded when its tick
    has ended, or the events have.
    """
    fold = Conversations()
    for entry in entries:
        yield from fold.observe(entry)
    yield from fold.under_way()
