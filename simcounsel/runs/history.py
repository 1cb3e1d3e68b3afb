"""A run as it is read: whatever shows, counts or exports a run asks here, and folds nothing by
itself.

    history = History.of(Run.open("runs/RUN"))
    for conversation in history.conversations():
        print(conversation.who, len(conversation.lines))

Parts are read when they are asked for, through the log's index.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import merge
from pathlib import Path
from typing import Any, Protocol, TypeVar

from simcounsel.clock import day_of
from simcounsel.events import (
    Appraised,
    Assessed,
    BeliefMoved,
    ClientShifted,
    Entry,
    Event,
    Joined,
    Measured,
    ParameterLeftOut,
    PersonaChanged,
    Planned,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Said,
    Scheduled,
    Warned,
)
from simcounsel.runs.authors import author
from simcounsel.runs.calls import Call
from simcounsel.runs.conversation import Conversation, Dated, dated
from simcounsel.runs.counts import KINDS as OF_COUNTS
from simcounsel.runs.counts import Counts, counts_in
from simcounsel.runs.folds import OF_WORLD, conversations_in
from simcounsel.runs.index import TICK_DIGITS
from simcounsel.runs.lives import KINDS as OF_LIVES
from simcounsel.runs.lives import Feeling, Lives
from simcounsel.runs.log import Log
from simcounsel.runs.measurements import Measurement, measurements_of
from simcounsel.runs.open_ends import OpenEnd, open_ends

OF_ACTIVITIES = ("acted", "appraised", "said", "tick_ended")
"""Kinds of events that activities are made of."""
OF_PERSON = (
    "planned",
    "scheduled",
    "appraised",
    "relation_changed",
    "reflected",
    "persona_changed",
    "belief_moved",
)
"""Kinds of events that begin with the name of whom they change."""
TALK_ENDS = ("conversation_started", "conversation_ended", "tick_ended")
"""Kinds of events with which conversations begin and end."""
E = TypeVar("E", bound=Event)


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What somebody did in a tick."""

    tick: int
    minute: int
    who: str
    activity: str
    kind: str
    place: str
    feeling: Feeling | None
    """In which the tick ended, and since when; None while nothing was felt yet."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """All that changed in one person, but memories; each tuple in order."""

    name: str
    versions: tuple[Dated[PersonaChanged], ...]
    relations: tuple[Dated[RelationChanged], ...]
    plans: tuple[Dated[Planned], ...]
    schedules: tuple[Dated[Scheduled], ...]
    feelings: tuple[Dated[Appraised | Said], ...]
    """What was felt at something new, and at one's own lines."""
    reflections: tuple[Dated[Reflected], ...]
    beliefs: tuple[Dated[BeliefMoved], ...]
    """Steps in how strongly a client holds its beliefs."""


class Kept(Protocol):
    """A run in a folder."""

    folder: Path
    damaged: bool
    """Whether it is read as far as it can be, should it be damaged."""


