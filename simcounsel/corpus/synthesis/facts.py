"""What the questions of a synthesis are about, as data: for whoever answers without a language
model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.corpus.synthesis.context import Line
from simcounsel.events import Fact
from simcounsel.llm.question import Facts
from simcounsel.specs.vocabulary import Support


@dataclass(frozen=True, kw_only=True)
class ExtractFacts(Facts):
    """The extractor's."""

    text: str
    """The situation as it was typed in."""
    theme: str | None
    """Given with the situation; None: to be found."""
    english: bool
    """Whether what the text leaves out may be completed in English."""


@dataclass(frozen=True, kw_only=True)
class SeekFacts(Facts):
    """The seeker's."""

    lines: tuple[Line, ...]
    """What was said so far."""
    offered: tuple[Fact, ...]
    """What may be told now; () when it holds back."""
    last: bool
    """Whether it is its last line."""


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
