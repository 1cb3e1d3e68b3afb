"""What happens in the tick that is running, before it is complete: events, numbered, and
memories to be laid down.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from simcounsel.agents.mind import Effects
from simcounsel.events import Entry, Event, Memory, ParameterLeftOut, Warned, as_event
from simcounsel.llm.driving import LeftOut, Outcome


class Warnings:
    """The events that warn of what came of asking."""

    def __init__(self) -> None:
        self._known: set[LeftOut] = set()

    def observe(self, entry: Entry) -> None:
        """Take in what the log already holds."""
        if isinstance(entry.event, ParameterLeftOut):
            self._known.add(LeftOut(model=entry.event.model, parameter=entry.event.parameter))

    def of(self, outcome: Outcome[Any]) -> Iterator[Event]:
        """Which answers could not be used; and what a model does not take, once in a run."""
        for one in outcome.left_out:
            if one not in self._known:
                self._known.add(one)
                yield ParameterLeftOut(model=one.model, parameter=one.parameter)
        for trouble in outcome.troubles:
            yield Warned(who=trouble.who, purpose=trouble.purpose, cause=trouble.cause)


class Journal:
    """Every event passes through here on its way to those who observe it and to the log."""

    def __init__(self, observe: Callable[[Entry], None]) -> None:
        self.next_seq = 0
        """The number of the next event."""
        self.drafts: dict[str, list[Memory]] = {}
        """Memories without ids, by whose they are."""
        self._observe = observe
        self._tick = self._minute = 0
        self._entries: list[Entry] = []
        self.asked = 0
        """Questions of the tick, vectors not counted."""
        self._warnings = Warnings()

    def go_on_after(self, entry: Entry) -> None:
        """What the log already holds, one event after the other."""
        self.next_seq = entry.seq + 1
        self._warnings.observe(entry)

    def begin(self, tick: int, minute: int) -> None:
        """What is written from now on happens in that tick."""
        self._tick, self._minute, self.asked = tick, minute, 0

    def write(self, event: Event) -> None:
        """It happens: whoever it concerns observes it at once."""
        entry = Entry(self.next_seq, self._tick, self._minute, event)
        self.next_seq += 1
        self._entries.append(entry)
        self._observe(entry)

    def warn(self, outcome: Outcome[Any]) -> None:
        """Write what was not as it should be on the way to it."""
        self.asked += outcome.asked
        for event in self._warnings.of(outcome):
            self.write(event)

    def take(self, name: str, outcome: Outcome[Effects]) -> None:
        """Write what a mind's answer adds to the run."""
        self.warn(outcome)
        for event in outcome.value.events:
            self.write(as_event(event))
        self.keep(name, outcome.value.drafts)

    def keep(self, name: str, drafts: Iterable[Memory]) -> None:
        """Memories to be laid down."""
        self.drafts.setdefault(name, []).extend(drafts)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The tick's events so far."""
        return tuple(self._entries)

    def end(self) -> list[Entry]:
        """The tick's events, which are then forgotten here."""
        entries, self._entries = self._entries, []
        return entries
