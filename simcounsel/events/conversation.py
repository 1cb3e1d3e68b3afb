"""What can happen in a conversation."""

from typing import Literal

from simcounsel.events.data import Answered, Data
from simcounsel.specs.vocabulary import Danger, Emotion, RiskLevel, Source


class ConversationStarted(Data):
    """Two people begin to talk."""

    kind: Literal["conversation_started"] = "conversation_started"
    chat: str
    who: tuple[str, str]
    place: str
    cause: Literal["appointment", "draw"]
    closeness: float
    """Their mean relationship score."""
    probability: float
    """Of the draw."""

    @property
    def met(self) -> str:
        """How they came to talk, in a word for people: appointment or chance."""
        return "chance" if self.cause == "draw" else self.cause


class Decided(Answered):
    """What a policy chose to do next in a conversation, out of what, and why."""

    kind: Literal["decided"] = "decided"
    who: str
    chat: str
    policy: str
    move: str
    options: tuple[str, ...]
    reason: str


class Said(Answered):
    """A line."""

    kind: Literal["said"] = "said"
    chat: str
    message: int
    """Counts from 1 in its chat."""
    who: str
    to: str
    text: str
    emphasis: str | None
    """The words the voice leans on, if any."""
    emotion: Emotion
    intensity: int
    poignancy: int
    source: Source
    """How it came about (`specs.vocabulary.Source`)."""


class ConversationEnded(Data):
    """A conversation is over."""

    kind: Literal["conversation_ended"] = "conversation_ended"
    chat: str
    cause: Literal["goodbye", "limit", "left"]
    by: str | None
    """Who wanted that, or said nothing in time (`left`); None at the turn limit."""
    messages: int
    open_danger: RiskLevel = "none"
    """The nearest danger that was heard and not taken up to its end, where something listened for
    danger; none otherwise.
    """
    open_kinds: tuple[Danger, ...] = ()
    """Its kinds."""
    until: int | None = None
    """When it ended for the two, in minutes since day 0: until then they do nothing else; None in
    logs that do not say.
    """
