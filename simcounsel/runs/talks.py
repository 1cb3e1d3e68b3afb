"""The conversations of a log by its kind: those of a world, or the sessions of a synthesis."""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from simcounsel.runs.conversation import Conversation
from simcounsel.runs.folds import OF_SYNTHESIS, OF_WORLD, conversations_in, sessions_in
from simcounsel.runs.index import TICK_DIGITS
from simcounsel.runs.log import Log
from simcounsel.specs.kinds import Kind

CONVERSATION_ENDS = ("conversation_started", "conversation_ended", "tick_ended")
SESSION_ENDS = ("extracted", "session_ended", "warned", "tick_ended")
"""Kinds of events with which conversations begin and end."""


class Talks(Protocol):
    """What `History` asks of either kind; see there."""

    def all(self, until_tick: int | None) -> Iterator[Conversation]:
        """In order; those before `until_tick`, if given."""

    def outline(self) -> Iterator[Conversation]:
        """Without their lines."""

    def named(self, name: str) -> Conversation | None:
        """None when there is none."""


class WorldTalks:
    """Conversations of people who live in a world."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def all(self, until_tick: int | None) -> Iterator[Conversation]:
        """In order; those before `until_tick`, if given."""
        return conversations_in(self._log.entries(self._kinds(), until_tick=until_tick))

    def outline(self) -> Iterator[Conversation]:
        """Without their lines."""
        return conversations_in(self._log.entries(CONVERSATION_ENDS))

    def named(self, name: str) -> Conversation | None:
        """The one of that id, which begins with its tick."""
        tick = name.split(":", 1)[0]
        if not tick.isdecimal() or len(tick) >= TICK_DIGITS:
            return None
        entries = self._log.entries(self._kinds(), since_tick=int(tick), until_tick=int(tick) + 1)
        return next((one for one in conversations_in(entries) if one.id == name), None)

    def _kinds(self) -> tuple[str, ...]:
        """Kinds that they may be made of: ours, and those of other packages' policies."""
        return (*OF_WORLD, *sorted(self._log.foreign_kinds))


class SynthesisTalks:
    """Sessions that were written."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def all(self, until_tick: int | None) -> Iterator[Conversation]:
        """In order; those of waves before `until_tick`, if given."""
        return sessions_in(self._log.entries(OF_SYNTHESIS, until_tick=until_tick))

    def outline(self) -> Iterator[Conversation]:
        """Without their lines."""
        return sessions_in(self._log.entries(SESSION_ENDS))

    def named(self, name: str) -> Conversation | None:
        """A session's events begin with its name; what was learned of it stands at its wave's
        end.
        """
        own = list(self._log.entries(OF_SYNTHESIS, subject=name))
        if not own:
            return None
        wave = own[0].tick
        learned = self._log.entries(
            ("strategy_learned", "strategy_known"), since_tick=wave, until_tick=wave + 1
        )
        found = sessions_in([*own, *learned])
        return next((one for one in found if one.id == name), None)


TALKS: Mapping[Kind, Callable[[Log], Talks]] = {"world": WorldTalks, "synthesis": SynthesisTalks}
