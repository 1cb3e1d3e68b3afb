"""A conversation as one side sees it, and what a policy decides in it."""

from dataclasses import dataclass

from simcounsel.specs.vocabulary import Emotion


@dataclass(frozen=True, kw_only=True)
class TalkLine:
    """A line as both sides heard it."""

    who: str
    text: str
    stressed: str | None
    emotion: Emotion


@dataclass(frozen=True, kw_only=True)
class TalkView:
    """A conversation as one of the two sees it: what was said, and nothing of the other's mind.

    meeting: how many times the two have talked, this one included. turns_left: lines that may
    still be said, the next one included. parting: somebody has taken leave, or time is up.
    moves: own decisions in this conversation so far. closeness: own score to the other, 0 to 10.
    """

    chat: str
    me: str
    other: str
    other_role: str
    place: str
    meeting: int
    appointment: bool
    lines: tuple[TalkLine, ...]
    moves: tuple[str, ...]
    turns_left: int
    parting: bool
    closeness: float
    emotion: Emotion
    key: tuple[object, ...]

    @property
    def heard(self) -> TalkLine | None:
        """The other's last line."""
        return next((line for line in reversed(self.lines) if line.who != self.me), None)


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A move out of those that were open, why it was chosen, and what it means for the wording."""

    move: str
    options: tuple[str, ...]
    reason: str
    aim: str
