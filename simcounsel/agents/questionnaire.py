"""A block of a questionnaire as a respondent gets it."""

from dataclasses import dataclass

from pydantic import BaseModel


@dataclass(frozen=True, kw_only=True)
class FormItem:
    """One item."""

    id: str
    text: str
    low: float
    """The lowest answer."""
    high: float
    """The highest answer."""
    step: float
    """Between two answers."""


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """A block of questions."""

    instrument: str
    instruction: str
    scale: str
    """What the numbers mean, in words."""
    questions: tuple[FormItem, ...]
    answers: type[BaseModel]
    """The model of the reply: a field for each id."""
    sample: int = 0
    """Which of several samples, from 0."""
    again: str = ""
    """What was wrong with the first answers; '' the first time."""
    temperature: float = 0.0

    def listed(self) -> str:
        """The questions, one a line, each with its id."""
        return "\n".join(f"{question.id}. {question.text}" for question in self.questions)
