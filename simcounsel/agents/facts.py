"""What the questions of a mind are about, as data: one type for each kind of question.

They hold what the prompts say, as far as a stand-in reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simcounsel.agents.mind import Reachable
from simcounsel.agents.questionnaire import FormItem
from simcounsel.agents.talk import TalkLine, ThoughtFacts
from simcounsel.agents.tasks import PortraitAnswer, SkippedDaysAnswer
from simcounsel.clock import since
from simcounsel.llm.question import Facts
from simcounsel.llm.schemas import Limits, exactly
from simcounsel.specs.persona import Routine
from simcounsel.specs.vocabulary import Emotion, Role

Strokes = tuple[tuple[str, str], ...]
"""(time of day, what is done) of each broad stroke of a day."""


@dataclass(frozen=True, kw_only=True)
class DayFacts(Facts):
    """A day in broad strokes, or the rest of one."""

    days: tuple[Strokes, ...]
    """The sample days of the persona's file."""
    minute: int
    """Since day 0: now."""
    why: str | None
    """What calls for a revision; None for a new day."""
    strokes: Strokes
    """The plan so far; () before there is one."""
    memories: tuple[str, ...]
    """What came to mind, best first: the first three."""
    appointments: Strokes
    """Today's, still to come."""

    @property
    def limits(self) -> Limits:
        """Of a revision: nothing that is over."""
        if self.why is None:
            return {}
        return {"strokes.at": {"pattern": since(self.minute)}}


@dataclass(frozen=True, kw_only=True)
class SlotsFacts(Facts):
    """The next slots."""

    minutes: tuple[int, ...]
    """When each slot begins, since day 0."""
    routines: tuple[Routine, ...]
    places: tuple[Reachable, ...]
    emotion: Emotion
    strokes: Strokes
    """The day's plan."""
    activity: str
    """What is being done now; '' before anything was done."""
    done: Mapping[str, int]
    """The minute in which each activity of this day was begun."""
    theme: str
    """A client's theme; '' for others."""
    name: str
    appointed: Mapping[int, str]
    """What is agreed for one of the slots, by when it begins."""

    @property
    def limits(self) -> Limits:
        """So many slots, at places that can be reached."""
        names = list(dict.fromkeys(place.name for place in self.places))
        return {"slots": exactly(self.minutes)} | (
            {"slots.place": {"enum": names}} if names else {}
        )


@dataclass(frozen=True, kw_only=True)
class AppraisalFacts(Facts):
    """Feelings about those whom one comes upon."""

    news: tuple[str, ...]

    @property
    def limits(self) -> Limits:
        """A feeling for each."""
        return {"feelings": exactly(self.news)}


@dataclass(frozen=True, kw_only=True)
class LineFacts(Facts):
    """The next line of a conversation."""

    chat: str
    """The conversation's id."""
    me: str
    role: Role
    other: str
    other_role: str
    place: str
    meeting: int
    """How many times the two have talked, this one included."""
    closeness: float
    """Own score to the other, 0 to 10."""
    lines: tuple[TalkLine, ...]
    """What was said so far."""
    turns_left: int
    """Lines that may still be said, the next one included."""
    move: str
    """The decided move, or the act that words it."""
    aim: str
    leaves: bool
    """Whether the line is decided to take leave."""
    emotion: Emotion
    said: tuple[str, ...]
    """Own lines of late, this conversation's included, oldest first."""
    memories: tuple[str, ...]
    """What came to mind, best first."""
    words: str | None
    """The words that the other emphasized last, for the slots of a form."""
    feeling: str | None
    """The feeling that was heard in them, as an adjective."""
    theme: str
    """A client's theme; '' for others."""
    openness: float | None = None
    """How open a client has been with the other so far, 0 to 10; None where nothing moves it."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """What of a client's file words can touch, by its id; {} where nothing moves it."""
    thought: ThoughtFacts | None = None
    """What is to be thought before the line, in the same reply; None: nothing."""

    @property
    def limits(self) -> Limits:
        """What words can touch is a part of the file."""
        return {"touched": {"enum": ["", *self.parts]}} if self.parts else {}

    @property
    def heard(self) -> TalkLine | None:
        """The other's last line."""
        return next((line for line in reversed(self.lines) if line.who != self.me), None)

    @property
    def own(self) -> tuple[str, ...]:
        """One's own lines of this conversation."""
        return tuple(line.text for line in self.lines if line.who == self.me)


@dataclass(frozen=True, kw_only=True)
class SummaryFacts(Facts):
    """What somebody takes away from a conversation."""

    name: str
    other: str
    role: Role
    lines: tuple[TalkLine, ...]
    takes_home: bool = False
    """Whether something may have been agreed: a client after a session."""


@dataclass(frozen=True, kw_only=True)
class SalienceFacts(Facts):
    """The most salient questions that recent memories raise."""

    name: str
    role: Role
    memories: tuple[str, ...]
    wondered: tuple[str, ...]
    """The questions of the last reflection."""


@dataclass(frozen=True, kw_only=True)
class InsightsFacts(Facts):
    """What the evidence adds up to."""

    name: str
    evidence: tuple[str, ...]
    emotions: tuple[Emotion | None, ...]
    """Of each piece of evidence; None: it has none."""
    poignancies: tuple[int | None, ...]
    """The same."""
    known: tuple[str, ...]
    """Thoughts that one has already."""
    lived: tuple[bool, ...] = ()
    """Of each piece of evidence: whether it is of something that happened."""
    beliefs: Mapping[str, str] = field(default_factory=dict)
    """A client's beliefs by their ids, where they can move; {} elsewhere."""

    @property
    def limits(self) -> Limits:
        """What is cited was shown, and a belief that moves is the client's."""
        shown = {"items": {"type": "integer", "minimum": 1, "maximum": len(self.evidence)}}
        limits: dict[str, Mapping[str, Any]] = {"insights.evidence": shown}
        if self.beliefs:
            limits |= {"beliefs.evidence": shown, "beliefs.belief": {"enum": [*self.beliefs]}}
        return limits


@dataclass(frozen=True, kw_only=True)
class PersonaFacts(Facts):
    """The persona's text, rewritten after new insights."""

    name: str
    portrait: PortraitAnswer
    """The text so far."""
    insights: tuple[str, ...]
    evidence: tuple[str, ...]
    emotion: Emotion


@dataclass(frozen=True, kw_only=True)
class SkippedDaysFacts(Facts):
    """Days that were not lived through."""

    days: tuple[int, ...]
    usual: SkippedDaysAnswer
    """An ordinary account of each."""

    @property
    def limits(self) -> Limits:
        """An account of each."""
        return {"days": exactly(self.days)}


@dataclass(frozen=True, kw_only=True)
class SelfReportFacts(Facts):
    """A block of a questionnaire about oneself."""

    instrument: str
    items: tuple[FormItem, ...]
    memories: tuple[str, ...]
    """What came to mind, best first."""
    recent_feeling: str
    """How it has felt of late; '' before there is a version of its text."""
    seed: int
    """The world's: for what is drawn once for a person, not for each answer."""


@dataclass(frozen=True, kw_only=True)
class InterviewFacts(Facts):
    """A researcher's question."""

    question: str
    answers: tuple[str, ...]
    """Given to earlier questions of this interview, oldest first."""
    own_words: tuple[str, ...]
    """What this person has said or thought, or could have said by then, in its own words."""
