"""What the questions of a synthesis are about, as data: for whoever answers without a language
model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simcounsel.corpus.synthesis.context import Line
from simcounsel.corpus.synthesis.events import Fact, Support
from simcounsel.corpus.synthesis.role_answers import BY_ADVICE, BY_STAGE, NEW_AT_ONCE
from simcounsel.llm.question import Facts
from simcounsel.llm.schemas import Limits, some_of


@dataclass(frozen=True, kw_only=True)
class ExtractFacts(Facts):
    """The extractor's."""

    drawn = False  # its parts must be in the text
    text: str
    """The situation as it was typed in."""
    theme: str | None
    """Given with the situation; None: to be found."""
    english: bool
    """Whether what the text leaves out may be completed in English."""

    @property
    def limits(self) -> Limits:
        """Something for each stage, and of each part."""
        return BY_STAGE


@dataclass(frozen=True, kw_only=True)
class SeekFacts(Facts):
    """The seeker's."""

    lines: tuple[Line, ...]
    """What was said so far."""
    offered: tuple[Fact, ...]
    """What may be told now; () when it holds back."""
    last: bool
    """Whether it is its last line."""

    @property
    def limits(self) -> Limits:
        """It tells some of what it may."""
        return {"facts": some_of(self.closed["facts"], NEW_AT_ONCE)}

    @property
    def closed(self) -> Mapping[str, Sequence[str]]:
        """The facts that it may tell."""
        return {"facts": [fact.id for fact in self.offered]}


@dataclass(frozen=True, kw_only=True)
class SupportFacts(Facts):
    """The supporter's."""

    lines: tuple[Line, ...]
    """What was said so far."""
    turn: int
    """Which of its lines this will be, from 1."""
    turns: int
    """How many there may be."""
    last: bool
    """Whether it is the last."""
    carried: Mapping[str, str]
    """The strategies that it carries, by id."""

    @property
    def limits(self) -> Limits:
        """It follows strategies that it carries."""
        return {"strategies": some_of([*self.carried], len(self.carried))}

    @property
    def closed(self) -> Mapping[str, Sequence[str]]:
        """The strategies that it may follow."""
        return {"strategies": [*self.carried]}


@dataclass(frozen=True, kw_only=True)
class EvaluateFacts(Facts):
    """The evaluator's."""

    lines: tuple[Line, ...]
    """What was said before the draft."""
    draft: str
    """The line to be judged."""
    turn: int
    """Which of the supporter's lines it is, from 1."""
    turns: int
    """How many there may be."""

    @property
    def limits(self) -> Limits:
        """Whoever wants a revision says which."""
        return BY_ADVICE


@dataclass(frozen=True, kw_only=True)
class CorrectFacts(Facts):
    """The corrector's."""

    lines: tuple[Line, ...]
    """What was said before the draft."""
    draft: str
    """The line to be revised."""
    advice: str
    """How, in the evaluator's words."""
    stage: Support
    """The stage that the draft belongs to."""


@dataclass(frozen=True, kw_only=True)
class DistilFacts(Facts):
    """The manager's."""

    advice: tuple[str, ...]
    """All that the evaluator asked for in this session."""
    carried: Mapping[str, str]
    """The strategies that are known already, by id."""
