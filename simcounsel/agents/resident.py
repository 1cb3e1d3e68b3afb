"""A resident: a fold over observed events. Nothing else changes it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from simcounsel.agents.memory import MemoryOf
from simcounsel.agents.sightings import STRANGERS, Sightings
from simcounsel.clock import day_of
from simcounsel.events import (
    PRACTICE,
    Acted,
    Appraised,
    BeliefMoved,
    ConversationEnded,
    ConversationStarted,
    Decided,
    Entry,
    Event,
    Foreign,
    Joined,
    Moved,
    Perceived,
    PersonaChanged,
    Planned,
    PracticeEvent,
    Recalled,
    Reflected,
    RelationChanged,
    Remembered,
    Said,
    Scheduled,
    Sight,
    Slot,
    Stroke,
    written,
)
from simcounsel.events.data import E
from simcounsel.prompts import phrase
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.vocabulary import ActivityKind, Emotion
from simcounsel.specs.world import World

if TYPE_CHECKING:
    import numpy as np
from dataclasses import dataclass

from simcounsel.clock import time_text
from simcounsel.safety.open_danger import OpenDanger


class Resident:
    """The state of one person at the end of the observed events."""

    def __init__(
        self, spec: ResidentSpec, world: World, vectors: "Mapping[str, np.ndarray]"
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.persona = spec.persona
        self.language = world.language
        self.memory = MemoryOf(spec.name, world.memory, vectors)
        self.ties = {
            next(name for name in one.between if name != spec.name): one
            for one in world.relationships
            if spec.name in one.between
        }
        """What the world says of one's relationships, by the other's name."""
        self.place = spec.starts_in
        self.client_state = spec.client_state or world.client_state
        """Whether talk and experience move a client."""
        self.opens = world.openness
        self.silent_from: int | None = None
        """From which tick on nobody talks with them; None: somebody may, always."""
        self._moving = world.conversation.replan_from_poignancy
        self._fades = world.feelings_fade_minutes
        self._sightings = Sightings(spec, world)
        self._counselors = frozenset(one.name for one in world.residents if one.role == "counselor")
        self._nothing_lived()
        self._observers = self._by_kind()

    def _nothing_lived(self) -> None:
        """What only observed events change, as it is before there were any."""
        self.activity = ""
        self.visible = ""
        """What others in the same place see of the activity."""
        self.activity_kind: ActivityKind = "rest"
        self.mood = Mood(self._fades)
        self.strengths: dict[str, int] = {}
        """How strongly beliefs are held that were moved, 0 to 100, by their ids."""
        self.moved_by: dict[str, set[str]] = {}
        """The memories that have moved each belief: each moves it once."""
        self.version: PersonaChanged | None = None
        self.strokes: tuple[Stroke, ...] = ()
        self.planned_day: int | None = None
        self.slots: dict[int, Slot] = {}
        self.begun: Slot | None = None
        """The slot whose activity began in this tick, until it was appraised."""
        self.slots_from: dict[str, Any] = {}
        """Which calls gave the slots (`calls`, `fallback`)."""
        self.sights: tuple[Sight, ...] = ()
        self.closeness: dict[str, float] = {}
        """Relationship score to each other person, 0 to 10."""
        self.talks = Talks(self.name, self._counselors, self._worded)
        """The conversations, and the one that one may still be in."""
        self.meetings = self.talks.meetings
        """Conversations so far, by the other's name."""
        self.last_talk = self.talks.last_talk
        """The tick of the last one, by the other's name."""
        self.sessions = self.talks.sessions
        """The ticks of those that were appointments, by the other's name."""
        self.said: list[str] = []
        """Own lines of all conversations, oldest first."""
        self._done: dict[str, int] = {}
        """When each activity began last, in minutes since day 0."""
        self.replan_why: str | None = None
        """What calls for a new plan; None when nothing does."""
        self.wondered: tuple[str, ...] = ()
        """The questions of the last reflection."""
        self._concluded = ""
        """The conclusions of the last reflection."""
        self.practice: dict[str, list[Entry]] = {}
        """What one's policy and mind wrote in conversations with each other person, and what was
        heard of danger there, oldest first.
        """
        self.foreign: list[Entry] = []
        """Events of other packages' kinds that name this resident, oldest first."""
        self._news: dict[str, str] = {}
        """Whom one came upon in this tick unexpectedly, as told; their names."""

    def _by_kind(self) -> dict[type[Event], Callable[[Any, Entry], None]]:
        return {
            Joined: self._arrived,
            Moved: self._arrived,
            Acted: self._acted,
            Perceived: self._perceived,
            Appraised: self._appraised,
            Planned: self._planned,
            Scheduled: self._scheduled,
            Remembered: self._remembered,
            Recalled: lambda event, entry: self.memory.observe_recalled(event, entry.minute),
            Said: self._said,
            ConversationStarted: lambda event, entry: self.talks.started(event, entry),
            ConversationEnded: self._ended,
            RelationChanged: self._related,
            Reflected: self._reflected,
            BeliefMoved: self._believed,
            PersonaChanged: self._changed,
            **dict.fromkeys((Decided, *PRACTICE), self._practised),
            Foreign: self._kept,
        }

    def observe(self, entry: Entry) -> None:
        """Take in an event that concerns this resident; others are ignored."""
        observer = self._observers.get(type(entry.event))
        if observer:
            observer(entry.event, entry)

    @property
    def emotion(self) -> Emotion:
        """What is felt."""
        return self.mood.emotion

    @property
    def intensity(self) -> int:
        """How strong it is, 1 to 10."""
        return self.mood.intensity

    @property
    def news(self) -> tuple[str, ...]:
        """Whom one came upon in this tick unexpectedly, not yet appraised."""
        return tuple(self._news)

    @property
    def come_upon(self) -> tuple[tuple[str, str], ...]:
        """`news`, each with the name of whom it is about; '' for those whom one does not know."""
        return tuple((text, who if self.knows(who) else "") for text, who in self._news.items())

    def knows(self, other: str) -> bool:
        """Whether one knows somebody by name: from before, or from a talk."""
        return other in self.meetings or self._sightings.knows(other)

    def close_to(self, other: str) -> float:
        """The relationship score to somebody, 0 to 10."""
        return self.closeness.get(other, STRANGERS)

    def _arrived(self, event: Joined | Moved, entry: Entry) -> None:
        self.place = event.place

    def _acted(self, event: Acted, entry: Entry) -> None:
        self._news = {}
        self.begun = None
        goes_on = self.talks.engaged_at(entry.minute) is not None
        if not goes_on and event.activity != self.activity:
            self.begun = self.slots.get(entry.minute)
            self._done[event.activity] = entry.minute
        self.visible = event.seen or event.activity
        self.activity, self.activity_kind, self.place = (
            event.activity,
            event.activity_kind,
            event.place,
        )

    def _worded(self, key: str, **slots: object) -> str:
        return phrase("lived", key, self.language, **slots)

    def _perceived(self, event: Perceived, entry: Entry) -> None:
        found = self._sightings.observe(self.sights, event.others, entry.minute, self.place)
        for sight in found:
            who = sight.name if self.knows(sight.name) else self._stranger(sight.name)
            self._news[self._worded("here", name=who, doing=sight.activity)] = sight.name
        self.sights = event.others

    def _stranger(self, other: str) -> str:
        return self._worded(self._sightings.stranger(other), me=self.name)

    def _appraised(self, event: Appraised, entry: Entry) -> None:
        foreseen = self.begun is not None and event.about not in self._news
        self.mood.appraised(event, entry.tick, entry.minute, foreseen=foreseen)
        self._news.pop(event.about, None)
        self.begun = None

    def _planned(self, event: Planned, entry: Entry) -> None:
        if self.planned_day != event.day:
            self._done = self.done_on(event.day)
        self.planned_day, self.strokes = event.day, event.strokes
        self.replan_why = None

    def _scheduled(self, event: Scheduled, entry: Entry) -> None:
        kept = {m: s for m, s in self.slots.items() if entry.minute <= m < event.slots[0].minute}
        self.slots = kept | {slot.minute: slot for slot in event.slots}
        self.slots_from = {"calls": event.calls, "fallback": event.fallback}
        self.mood.moved = False

    def _remembered(self, event: Remembered, entry: Entry) -> None:
        self.memory.observe_remembered(event, entry.minute)
        memory = event.memory
        mattered = memory.origin == "summary" and (memory.poignancy or 0) >= self._moving
        if mattered and memory.chat is not None:
            other = other_of(memory.chat, self.name)
            self.replan_why = self._worded("mattered", name=self.name, other=other)

    def _said(self, event: Said, entry: Entry) -> None:
        if event.who == self.name:
            self.said.append(event.text)
            self.mood.said(event.emotion, event.intensity, entry.minute)

    def _ended(self, event: ConversationEnded, entry: Entry) -> None:
        """It goes into the day, in place of the appointment that it was; what was planned of this
        beyond its end is no longer planned.
        """
        self._news = {}
        talk = self.talks.ended(event)
        if talk is None:
            return
        appointment = self._worded("meets", other=talk.other)
        self._done.pop(appointment, None)
        self._done[talk.told] = entry.minute
        for minute in sorted(minute for minute in self.slots if minute >= talk.until):
            if self.slots[minute].activity != appointment:
                break
            del self.slots[minute]

    def _related(self, event: RelationChanged, entry: Entry) -> None:
        self.closeness[event.other] = event.after

    def _practised(self, event: "Decided | PracticeEvent", entry: Entry) -> None:
        """Kept under the other's name. A questionnaire has no conversation, and is kept under the
        name of whom it is about.
        """
        other = other_of(event.chat, self.name) if event.chat is not None else event.who or ""
        self.practice.setdefault(other, []).append(entry)

    def _kept(self, event: Foreign, entry: Entry) -> None:
        self.foreign.append(entry)
        if event.chat is not None:
            self._practised(event, entry)

    def written(self, kind: type[E]) -> tuple[E, ...]:
        """The events of that kind, a package's own, that this resident's mind or policy wrote,
        oldest first.
        """
        return written((entry.event for entry in self.foreign), kind)

    def _reflected(self, event: Reflected, entry: Entry) -> None:
        self.memory.observe_reflected()
        self.wondered = event.questions
        between = "；" if self.language == "zh" else "; "
        self._concluded = between.join(one.text.rstrip(".。") for one in event.insights)

    def _believed(self, event: BeliefMoved, entry: Entry) -> None:
        self.strengths[event.belief] = event.after
        self.moved_by.setdefault(event.belief, set()).update(event.evidence)

    def _changed(self, event: PersonaChanged, entry: Entry) -> None:
        self.version = event
        if event.version:
            self.replan_why = self._worded("changed", name=self.name, what=self._concluded)

    def done_on(self, day: int) -> dict[str, int]:
        """What was begun on a day, in order, with the minute since day 0 at which it was."""
        return {what: minute for what, minute in self._done.items() if day_of(minute) == day}

    def needs_day(self, minute: int) -> bool:
        """Whether there is no plan for the day of `minute` yet."""
        return self.planned_day != day_of(minute)


