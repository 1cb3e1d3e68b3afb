"""What can happen in a synthesis of dialogues. In its log each is a `Foreign`, and a tick is a wave
of sessions; minutes stand still.

A session is `S0001`; its messages count from 1, the seeker's and the supporter's together.
"""

from typing import Any, Literal, get_args

from simcounsel.corpus.disclosure import Disclosure
from simcounsel.events import Event, Foreign, parse_entry
from simcounsel.events.data import Answered, Data
from simcounsel.specs.vocabulary import Source

Support = Literal["listening", "identifying", "exploring", "goals", "support"]
"""What a supporter works on, one after the other (MindCorpus, appendix B)."""
Quality = Literal[
    "confidentiality",
    "objectivity",
    "sympathy",
    "specialization",
    "feasibility",
    "listening",
    "collaboration",
    "tenderness",
    "respect",
]
"""What an evaluator judges in each of a supporter's lines (MindCorpus, appendix A)."""
QUALITIES: tuple[Quality, ...] = get_args(Quality)


class Fact(Data):
    """Something about a seeker."""

    id: str
    """`F1`, `F2`, ..."""
    of: Literal["character", "plight", "demand"]
    """Who they are, what troubles them, or what they want."""
    stage: Disclosure
    """When they would tell it."""
    text: str
    invented: bool
    """Whether it is not in the situation that was given."""


class Extracted(Answered):
    """A session begins: the extractor made a seeker's file out of a situation."""

    kind: Literal["extracted"] = "extracted"
    session: str
    situation: str
    """The id of the seed."""
    theme: str
    facts: tuple[Fact, ...]
    strategies: tuple[str, ...]
    """Ids of those that the supporter carries through this session."""
    source: Source


class Disclosed(Answered):
    """The seeker says something."""

    kind: Literal["disclosed"] = "disclosed"
    session: str
    message: int
    text: str
    stage: Disclosure
    facts: tuple[str, ...]
    """Ids of those told for the first time; () when it holds back."""
    source: Source


class Drafted(Answered):
    """The supporter's line before anybody judged it."""

    kind: Literal["drafted"] = "drafted"
    session: str
    message: int
    text: str
    stage: Support
    skill: str
    reasoning: str
    """What it thought before; not said."""
    strategies: tuple[str, ...]
    source: Source


class QualityRating(Data):
    """How well a line does in one quality, 1 to 10; None when the evaluator gave no usable
    answer.
    """

    quality: Quality
    value: int | None


class Evaluated(Answered):
    """The evaluator's judgment of a draft."""

    kind: Literal["evaluated"] = "evaluated"
    session: str
    message: int
    ratings: tuple[QualityRating, ...]
    revise: bool
    """Whether it should be changed, as `advice` says."""
    advice: str
    go_on: bool
    """Whether the seeker's trouble calls for more talk."""
    source: Source


class Revised(Answered):
    """The corrector's line in place of the draft."""

    kind: Literal["revised"] = "revised"
    session: str
    message: int
    text: str
    before: str
    """The draft."""
    reason: str
    """The evaluator's advice."""
    source: Source


class SessionEnded(Data):
    """A session is over."""

    kind: Literal["session_ended"] = "session_ended"
    session: str
    cause: Literal["resolved", "disclosed", "limit"]
    """The evaluator found that nothing more is needed (`resolved`), all was told and answered and
    nobody evaluates (`disclosed`), or the turn limit came (`limit`).
    """
    messages: int
    revised: int


class StrategyLearned(Answered):
    """The manager's advice that the supporter carries from the next wave on; the entry's tick is
    the wave that made it.
    """

    kind: Literal["strategy_learned"] = "strategy_learned"
    id: str
    """`K001`."""
    text: str
    session: str
    """From whose suggestions it was made."""
    advice: tuple[str, ...]
    """These suggestions."""


class StrategyKnown(Answered):
    """A strategy that the manager found again: near enough to one that is carried already (cosine
    of meaning).
    """

    kind: Literal["strategy_known"] = "strategy_known"
    id: str
    text: str
    session: str
    cosine: float


class StrategyRestored(Data):
    """A strategy that was dropped is carried again, because the settings of a fork no longer drop
    it.
    """

    kind: Literal["strategy_restored"] = "strategy_restored"
    id: str


class StrategyDropped(Data):
    """From here on the supporter no longer carries this strategy, because the settings say so."""

    kind: Literal["strategy_dropped"] = "strategy_dropped"
    id: str


SynthesisEvent = (
    Extracted
    | Disclosed
    | Drafted
    | Evaluated
    | Revised
    | SessionEnded
    | StrategyLearned
    | StrategyKnown
    | StrategyDropped
    | StrategyRestored
)
CLASSES: dict[str, type[SynthesisEvent]] = {
    str(one.model_fields["kind"].default): one for one in get_args(SynthesisEvent)
}


TickEvent = tuple[int, Event | SynthesisEvent]
"""A wave, and what happened in it."""


def own(event: Event) -> Event | SynthesisEvent:
    """A log's event as one of ours, if it is. pydantic.ValidationError for one that is damaged."""
    if not isinstance(event, Foreign) or event.kind not in CLASSES:
        return event
    return CLASSES[event.kind].model_validate({"kind": event.kind, **event.fields})


def told(fields: dict[str, Any]) -> TickEvent:
    """A line of the log. ValueError or KeyError for one that is damaged."""
    entry = parse_entry(fields)
    return entry.tick, own(entry.event)


def line_of(event: Event) -> tuple[str, int, str] | None:
    """The session of a line, its number and its source; a revised line is in a draft's place. None:
    it is no line.
    """
    found = own(event)
    if isinstance(found, Disclosed | Drafted | Revised):
        return found.session, found.message, found.source
    return None
