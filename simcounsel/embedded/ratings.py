"""Answers to instruments, so that measuring can be tried without a capable model. **They measure
nothing**: a model of 135 million parameters cannot judge a conversation, and nearness of meaning
knows no negation.

- A self-report: the nearer an item's words come to what the person recalled and to how it has felt
  of late, the higher the answer.
- An observer's rating: the likelihood that the language model gives each number after the prompt,
  as G-Eval weights them.
- Codes of turns: by the rules that count talk.
"""

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from simcounsel.agents.facts import SelfReportFacts
from simcounsel.agents.questionnaire import FormItem
from simcounsel.embedded.similarity import Similarity
from simcounsel.instruments.coding import CodedTurns, TurnCodes
from simcounsel.instruments.facts import (
    AuditFacts,
    BlockFacts,
    CodeFacts,
    ItemFacts,
    PairFacts,
    ProbeFacts,
)
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.instruments.preference import Preference
from simcounsel.instruments.talk import count
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.texts.sentences import before_capitals

if TYPE_CHECKING:
    from simcounsel.llm.llama import Llama

FAR, NEAR = 0.10, 0.55
"""Cosines that mean the lowest and the highest answer of a self-report."""
MOST_NUMBERS = 11
"""How many numbers are compared; of a wider range, as many that lie evenly apart."""
MOST_CHARACTERS = 7000
"""What fits into the model's context; of a longer prompt the beginning is left out."""


class Ratings:
    """model: opens the language model when it is first needed."""

    def __init__(self, similarity: Similarity, model: "Callable[[], Llama]") -> None:
        self._similarity = similarity
        self._model = model

    def register(self, standins: StandIns) -> None:
        """Answer what respondents and judges are asked."""
        standins.add(SelfReportFacts, self.self_report)
        standins.add(ItemFacts, self.judge_item)
        standins.add(BlockFacts, self.judge_block)
        standins.add(AuditFacts, self.judge_audit)
        standins.add(PairFacts, self.judge_pair)
        standins.add(ProbeFacts, lambda facts, question: Given(value=1.0, weights={"1": 1.0}))
        standins.add(CodeFacts, judge_codes)

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
        near = np.sort(self._similarity.nearness(text, known))[-3:]
        return float(np.clip((near.mean() - FAR) / (NEAR - FAR), 0, 1)) if len(near) else 0.5

    def judge_item(self, facts: ItemFacts, question: Question[Any]) -> Given[float]:
        """The likeliest number, and the probabilities of all that were compared."""
        weights = self._weights(question.prompt, facts.item)
        return Given(value=float(_likeliest(weights)), weights=weights)

    def judge_block(self, facts: BlockFacts, question: Question[Any]) -> Given[BaseModel]:
        """The same for each id."""
        answers = {
            item.id: float(_likeliest(self._weights(f"{facts.material}\n\n{item.text}", item)))
            for item in facts.items
        }
        return Given(value=_filled(question, answers))

    def judge_audit(self, facts: AuditFacts, question: Question[Any]) -> Given[BaseModel]:
        """No answer: no quote of a model this small would stand."""
        return Given(value=_filled(question, {}))

    def judge_pair(self, facts: PairFacts, question: Question[Any]) -> Given[BaseModel]:
        """The one with the likelier number."""
        asked = f"{question.prompt[-MOST_CHARACTERS:]}\nAnswer:"
        likely = [
            self._model().loglikelihood(asked, f" {number}") or -math.inf for number in (1, 2)
        ]
        return Given(value=Preference(better=("first", "second")[int(np.argmax(likely))]))

    def _weights(self, prompt: str, item: FormItem) -> dict[str, float]:
        numbers = [
            f"{_on_grid(item, place / (MOST_NUMBERS - 1)):g}" for place in range(MOST_NUMBERS)
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


COUNTED_AS = {"question": "questions", "simple_reflection": "reflections", "persuade": "advice"}
"""Codes that can be told by rule, and as what `instruments.talk` counts them."""


def judge_codes(facts: CodeFacts, question: Question[Any]) -> Given[CodedTurns]:
    """By the rules that count talk; what these do not know is not coded."""
    turns = []
    for number, (heard, said) in enumerate(facts.turns, facts.first):
        counts = count(((CLIENT, heard), (COUNSELOR, said)))
        codes = [
            code for code in facts.codes if code in COUNTED_AS and getattr(counts, COUNTED_AS[code])
        ]
        turns.append(TurnCodes(turn=number, because="by rule", codes=codes))
    return Given(value=CodedTurns(turns=turns))


def _filled(question: Question[Any], answers: Mapping[str, float]) -> BaseModel:
    assert question.schema is not None, f"{question.purpose}: no schema of its answer"
    filled: BaseModel = question.schema.model_validate(answers)
    return filled


def _likeliest(weights: Mapping[str, float]) -> str:
    return max(weights, key=lambda number: weights[number])


def _on_grid(item: FormItem, share: float) -> float:
    """The allowed answer nearest to a share of the range."""
    steps = round(share * (item.high - item.low) / item.step)
    value = item.low + steps * item.step
    return int(value) if float(value).is_integer() else value