STILL_FELT = 2
"""Intensity (1 to 10) below which a fading feeling is over."""


@dataclass
class Mood:
    """A fold over feelings."""

    half_life: float | None
    """In minutes, of a feeling that no slot foresaw; None: it does not fade."""
    emotion: Emotion = "neutral"
    """What is felt."""
    intensity: int = 1
    """How strong it is, 1 to 10."""
    moved: bool = False
    """Whether something that no slot foresaw was felt, since slots were last planned, and has not
    faded: then what they foresaw to feel does not count.
    """
    origin: tuple[Emotion, int, int] = ("neutral", 1, 0)
    """What was felt that no slot foresaw, how strong at first, and when."""
    tick: int | None = None
    """When something was appraised last; None: nothing since the last own line."""

    def appraised(self, event: Appraised, tick: int, minute: int, *, foreseen: bool) -> None:
        """Of what was felt in one tick the strongest feeling stays."""
        if tick != self.tick or event.intensity > self.intensity:
            self.emotion, self.intensity = event.emotion, event.intensity
        self.tick = tick
        if not foreseen:
            self.moved = True
            self.origin = (self.emotion, self.intensity, minute)
        elif event.emotion != self.origin[0]:
            self.moved = False

    def said(self, emotion: Emotion, intensity: int, minute: int) -> None:
        """Felt with a line. What stays of a talk is felt after its lines, however strong they
        were.
        """
        self.emotion, self.intensity = emotion, intensity
        self.moved = True
        self.origin = (emotion, intensity, minute)
        self.tick = None

    def outweighs(self, foreseen: int, minute: int) -> bool:
        """Whether what has moved one counts, and not what a slot foresaw with that intensity: for a
        half-life in any case, then while it is not the weaker.
        """
        emotion, left = self.faded(minute)
        if not self.moved or emotion == "neutral":
            return False
        fresh = self.half_life is None or minute - self.origin[2] < self.half_life
        return fresh or left >= foreseen

    def faded(self, minute: int) -> tuple[Emotion, int]:
        """What is left of what no slot foresaw: it fades by half in each half-life, to calm."""
        emotion, intensity, since = self.origin
        if self.half_life is None:
            return emotion, intensity
        left = round(intensity * 0.5 ** ((minute - since) / self.half_life))
        return (emotion, left) if left >= STILL_FELT else ("neutral", 1)


