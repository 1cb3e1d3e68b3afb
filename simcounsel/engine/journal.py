"""What happens in the tick that is being lived, before it is complete: events, numbered, and
memories to be laid down.
"""

from collections.abc import Callable, Iterable
from typing import Any

from simcounsel.agents.mind import Effects
from simcounsel.events import Entry, Event, Memory, Warned, as_event
from simcounsel.llm.driving import Outcome


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

    def begin(self, tick: int, minute: int) -> None:
        """What is written from now on happens in that tick."""
        self._tick, self._minute = tick, minute

    def write(self, event: Event) -> None:
        """It happens: whoever it concerns observes it at once."""
        entry = Entry(self.next_seq, self._tick, self._minute, event)
        self.next_seq += 1
        self._entries.append(entry)
        self._observe(entry)

    def warn(self, outcome: Outcome[Any]) -> None:
        """Write which answers could not be used."""
        for trouble in outcome.troubles:
            self.write(Warned(who=trouble.who, purpose=trouble.purpose, cause=trouble.cause))

    def take(self, name: str, outcome: Outcome[Effects]) -> None:
        """Write what a mind's answer adds to the run."""
        self.warn(outcome)
        for event in outcome.value.events:
            self.write(as_event(event))
        self.keep(name, outcome.value.drafts)

    def keep(self, name: str, drafts: Iterable[Memory]) -> None:
        """Memories to be laid down."""
        self.drafts.setdefault(name, []).extend(drafts)

    def end(self) -> list[Entry]:
        """The tick's events, which are then forgotten here."""
        entries, self._entries = self._entries, []
        return entries
