"""A conversation as one side sees it, and what a policy decides in it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import seed_of
from simcounsel.events import Assessed, Data, Entry, Foreign, PracticeEvent, written
from simcounsel.events.data import E
from simcounsel.llm.question import Asker, Example, Traced
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.world_settings import BY_HAND, Openness


@dataclass(frozen=True, kw_only=True)
class TalkLine:
    """A line as both sides heard it."""

    who: str
    text: str
    emphasis: str | None
    emotion: Emotion
    intensity: int = 1
    """Intensity of the emotion, 1 to 10."""


HURTS: frozenset[Emotion] = frozenset({"sadness", "fear", "disgust", "anger"})
OPENED_FROM = 6
"""Intensity (1 to 10) of such a feeling from which on a line has opened something."""
LAST_LINES, SHARE_OF_THE_END = 3, 4
"""Own lines before the end from which on a talk winds down, in a shorter one its last quarter; at
least two.
"""


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Who is met, where, and what is known of them beforehand."""

    place: str
    number: int
    """How many times the two have talked, this one included."""
    appointment: bool
    role: str
    """The other's."""
    closeness: float
    """Own score to the other, 0 to 10."""
    age: int | None = None
    """Of the other, in years, where one has a file of them, as a counselor has of a client."""
    left_open: OpenDanger = NOTHING_OPEN
    """Danger that the last conversation of the two left open."""
    locale: str = "default"
    """Whose help lines hold."""


@dataclass(frozen=True, kw_only=True)
class TalkClock:
    """When a conversation is, and how long it may last."""

    minute: int = 0
    """When it is, since day 0."""
    start: datetime = datetime(2026, 1, 1)
    """The world's first day."""
    minutes_left: int = 50
    """Minutes that are left with the other."""
    next_meeting: int | None = None
    """When the two have their next appointment, in minutes since day 0; None: none is agreed."""
    ended: int | None = None
    """When the conversation ended, in minutes since day 0; None while it goes on."""
    most_left: int = 1_000
    """`TalkView.turns_left`, if the conversation is held as long as it can be."""


@dataclass(frozen=True, kw_only=True)
class OwnTurn:
    """A line that one has said, as one decided it."""

    move: str
    decider: str | None = None
    """Whose move it was; None: of the policy that guides one."""
    came_to_mind: frozenset[str] = frozenset()
    """Ids of the memories that came to one's mind before it."""


