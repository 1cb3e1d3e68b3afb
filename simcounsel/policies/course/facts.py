"""What a course's questions are about, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.agents.talk import TalkLine, ThoughtFacts
from simcounsel.llm.question import Facts


@dataclass(frozen=True, kw_only=True)
class ObjectiveFacts(Facts):
    """What a session is for."""

    goals: tuple[str, ...]
    """The goals that it may aim at, in the order of their numbers."""


@dataclass(frozen=True, kw_only=True)
class ChoiceFacts(Facts):
    """Which therapies, meta skills or skills a session draws on."""

    options: Mapping[str, str]
    """What each is, by id."""
    objective: tuple[str, ...]
    """What the session is for, and the goals that it aims at."""
    lately: tuple[str, ...]
    """Ids that were used in the sessions before."""
    least: int
    most: int
    """How many are to be chosen."""


@dataclass(frozen=True, kw_only=True)
class ReasoningFacts(ThoughtFacts):
    """What a counselor thinks before a line."""

    heard: TalkLine | None
    """The client's last line; None before the first."""
    closeness: float
    """The counselor's to the client, 0 to 10."""
    skills: Mapping[str, str]
    """Name and cue of the session's skills, by id."""
    acts: Mapping[str, str]
    """The act of a counselor's that comes nearest to each, by its id."""
    used: tuple[str, ...]
    """Ids of those reasoned with so far, in order."""


@dataclass(frozen=True, kw_only=True)
class AfterFacts(Facts):
    """What a counselor writes after a session."""

    me: str
    """The counselor."""
    other: str
    """The client."""
    session: int
    """Its number in the course, from 1."""
    lines: tuple[TalkLine, ...]
    """All that was said."""
    closeness: float
    """The counselor's to the client, 0 to 10."""
    goals: tuple[str, ...]
    """In the order of their numbers."""
    known: Mapping[str, str]
    """What is known of the client, by id."""
    fields: Mapping[str, str]
    """What belongs into each field of the conceptualization, by id."""
    columns: Mapping[str, int]
    """How many cells a row of each field has."""

    @property
    def told(self) -> tuple[str, ...]:
        """The client's lines."""
        return told_by(self.other, self.lines)


def told_by(who: str, lines: tuple[TalkLine, ...]) -> tuple[str, ...]:
    """The words of one of the two."""
    return tuple(line.text for line in lines if line.who == who)
