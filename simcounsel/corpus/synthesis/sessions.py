"""A synthesis as it is read: its sessions and strategies, out of its log."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from simcounsel.corpus.synthesis.events import (
    CLASSES,
    Disclosed,
    Drafted,
    Evaluated,
    Extracted,
    Revised,
    SessionEnded,
    StrategyKnown,
    StrategyLearned,
    TickEvent,
    told,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.strategies import Strategies
from simcounsel.events import TickEnded, Warned
from simcounsel.runs.authors import author
from simcounsel.runs.history import History, Kept

CLIENT, COUNSELOR = "client", "counselor"
"""Who speaks in a session, where nobody has a name."""
ENDS = ("extracted", "session_ended", "warned", "tick_ended")
"""Kinds of events with which sessions begin and end."""


@dataclass(frozen=True, kw_only=True)
class SessionLine:
    """A line, with what became of it."""

    event: Disclosed | Drafted
    judged: Evaluated | None = None
    """What the evaluator said of it."""
    revised: Revised | None = None
    """The line that took its place."""

    @property
    def message(self) -> int:
        """Its number in the session, from 1."""
        return self.event.message

    @property
    def who(self) -> str:
        """The part that says it."""
        return CLIENT if isinstance(self.event, Disclosed) else COUNSELOR

    @property
    def text(self) -> str:
        """As it was said: revised, where it was."""
        return (self.revised or self.event).text


@dataclass(frozen=True, kw_only=True)
class WrittenSession:
    """A session as far as it was written."""

    id: str
    """Its name."""
    tick: int
    """Its wave."""
    started: Extracted | None = None
    """None where the log lost its beginning."""
    lines: tuple[SessionLine, ...] = ()
    ended: SessionEnded | None = None
    """None where the log lost its end."""
    learned: tuple[StrategyLearned | StrategyKnown, ...] = ()
    """What the manager made of it."""
    warnings: tuple[Warned, ...] = ()
    """Fallbacks in it."""

    minute = 0
    """There is no clock."""

    @property
    def who(self) -> tuple[str, ...]:
        """On whose behalf models were asked: its own."""
        return (self.id,)

    def followed(self, event: object) -> "WrittenSession":
        """With one more event."""
        match event:
            case Extracted():
                return replace(self, started=event)
            case Disclosed() | Drafted():
                return replace(self, lines=(*self.lines, SessionLine(event=event)))
            case Evaluated() | Revised():
                return replace(self, lines=_amended(self.lines, event))
            case SessionEnded():
                return replace(self, ended=event)
            case StrategyLearned() | StrategyKnown():
                return replace(self, learned=(*self.learned, event))
            case Warned():
                return replace(self, warnings=(*self.warnings, event))
        return self


def _amended(lines: tuple[SessionLine, ...], event: Evaluated | Revised) -> tuple[SessionLine, ...]:
    """Lines of which the last was judged or revised; as they are when that draft is lost."""
    if not lines or lines[-1].message != event.message or lines[-1].who != COUNSELOR:
        return lines
    last = lines[-1]
    if isinstance(event, Evaluated):
        return (*lines[:-1], replace(last, judged=event))
    return (*lines[:-1], replace(last, revised=event))


def sessions_in(events: Iterable[TickEvent]) -> Iterator[WrittenSession]:
    """The sessions of a log, in the order in which they are found; each is yielded when its wave
    has ended, or the events have.
    """
    found: dict[str, WrittenSession] = {}
    for tick, event in events:
        if isinstance(event, TickEnded):
            yield from found.values()
            found = {}
            continue
        name = event.who if isinstance(event, Warned) else getattr(event, "session", None)
        if isinstance(name, str) and name:
            known = found.get(name) or WrittenSession(id=name, tick=tick)
            found[name] = known.followed(event)
    yield from found.values()


class Sessions:
    """What happened in a synthesis, as far as it was written when its log was refreshed."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.log = history.log

    @classmethod
    def of(cls, record: Kept) -> "Sessions":
        """Of a synthesis as it is now. RunError names a damaged line, unless it was opened as
        damaged.
        """
        return cls(History.of(record))

    def all(self) -> Iterator[WrittenSession]:
        """All sessions, in order."""
        return sessions_in(self.log.read(told, (*CLASSES, "warned", "tick_ended")))

    def outline(self) -> Iterator[WrittenSession]:
        """All of them without their lines."""
        return sessions_in(self.log.read(told, ENDS))

    def named(self, name: str) -> WrittenSession | None:
        """The session of that name; None when there is none. Its events begin with its name; what
        was learned of it is at its wave's end.
        """
        mine = list(self.log.read(told, (*CLASSES, "warned"), subject=name))
        if not mine:
            return None
        wave = mine[0][0]
        learned = self.log.read(
            told, ("strategy_learned", "strategy_known"), since_tick=wave, until_tick=wave + 1
        )
        found = sessions_in([*mine, *learned])
        return next((one for one in found if one.id == name), None)

    def strategies(self) -> Strategies:
        """What the supporter carries."""
        found = Strategies()
        for tick, event in self.log.read(told, CLASSES):
            found.observe(tick, event)
        return found

    def authors(self, held: WrittenSession) -> dict[int, str]:
        """Who worded each line as it was said (see `runs.authors`), by the line's number."""
        models = {call.key: call.model for call in self.log.calls(held.tick, held.id)}
        found = {}
        for line in held.lines:
            said = line.revised or line.event
            model = next((models[key] for key in reversed(said.calls) if key in models), "")
            found[line.message] = author(said.source, model)
        return found


def sessions_of(record: SynthesisRecord) -> Iterator[WrittenSession]:
    """The sessions of a synthesis."""
    return Sessions.of(record).all()