@dataclass(frozen=True, kw_only=True)
class TalkView:
    """A conversation as one of the two sees it: what was said, and nothing of the other's mind."""

    chat: str
    me: str
    other: str
    meeting: Meeting
    clock: TalkClock = TalkClock()
    opens: Openness = BY_HAND
    """How a client opens up."""
    lines: tuple[TalkLine, ...]
    turns: tuple[OwnTurn, ...]
    """Own lines in this conversation so far."""
    turns_left: int
    """Lines that may still be said, the next one included."""
    parting: bool
    """Somebody has taken leave, or time is up."""
    emotion: Emotion
    key: tuple[object, ...]
    language: str = "en"
    """Of the talk."""
    kept: tuple[Entry, ...] = ()
    """What one's policy wrote and what was heard of danger in earlier conversations with the other,
    oldest first.
    """
    own: tuple[PracticeEvent, ...] = ()
    """The same of this conversation so far."""

    def asks(self, purpose: str, *key: object) -> Asker:
        """A question of that purpose, asked now by this side; key: what tells it from others."""
        seed = seed_of(*self.key, purpose, *key)
        return {"purpose": purpose, "who": self.me, "language": self.language, "seed": seed}

    @property
    def moves(self) -> tuple[str, ...]:
        """Own decisions in this conversation so far."""
        return tuple(turn.move for turn in self.turns)

    @property
    def own_lines_left(self) -> int:
        """Own lines that may still be said, the next one included; after a leave-taking one."""
        return 1 if self.parting else max(1, (self.turns_left + 1) // 2)

    @property
    def near_the_end(self) -> bool:
        """Whether it winds down: nothing new is opened, and what was opened is not left alone."""
        left, said = self.own_lines_left, len(self.turns)
        quarter = (said + left) // SHARE_OF_THE_END
        return said > 0 and (self.parting or left <= min(LAST_LINES, max(2, quarter)))

    @property
    def opened(self) -> bool:
        """Whether one of the other's last two lines was said with a strong feeling that hurts."""
        told = [line for line in self.lines if line.who != self.me][-2:]
        return any(one.emotion in HURTS and one.intensity >= OPENED_FROM for one in told)

    @property
    def heard(self) -> TalkLine | None:
        """The other's last line."""
        return next((line for line in reversed(self.lines) if line.who != self.me), None)

    @property
    def guided(self) -> tuple[str | None, ...]:
        """`moves`, with None for those that another than the guiding policy decided, such as the
        safety protocol.
        """
        return tuple(turn.move if turn.decider is None else None for turn in self.turns)

    @property
    def assessed(self) -> tuple[Assessed, ...]:
        """What was heard of danger in the other's lines of this conversation, in order."""
        return tuple(event for event in self.own if isinstance(event, Assessed))

    def written(self, kind: type[E]) -> tuple[E, ...]:
        """The events of that kind, a package's own, that one's policy and one's mind wrote in all
        conversations with the other, this one included, oldest first.
        """
        return written((*(entry.event for entry in self.kept), *self.own), kind)


class Requirement(Protocol):
    """What a line must keep to, whoever words it."""

    def problem(self, text: str) -> str | None:
        """What is wrong with a line, in words for whoever worded it; None when nothing is."""
        ...


@dataclass(frozen=True, kw_only=True)
class ThoughtFacts:
    """What is to be thought before a line, in the same reply: part of the line's facts. Each kind
    of thought has a type of its own that derives from this one.
    """


class Thought(Protocol):
    """What a speaker thinks before a line, given in the same reply as the line and before it."""

    @property
    def schema(self) -> type[LineAnswer]:
        """A line's answer with what is thought before it."""
        ...

    @property
    def facts(self) -> ThoughtFacts:
        """What a stand-in may know for it."""
        ...

    def with_line(self, line: LineAnswer) -> LineAnswer:
        """A line that nobody thought about, with what goes without saying."""
        ...

    def settled(self, decision: "Decision", answer: LineAnswer, calls: Traced) -> "Decision":
        """What the answer makes of the decision."""
        ...


@dataclass(frozen=True, kw_only=True)
class Wording:
    """How the line of a decision is to be worded, beside its aim."""

    act: str | None = None
    """Which of a counselor's acts or questions words this move, where a persona's forms are asked
    for; None: the move itself.
    """
    brief: str = ""
    """What the speaker is told for this line."""
    background: str = ""
    """What the speaker is told for all lines of the conversation alike, before what was said."""
    thought: Thought | None = None
    """What is thought in the same reply before the line, and settles the decision; None: nothing,
    it is settled."""
    manner: str | None = None
    """How to say it; None: as the role does."""
    steady: bool = True
    """Whether all lines that this policy decides in a conversation are said in that manner."""
    bare: bool = False
    """Whether the line is worded without the speaker's persona and the rules of its role."""
    recalls: bool = True
    """Whether the prompt says what comes to the speaker's mind, and when the two last talked."""
    max_tokens: int = 220
    lines: tuple[Example, ...] = ()
    """Written by hand for this move; they go before the persona's own."""
    must: Requirement | None = None
    """What the line must keep to; a model's line that does not is not said, one of `lines` is."""
    never: Requirement | None = None
    """What no line may have in it, whoever worded it; a model's line that does is asked for once
    more, then the fallback is said.
    """
    asks: tuple[object, ...] | None = None
    """What the line asks about, for listeners who understand a yes or no by it; None: what its
    words ask plainly.
    """
    unsaid: tuple[str, ...] = ()
    """Texts of which no long stretch may be in the line."""
    free: tuple[str, ...] = ()
    """Texts that anybody may repeat, also where they are in `unsaid`."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A move out of those that were open, why it was chosen, and how its line is worded."""

    move: str
    options: tuple[str, ...]
    reason: str
    aim: str
    wording: Wording = field(default_factory=Wording)
    policy: str | None = None
    """Whose decision it is, if not that of the policy that guides the speaker."""
    leaves: bool | None = None
    """Whether the line takes leave; None: as the speaker likes."""
    events: tuple[Data | Foreign, ...] = ()
    """What the policy wrote on its way to the decision."""
    calls: tuple[str, ...] = ()
    """Keys of the calls that chose the move, beside those of `events`."""
    fallback: bool = False
    """Whether such a call gave no usable answer."""

    def worded(self, **changes: Any) -> "Decision":
        """The same decision, worded otherwise. changes: fields of `Wording`."""
        return replace(self, wording=replace(self.wording, **changes))
