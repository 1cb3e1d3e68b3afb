"""What the questions to a judge are about, as data: for whoever answers without a language
model.
"""

from dataclasses import dataclass

from simcounsel.agents.questionnaire import FormItem
from simcounsel.llm.question import Facts
from simcounsel.llm.schemas import Limits, exactly, some_of


@dataclass(frozen=True, kw_only=True)
class ItemFacts(Facts):
    """One item, asked alone."""

    instrument: str
    """The scale's id."""
    item: FormItem


@dataclass(frozen=True, kw_only=True)
class BlockFacts(Facts):
    """Several items at once."""

    instrument: str
    """The scale's id."""
    items: tuple[FormItem, ...]
    material: str
    """What is to be judged, as it is in the prompt."""


@dataclass(frozen=True, kw_only=True)
class ProbeFacts(Facts):
    """Whether token probabilities are told: nothing is judged."""


@dataclass(frozen=True, kw_only=True)
class CodeFacts(Facts):
    """Turns to be coded, one by one."""

    instrument: str
    """The scale's id."""
    codes: tuple[str, ...]
    """All that a turn may be given."""
    first: int
    """The number of the first of the turns, from 1."""
    turns: tuple[tuple[str, str], ...]
    """Each with what the client had said before it: (heard, said)."""

    @property
    def limits(self) -> Limits:
        """Each of the turns, with codes of the scale."""
        last = self.first + len(self.turns) - 1
        return {
            "turns": exactly(self.turns),
            "turns.turn": {"minimum": self.first, "maximum": last},
            "turns.codes": some_of(self.codes, len(self.codes)),
        }


@dataclass(frozen=True, kw_only=True)
class AuditFacts(Facts):
    """Questions of an audit, to be answered with a quote."""

    instrument: str
    """The scale's id."""
    items: tuple[str, ...]
    """The ids of the questions."""


@dataclass(frozen=True, kw_only=True)
class PairFacts(Facts):
    """Which of two conversations is better: both are in the prompt, and nothing else is known."""
