"""What an episode keeps of a session that is over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from simcounsel.engine.aftermath import Talked
from simcounsel.events import ConversationEnded, Decided, Entry, Event, MaterialOpened, Said


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session that is over."""

    number: int
    """From 1."""
    lines: tuple[tuple[Decided | None, Said], ...]
    """Its lines with what was decided before each, None where nothing is known."""
    ended: ConversationEnded
    """How it ended."""
    note: str
    """What was kept of it; '' if nothing was."""
    told: int = 0
    """Facts of a case that the client told in it."""

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The lines as (who, text)."""
        return tuple((said.who, said.text) for _, said in self.lines)


def session_of(number: int, talked: Talked, outside: str) -> Session:
    """What is kept of a conversation."""
    note = next(
        (memory.text for memory in talked.drafts[outside] if memory.origin == "summary"), ""
    )
    return _session(number, talked.events, note)


def sessions_in(entries: Sequence[Entry]) -> Iterator[Session]:
    """What is kept of the conversations in a log, each in a tick of its own; without notes."""
    number = 0
    for _, tick in groupby(entries, key=lambda entry: entry.tick):
        events = [entry.event for entry in tick]
        if any(isinstance(event, ConversationEnded) for event in events):
            number += 1
            yield _session(number, events, "")


def _session(number: int, events: Sequence[Event], note: str) -> Session:
    lines: list[tuple[Decided | None, Said]] = []
    decided: Decided | None = None
    for event in events:
        if isinstance(event, Decided):
            decided = event
        elif isinstance(event, Said):
            lines.append((decided, event))
    (ended,) = (event for event in events if isinstance(event, ConversationEnded))
    told = sum(isinstance(one, MaterialOpened) and one.of == "fact" for one in events)
    return Session(number=number, lines=tuple(lines), ended=ended, note=note, told=told)
