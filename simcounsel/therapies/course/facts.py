"""What a course's questions are about, as data."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from simcounsel.agents.talk import TalkLine, ThoughtFacts
from simcounsel.llm.question import Facts
from simcounsel.llm.schemas import Limits


@dataclass(frozen=True, kw_only=True)
class Library:
    """The skills that a session is prepared from, from coarse to fine, and how many it takes."""

    metas: Mapping[str, str]
    """What each meta skill is, by id."""
    skills: Mapping[str, str]
    """What each of their skills is, by id."""
    parents: Mapping[str, str]
    """The meta skill of each of these, by ids."""
    lately: tuple[str, ...]
    """Ids of skills that were used in the sessions before, most often first."""
    fewest_metas: int
    most_metas: int
    """How many meta skills are to be chosen."""
    fewest: int
    most: int
    """How many skills."""

    def of(self, metas: Collection[str]) -> tuple[str, ...]:
        """The skills of some meta skills."""
        return tuple(one for one, parent in self.parents.items() if parent in metas)


@dataclass(frozen=True, kw_only=True)
class PreparationFacts(Facts):
    """What a session is for, and what it draws on."""

    goals: tuple[str, ...]
    """The goals that it may aim at, in the order of their numbers; () where that is settled."""
    aims: tuple[str, ...]
    """What it is for, as settled before or as the asker would settle it, and the goals meant."""
    therapies: Mapping[str, str]
    """Therapies to choose from, by id; {} where there is no choice."""
    most_therapies: int
    """How many of these may be chosen."""
    library: Library | None
    """Skills to choose from; None where that is another question."""


@dataclass(frozen=True, kw_only=True)
class SaidFacts(Facts):
    """Which facts of a plan a client has said."""

    judged: ClassVar[bool] = True
    drawn: ClassVar[bool] = False
    said: tuple[str, ...]
    """The client's words."""
    facts: tuple[str, ...]
    """In the order of their numbers."""

    @property
    def limits(self) -> Limits:
        """So many facts."""
        return {"said": {"maxItems": len(self.facts)}, "said.number": {"maximum": len(self.facts)}}


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
    def limits(self) -> Limits:
        """Goals, facts and fields that there are."""
        limits: dict[str, dict[str, object]] = {
            "goals": {"maxItems": len(self.goals)},
            "goals.number": {"maximum": max(1, len(self.goals))},
            "facts.known": {"enum": ["", *self.known]},
            "rows.field": {"enum": [*self.fields]},
        }
        return limits if self.fields else limits | {"rows": {"maxItems": 0}, "rows.field": {}}

    @property
    def told(self) -> tuple[str, ...]:
        """The client's lines."""
        return told_by(self.other, self.lines)


def told_by(who: str, lines: tuple[TalkLine, ...]) -> tuple[str, ...]:
    """The words of one of the two."""
    return tuple(line.text for line in lines if line.who == who)
