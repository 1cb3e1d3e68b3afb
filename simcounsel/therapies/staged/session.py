"""A session led by a manual, folded out of what the policy wrote: its state, the messages heard in
it, its day, its notes, its exercises.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from simcounsel.agents.talk import TalkLine, TalkView
from simcounsel.events import (
    PRACTICE,
    Assessed,
    Entry,
    Judged,
    Noted,
    PracticeEvent,
    Retrieved,
    Transitioned,
)
from simcounsel.specs.vocabulary import RiskLevel
from simcounsel.therapies.specs.exercises import Exercises
from simcounsel.therapies.specs.manual import Manual, State
from simcounsel.therapies.staged.exercises import library

CONTRAINDICATION = "contraindication"
"""The question of the Judged events that say what was heard against exercises."""
TIME, ASKED, GOES_ON = "time", "asked", "goes on"
"""The question of the Judged events about what the rest of the time is for, and two verdicts."""
GRAVE: tuple[RiskLevel, ...] = ("high", "imminent")


@dataclass(frozen=True, kw_only=True)
class Session:
    """A session as far as it has come."""

    manual: Manual
    view: TalkView
    events: tuple[PracticeEvent, ...] = ()
    """What the policy has written in this turn, beyond what the view holds."""
    catalogue: Exercises | None = None
    """The exercises to choose from; None: those that come with simcounsel."""

    def with_events(self, more: Iterable[PracticeEvent]) -> "Session":
        """The same, after these as well."""
        return replace(self, events=(*self.events, *more))

    @property
    def exercises(self) -> Exercises:
        """Those that may come into question."""
        return self.catalogue or library(self.view.language)

    @property
    def here(self) -> tuple[PracticeEvent, ...]:
        """All of this conversation."""
        return (*self.view.own, *self.events)

    @property
    def ever(self) -> tuple[PracticeEvent, ...]:
        """All that was ever written about this client, oldest first."""
        return (
            *(entry.event for entry in self.view.kept if isinstance(entry.event, PRACTICE)),
            *self.here,
        )

    # where

    @property
    def state(self) -> State | None:
        """The state now; None when the session has not begun, or the manual does not know it any
        more.
        """
        moved = [
            event
            for event in self.here
            if isinstance(event, Transitioned) and event.protocol == self.manual.name
        ]
        return self.manual.states.get(moved[-1].state) if moved else None

    @property
    def heard(self) -> tuple[TalkLine, ...]:
        """The client's lines since this state said its first one, without those that answered
        another protocol.
        """
        state, moves = self.state, list(self.view.guided)
        found: list[TalkLine] = []
        waiting: list[TalkLine] = []
        for line in reversed(self.view.lines):
            if line.who != self.view.me:
                waiting.append(line)
                continue
            said = moves.pop() if moves else None
            if state is not None and said == state.id:
                found += waiting
            elif said in self.manual.states:
                break
            waiting = []
        return tuple(reversed(found))

    @property
    def said_here(self) -> int:
        """How many of one's last lines were this state's."""
        state, count = self.state, 0
        for move in reversed(self.view.guided):
            if state is None or move != state.id:
                if move in self.manual.states:
                    break
                continue
            count += 1
        return count

    @property
    def time_for(self) -> str | None:
        """What is known of what the rest of the time is for, once the client was asked: ASKED or
        GOES_ON; None before, and from the conclusion on.
        """
        state = self.state
        if state is None or self.manual.phase_of[state.id] == "conclusion":
            return None
        found = [e for e in self.here if isinstance(e, Judged) and e.question == TIME]
        return found[-1].verdict if found else None

    @property
    def left_open(self) -> bool:
        """Whether the client was asked with the line before what the rest of the time is for, and
        the conclusion that this turn jumps to hears the answer.
        """
        asked = [e for e in self.view.own if isinstance(e, Judged) and e.question == TIME]
        forced = any(isinstance(e, Transitioned) and e.forced for e in self.events)
        own = [move for move in self.view.guided if move in self.manual.states]
        concluding = bool(own) and self.manual.phase_of[own[-1]] == "conclusion"
        return bool(asked) and asked[-1].verdict == ASKED and forced and not concluding

    def most(self, state: State) -> int:
        """Client messages after which a state has had its share of this session: as many as the
        manual says where there are lines for all of its states, else in proportion, but always one
        more than its least, so that somebody is asked.
        """
        takes = sum(
            one.at_most
            for one in self.manual.states.values()
            if not one.internal and self.manual.phase_of[one.id] != "conclusion"
        )
        lines = len(self.view.moves) + self.view.own_lines_left
        share = round(state.at_most * min(1, lines / takes))
        return min(state.at_most, max(state.at_least + 1, share))

    # when

    @property
    def day(self) -> int:
        """The day of the protocol: by the dates since the first session, from the manual's first
        day to its last.
        """
        days = self.manual.days
        began = [
            entry.minute
            for entry in self.view.kept
            if isinstance(entry.event, Transitioned) and entry.event.protocol == self.manual.name
        ]
        passed = self._date(self.view.clock.minute) - self._date(began[0]) if began else 0
        return min(days.cap, days.first + passed)

    def _date(self, minute: int) -> int:
        return (self.view.clock.start + timedelta(minutes=minute)).toordinal()

    @property
    def cut_off(self) -> State | None:
        """The state in which the last talk was broken off, if this one goes on there; None when it
        begins again.

        A talk that reached the conclusion by its own way is over; one that time or a leave-taking
        sent there was broken off.
        """
        moved = [
            entry
            for entry in self.view.kept
            if isinstance(entry.event, Transitioned) and entry.event.protocol == self.manual.name
        ]
        if not moved or self.manual.resume == "never":
            return None
        if self.manual.resume == "same_day" and self._date(moved[-1].minute) != self._date(
            self.view.clock.minute
        ):
            return None
        return self._left_in([entry for entry in moved if _chat(entry) == _chat(moved[-1])])

    def _left_in(self, moved: list[Entry]) -> State | None:
        """The last state before the conclusion, if the conclusion was not earned."""
        for entry in reversed(moved):
            event = entry.event
            assert isinstance(event, Transitioned)
            if event.state not in self.manual.states:
                return None
            if self.manual.phase_of[event.state] != "conclusion":
                state = self.manual.states[event.state]
                return None if state.start or state.internal else state
            if (
                event.origin is not None
                and self.manual.phase_of.get(event.origin) != "conclusion"
                and not event.forced
            ):
                return None
        return None

    # what is known

    @property
    def notes(self) -> str:
        """The notes on this client as they are now; '' when there are none."""
        noted = [
            event
            for event in self.ever
            if isinstance(event, Noted) and event.about == self.view.other
        ]
        return noted[-1].text if noted else ""

    @property
    def noted_until(self) -> int:
        """The last line of this conversation that the notes cover; 0 when they cover none."""
        return max((event.last for event in self.here if isinstance(event, Noted)), default=0)

    @property
    def against(self) -> dict[str, str]:
        """Contraindications that were heard, now or ever before, with the words."""
        return {
            event.verdict: event.reason
            for event in self.ever
            if isinstance(event, Judged) and event.question == CONTRAINDICATION
        }

    @property
    def danger(self) -> RiskLevel | None:
        """The gravest danger assessed about this client, if it forbids exercises."""
        levels = {event.level for event in self.ever if isinstance(event, Assessed)}
        return next((level for level in reversed(GRAVE) if level in levels), None)

    @property
    def retrieved(self) -> tuple[Retrieved, ...]:
        """The choices of exercises in this conversation."""
        return tuple(
            event for event in self.here if isinstance(event, Retrieved) and event.of == "exercise"
        )

    @property
    def exercise_id(self) -> str | None:
        """The exercise last chosen, here or, in a session taken up again, before; None when the
        last choice found nothing.
        """
        chosen = [
            event for event in self.ever if isinstance(event, Retrieved) and event.of == "exercise"
        ]
        return chosen[-1].chosen[0] if chosen and chosen[-1].chosen else None

    @property
    def offered_before(self) -> tuple[str, ...]:
        """Ids of the exercises offered in earlier conversations."""
        kept = (entry.event for entry in self.view.kept)
        return tuple(
            name
            for event in kept
            if isinstance(event, Retrieved) and event.of == "exercise"
            for name in event.chosen
        )

    @property
    def offered_here(self) -> tuple[str, ...]:
        """The same of this one."""
        return tuple(name for event in self.retrieved for name in event.chosen)


def _chat(entry: Entry) -> str | None:
    return getattr(entry.event, "chat", None)
