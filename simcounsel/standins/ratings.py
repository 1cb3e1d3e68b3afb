"""Answers to instruments, so that measuring can be tried without a capable model. **They measure
nothing**: a model of 135 million parameters cannot judge a conversation, and nearness of meaning
knows no negation.

- A self-report: the nearer an item's words come to what the person recalled and to how it has felt
  of late, the higher the answer.
- An observer's rating: the likelihood that the language model gives each number after the prompt,
  as G-Eval weights them.
"""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from simcounsel.agents.facts import SelfReportFacts
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.standins.registry import Given
from simcounsel.standins.sense import Sense
from simcounsel.texts.sentences import before_capitals

if TYPE_CHECKING:
    from simcounsel.llm.llama import Llama

FAR, NEAR = 0.10, 0.55
"""Cosines that mean the lowest and the highest answer of a self-report."""
MOST_NUMBERS = 11
"""So many numbers are compared; of a wider range, so many that lie evenly apart."""
MOST_CHARACTERS = 7000
"""What fits into the model's context; of a longer prompt the beginning is left out."""


class Ratings:
    """model: opens the language model when it is first needed."""

    def __init__(self, sense: Sense, model: "Callable[[], Llama]") -> None:
        self._sense = sense
        self._model = model

    def self_report(
        self, facts: SelfReportFacts, question: Question[BaseModel]
    ) -> Given[BaseModel]:
        """One number for each id, by nearness."""
        known = [*facts.memories, *before_capitals(facts.recent_feeling)]
        answers = {item.id: _on_grid(item, self._share(item.text, known)) for item in facts.items}
        assert question.schema is not None
        return Given(value=question.schema(**answers))

    def _share(self, text: str, known: list[str]) -> float:
        """How near it comes, from 0 to 1; the mean of the three nearest."""
        near = np.sort(self._sense.nearness(text, known))[-3:]
        return float(np.clip((near.mean() - FAR) / (NEAR - FAR), 0, 1)) if len(near) else 0.5

    def judge_item(self, request: Question[Any]) -> Completion:
        """The likeliest number, and the probabilities of all that were compared."""
        weights = self._weights(request.prompt, request.hints["questions"][0])
        best = max(weights, key=lambda number: weights[number])
        return Completion(text=best, source="chosen", weights=weights)

    def judge_block(self, request: Question[Any]) -> Completion:
        """The same for each id."""
        answers: dict[str, float] = {}
        for question in request.hints["questions"]:
            weights = self._weights(f"{request.hints['material']}\n\n{question.text}", question)
            answers[question.id] = float(max(weights, key=lambda number: weights[number]))
        return Completion(text=json.dumps(answers), source="chosen")

    def judge_pair(self, request: Question[Any]) -> Completion:
        """The option with the likelier number."""
        asked = f"{request.prompt[-MOST_CHARACTERS:]}\nAnswer:"
        likely = [
            self._model().loglikelihood(asked, f" {number}") or -math.inf
            for number in range(1, len(request.options) + 1)
        ]
        return Completion(text=request.options[int(np.argmax(likely))], source="chosen")

    def _weights(self, prompt: str, question: Any) -> dict[str, float]:
        numbers = [
            f"{_on_grid(question, place / (MOST_NUMBERS - 1)):g}" for place in range(MOST_NUMBERS)
        ]
        asked = f"{prompt[-MOST_CHARACTERS:]}\nAnswer:"
        found = {
            number: self._model().loglikelihood(asked, f" {number}")
            for number in dict.fromkeys(numbers)
        }
        known = {number: math.exp(value) for number, value in found.items() if value is not None}
        total = sum(known.values())
        return (
            {number: value / total for number, value in known.items()}
            if total
            else {numbers[MOST_NUMBERS // 2]: 1.0}
        )


def _on_grid(question: Any, share: float) -> float:
    """The allowed answer nearest to a share of the range."""
    steps = round(share * (question.high - question.low) / question.step)
    value: float = question.low + steps * question.step
    return int(value) if float(value).is_integer() else value