Worded = Callable[..., str]
"""A phrase of `prompts/lived.txt` by its key, its slots filled."""


def other_of(chat: str, name: str) -> str:
    """Who is the other in a conversation, by its id."""
    first, second = chat.split(":", 1)[1].split("+")
    return second if first == name else first


@dataclass(frozen=True, kw_only=True)
class Engaged:
    """A conversation that may go on after the tick in which its lines were said."""

    other: str
    until: int
    """When it ends, in minutes since day 0."""
    activity: str
    """What one does meanwhile."""
    seen: str
    """What others in the same place see of it; '': the activity."""
    kind: ActivityKind
    told: str
    """What one did, once it has ended, with its end."""


class Talks:
    """One resident's conversations: a fold over their beginnings and ends."""

    def __init__(self, name: str, counselors: frozenset[str], worded: Worded) -> None:
        self._name = name
        self._counselors = counselors
        self._worded = worded
        self._kind = "chance"
        self.meetings: dict[str, int] = {}
        """Conversations so far, by the other's name."""
        self.last_talk: dict[str, int] = {}
        """The tick of the last one, by the other's name."""
        self.sessions: dict[str, list[int]] = {}
        """The ticks of those that were appointments, by the other's name."""
        self.left_open: dict[str, OpenDanger] = {}
        """Danger that the last one left open, by the other's name."""
        self.engaged: Engaged | None = None
        """The last one, which may still go on."""

    def started(self, event: ConversationStarted, entry: Entry) -> None:
        """One begins."""
        other = event.who[0] if event.who[1] == self._name else event.who[1]
        self.meetings[other] = self.meetings.get(other, 0) + 1
        self.last_talk[other] = entry.tick
        self._kind = "chance"
        if event.cause == "appointment":
            self.sessions.setdefault(other, []).append(entry.tick)
            counsels = self._counselors & {self._name, other}
            self._kind = "session" if counsels else "appointment"

    def ended(self, event: ConversationEnded) -> Engaged | None:
        """The last line was said; None in a log that does not say until when it lasted."""
        other = other_of(event.chat, self._name)
        self.left_open[other] = OpenDanger(level=event.open_danger, kinds=event.open_kinds)
        if event.until is None:
            self.engaged = None
            return None
        session = self._kind == "session"
        until = time_text(event.until)
        self.engaged = Engaged(
            other=other,
            until=event.until,
            activity=self._worded(f"in_{self._kind}", other=other),
            seen=self._worded("seen_session") if session else "",
            kind="counseling" if session else "social",
            told=self._worded(f"was_in_{self._kind}", other=other, until=until),
        )
        return self.engaged

    def engaged_at(self, minute: int) -> Engaged | None:
        """The conversation that still goes on at a minute; None: one is free."""
        return self.engaged if self.engaged and minute < self.engaged.until else None

    def just_ended(self, minute: int, within: int) -> Engaged | None:
        """The conversation that ended at a minute or less than `within` minutes before it."""
        one = self.engaged
        return one if one and minute - within < one.until <= minute else None
