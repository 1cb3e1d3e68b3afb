"""Stand-ins by the kind of question that they answer.

A stand-in answers a question without a language model that could read its prompt: it is a function
from the question's facts to the question's answer, registered for the type of the facts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from simcounsel.errors import ModelError
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.question import Facts, PromptOnly, Question
from simcounsel.specs.vocabulary import Source

T = TypeVar("T")
F = TypeVar("F", bound=Facts)


@dataclass(frozen=True, kw_only=True)
class Given(Generic[T]):
    """What a stand-in answers."""

    value: T
    source: Source = "chosen"
    weights: Mapping[str, float] | None = None
    """For `rate`: the probability of each number that was compared."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What it says beside its answer, such as `why`."""
    tokens_in: int | None = None
    """Of the prompt, where a language model wrote the answer; None elsewhere; so `tokens_out`."""
    tokens_out: int | None = None

    def completion(self) -> Completion:
        """As a model's raw answer, so that it is recorded, checked and replayed like any other."""
        return Completion(
            text=_text(self.value),
            source=self.source,
            weights=self.weights,
            notes=self.notes,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
        )


def _text(value: object) -> str:
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    return f"{value:g}" if isinstance(value, float) else str(value)


class StandIns:
    """The stand-ins of one model that is none."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._answers: dict[type[Facts], Callable[[Any, Question[Any]], Given[Any]]] = {}

    def add(self, facts: type[F], answer: Callable[[F, Question[Any]], Given[Any]]) -> None:
        """Answer questions with facts of that type so."""
        self._answers[facts] = answer

    def knows(self, facts: Facts | None) -> bool:
        """Whether a question with these facts can be answered."""
        facts = facts or PromptOnly()
        return type(facts) in self._answers or facts.judged

    @property
    def known(self) -> frozenset[type[Facts]]:
        """The kinds of questions that can be answered."""
        return frozenset(self._answers)

    def answer(self, question: Question[Any]) -> Completion:
        """ModelError when there is no stand-in for that kind of question; Failure when its answer
        does not fit the schema.
        """
        facts = question.facts or PromptOnly()
        answer = self._answers.get(type(facts))
        if answer is None and facts.judged:
            return Given(value=question.fallback).completion()
        if answer is None:
            what = type(facts).__name__
            raise ModelError(
                f"{self._model}: no stand-in answers {what} ({question.purpose}); register one"
                " (simcounsel.embedded), or use a model that reads prompts"
            )
        try:
            return answer(facts, question).completion()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise Failure(
                f"{self._model}: the answer of its stand-in does not fit: {where}: {first['msg']}"
            ) from None
