"""What can happen in a world, but for conversations and measurements."""

from typing import Literal

from simcounsel.events.data import Answered, Data
from simcounsel.specs.vocabulary import ActivityKind, Emotion, Role


class Stroke(Data):
    """One broad stroke of a day's plan: from which time of day, and what."""

    at: str
    do: str


class Slot(Data):
    """What somebody means to do in one tick that begins at `minute`, and where."""

    minute: int
    activity: str
    seen: str = ""
    """What others in the same place see of it; '': all of it."""
    activity_kind: ActivityKind
    place: str
    emotion: Emotion | None = None
    """What it feels like, with how strongly and how poignantly (1 to 10); None: it does not say."""
    intensity: int | None = None
    poignancy: int | None = None


class Sight(Data):
    """Somebody seen, and what others see of what they are doing."""

    name: str
    activity: str


class Memory(Data):
    """Something remembered."""

    id: str
    type: Literal["event", "chat", "day_plan", "slot", "thought"]
    text: str
    emotion: Emotion | None = None
    """None of a plan: plans have none."""
    intensity: int | None = None
    poignancy: int | None = None
    place: str | None = None
    present: tuple[str, ...] = ()
    """Who else was present."""
    chat: str | None = None
    message: int | None = None
    evidence: tuple[str, ...] = ()
    """Ids of the memories that a thought rests on."""
    calls: tuple[str, ...] = ()
    """Keys of the calls that worded or weighed it; () where there was none."""
    origin: Literal["initial", "own act", "sight", "talk", "plan", "summary", "insight"]
    """Where it came from."""

    @property
    def long_term(self) -> bool:
        """Thoughts are long-term memory, all else short-term."""
        return self.type == "thought"


class Hit(Data):
    """A memory that came to mind, with its score and the five terms, each in [0, 1]."""

    id: str
    score: float
    recency: float
    poignancy: float
    emotion_score: float
    emotion_relevance: float
    relevance: float


class Insight(Data):
    """A conclusion and the memories it rests on."""

    text: str
    evidence: tuple[str, ...]


class Joined(Data):
    """Somebody begins to live in the world."""

    kind: Literal["joined"] = "joined"
    who: str
    role: Role
    home: str
    place: str


class Left(Data):
    """Somebody no longer lives in the world (a fork may change the condition)."""

    kind: Literal["left"] = "left"
    who: str


class Planned(Answered):
    """A day's plan in broad strokes."""

    kind: Literal["planned"] = "planned"
    who: str
    day: int
    strokes: tuple[Stroke, ...]
    why: str
    """The morning's plan, or what made them revise it."""


class Scheduled(Answered):
    """The next block of slots; it replaces any slots from its first minute on."""

    kind: Literal["scheduled"] = "scheduled"
    who: str
    slots: tuple[Slot, ...]


class Moved(Data):
    """A body goes to another place."""

    kind: Literal["moved"] = "moved"
    who: str
    origin: str
    place: str


class Acted(Data):
    """What somebody does in this tick."""

    kind: Literal["acted"] = "acted"
    who: str
    activity: str
    seen: str = ""
    """What others in the same place see of it; '': all of it."""
    activity_kind: ActivityKind
    place: str


class Perceived(Data):
    """Who shares the place, when that is not as it was in the last tick."""

    kind: Literal["perceived"] = "perceived"
    who: str
    others: tuple[Sight, ...]


class Appraised(Answered):
    """What something felt like: an own act, as it was planned, or what came unexpectedly. It sets
    the current emotion.
    """

    kind: Literal["appraised"] = "appraised"
    who: str
    about: str
    emotion: Emotion
    intensity: int
    poignancy: int


class Remembered(Data):
    """A memory is laid down."""

    kind: Literal["remembered"] = "remembered"
    who: str
    memory: Memory


class Recalled(Answered):
    """What came to mind: the best of short-term and of long-term memory."""

    kind: Literal["recalled"] = "recalled"
    who: str
    purpose: str
    query: str
    emotion: Emotion
    hits: tuple[Hit, ...]
    stood_back: tuple[str, ...] = ()
    """Ids of what would have come by its score, but came to mind before a line just before."""


class RelationChanged(Answered):
    """How close `who` now feels to `other`, 0 to 10, and why."""

    kind: Literal["relation_changed"] = "relation_changed"
    who: str
    other: str
    before: float
    after: float
    why: str


class Reflected(Answered):
    """A reflection: what started it, the questions, the insights."""

    kind: Literal["reflected"] = "reflected"
    who: str
    trigger: str
    questions: tuple[str, ...]
    insights: tuple[Insight, ...]


class BeliefMoved(Answered):
    """A client holds one of its beliefs less or more strongly than before, by what it lived."""

    kind: Literal["belief_moved"] = "belief_moved"
    who: str
    belief: str
    """C1, C2, ... of the core beliefs of its file, R1, R2, ... of the rules and assumptions."""
    text: str
    before: int
    """How strongly it was held, 0 to 100."""
    after: int
    evidence: tuple[str, ...]
    """Ids of the memories that moved it; at least one is of what happened since the world began."""
    why: str


class PersonaChanged(Answered):
    """A new version of the persona's text beside the old; version 0 is the one at the start."""

    kind: Literal["persona_changed"] = "persona_changed"
    who: str
    version: int
    background: str
    characteristic: str
    recent_feeling: str
    evidence: tuple[str, ...]