class History:
    """What happened in a run, as far as it was written when `log` was refreshed."""

    def __init__(self, log: Log) -> None:
        self.log = log

    @classmethod
    def of(cls, run: Kept) -> "History":
        """Of a run as it is now. RunError names a damaged line, unless it was opened as damaged."""
        log = Log(run.folder, strict=not run.damaged)
        log.refresh()
        return cls(log)

    # conversations

    def conversations(self, *, until_tick: int | None = None) -> Iterator[Conversation]:
        """All conversations in order; those before `until_tick`, if given."""
        return conversations_in(self.log.entries(self._of_talks(), until_tick=until_tick))

    def outline(self) -> Iterator[Conversation]:
        """All of them without their lines: when, who, how they began and ended."""
        return conversations_in(self.log.entries(TALK_ENDS))

    def conversation(self, name: str) -> Conversation | None:
        """The conversation of that id, which begins with its tick; None when there is none."""
        tick = name.split(":", 1)[0]
        if not tick.isdecimal() or len(tick) >= TICK_DIGITS:
            return None
        entries = self.log.entries(self._of_talks(), since_tick=int(tick), until_tick=int(tick) + 1)
        return next((one for one in conversations_in(entries) if one.id == name), None)

    def _of_talks(self) -> tuple[str, ...]:
        """Kinds that talks may be made of: ours, and those of other packages' policies."""
        return (*OF_WORLD, *sorted(self.log.foreign_kinds))

    def open_ends(self) -> tuple[OpenEnd, ...]:
        """The conversations that ended on open danger, and what questionnaires told since the last
        with a counselor; what nobody came back to first.
        """
        joined = only(Joined, self.log.entries(("joined",)))
        return open_ends(
            self.outline(),
            only(Assessed, self.log.entries(("assessed",))),
            {one.event.who for one in joined if one.event.role == "counselor"},
        )

    # people

    def lives(self) -> Lives:
        """What everybody did, meant to do and felt."""
        return Lives.read(self.log.fields(OF_LIVES))

    def activities(self) -> Iterator[Activity]:
        """What everybody did in each tick, with the feeling in which the tick ended."""
        return activities_in(self.log.fields(OF_ACTIVITIES))

    def person(self, who: str) -> Person:
        """What changed in one person. Nothing, when there is nobody of that name."""
        own = self.log.entries(OF_PERSON, subject=who)
        lines = self.log.entries(("said",), where=lambda fields: fields.get("who") == who)
        entries = list(merge(own, lines, key=lambda entry: entry.seq))
        return Person(
            name=who,
            versions=only(PersonaChanged, entries),
            relations=only(RelationChanged, entries),
            plans=only(Planned, entries),
            schedules=only(Scheduled, entries),
            feelings=tuple(
                dated(entry, entry.event)
                for entry in entries
                if isinstance(entry.event, Appraised | Said)
            ),
            reflections=only(Reflected, entries),
            beliefs=only(BeliefMoved, entries),
        )

    def plans(self) -> tuple[Dated[Planned], ...]:
        """What everybody planned for each day, revisions after what they revise."""
        return only(Planned, self.log.entries(("planned",)))

    def memories(self, who: str | None = None) -> tuple[Dated[Remembered], ...]:
        """All that somebody, or everybody, remembers, as it was laid down."""
        return only(Remembered, self.log.entries(("remembered",), subject=who))

    def recalls(self, who: str | None = None) -> tuple[Dated[Recalled], ...]:
        """What came to somebody's mind, or to anybody's, when, at what, and the terms of each
        memory's score.
        """
        return only(Recalled, self.log.entries(("recalled",), subject=who))

    def shifts(self, who: str | None = None) -> tuple[Dated[ClientShifted], ...]:
        """Where a client, or every client, stood with each of its lines."""
        return only(ClientShifted, self.log.entries(("client_shifted",), subject=who))

    def beliefs(self, who: str | None = None) -> tuple[Dated[BeliefMoved], ...]:
        """How a client's beliefs, or all clients', moved."""
        return only(BeliefMoved, self.log.entries(("belief_moved",), subject=who))

    def day(self, day: int) -> Iterator[Entry]:
        """All events of one day (the first is 0), in order."""
        return (entry for entry in self.log.entries() if day_of(entry.minute) == day)

    # the rest

    def counts(self) -> Counts:
        """How often people talked, reflected and changed."""
        return counts_in(self.log.fields(OF_COUNTS))

    def kinds(self) -> Counter[str]:
        """How many events there are of each kind, in the order in which they first come."""
        return Counter(fields["kind"] for fields in self.log.fields())

    def measured(self) -> tuple[Dated[Measured], ...]:
        """What was measured during the run."""
        return only(Measured, self.log.entries(("measured",)))

    def measurements(self) -> Iterator[Measurement]:
        """The same with who answered, and after them what `rate` measured since."""
        return measurements_of(self.log, self.measured())

    def warnings(self) -> tuple[Dated[Warned], ...]:
        """Every fallback, with its cause."""
        return only(Warned, self.log.entries(("warned",)))

    def left_out(self) -> dict[str, list[str]]:
        """Parameters that a model does not take, by the model's name."""
        found: dict[str, list[str]] = {}
        for one in only(ParameterLeftOut, self.log.entries(("parameter_left_out",))):
            found.setdefault(one.event.model, []).append(one.event.parameter)
        return found

    def event(self, seq: int, tick: int) -> Entry | None:
        """The event of that number, in that tick; None when it is not there."""
        entries = self.log.entries(since_tick=tick, until_tick=tick + 1)
        return next((entry for entry in entries if entry.seq == seq), None)

    def authors(self, held: Conversation) -> dict[int, str]:
        """Who worded each line as it was said (see `runs.authors`), by the line's number."""
        models = {
            call.key: call.model for who in held.who for call in self.log.calls(held.tick, who)
        }
        roles: dict[str, str] = self.log.manifest.get("models", {})
        found = {}
        for line in held.lines:
            said, default = line.event, roles.get("reason", "")
            named = (models[key] for key in reversed(said.calls) if key in models)
            model = next(named, roles.get(f"reason:{line.who}", default))
            found[line.message] = author(said.source, model)
        return found

    def calls(self, tick: int, who: str | None = None) -> Iterator[Call]:
        """What was asked of models in a tick, on behalf of `who` if given."""
        return self.log.calls(tick, who)


def only(kind: type[E], entries: Iterable[Entry]) -> tuple[Dated[E], ...]:
    """Those of the entries whose event is of that kind."""
    return tuple(dated(entry, entry.event) for entry in entries if isinstance(entry.event, kind))


def activities_in(entries: Iterable[dict[str, Any]]) -> Iterator[Activity]:
    """The activities of complete ticks in order. An activity waits for its tick's end, so that what
    it felt like is known.
    """
    feeling: dict[str, Feeling] = {}
    waiting: list[dict[str, Any]] = []
    for fields in entries:
        match fields["kind"]:
            case "tick_ended":
                yield from (_ended(acted, feeling.get(acted["who"])) for acted in waiting)
                waiting = []
            case "acted":
                waiting.append(fields)
            case _:
                felt = Feeling(fields["tick"], fields["emotion"], fields["intensity"])
                feeling[fields["who"]] = felt


def _ended(acted: dict[str, Any], feeling: Feeling | None) -> Activity:
    return Activity(
        tick=acted["tick"],
        minute=acted["minute"],
        who=acted["who"],
        activity=acted["activity"],
        kind=acted["activity_kind"],
        place=acted["place"],
        feeling=feeling,
    )
