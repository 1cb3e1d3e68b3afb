"""A client over a course without a capable model: touched where a line is near to one of its
defenses, agreed where a sentence sounds like a task.
"""

import re
from collections.abc import Sequence

from simcounsel.llm.question import Question
from simcounsel.policies.changing.questions import (
    NOT_TOUCHED,
    AgreedAnswer,
    AgreedFacts,
    InsightAnswer,
    InsightFacts,
    TouchedFacts,
)
from simcounsel.standins.registry import Given, StandIns
from simcounsel.standins.similarity import Similarity
from simcounsel.texts.sentences import before_capitals

TOUCHED_FROM = 0.38
"""Cosine from which on a line touches a defense."""
TASK = re.compile(
    r"\b(until (we|next|then)|till next|this (coming )?week|before we meet|try|write"
    r" down|notice|keep a note)\b",
    re.IGNORECASE,
)


class ChangingClients:
    """Answers what a client in a course asks itself."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def register(self, standins: StandIns) -> None:
        """Answer what a client in a course asks."""
        standins.add(TouchedFacts, self.touched)
        standins.add(AgreedFacts, self.agreed)
        standins.add(InsightFacts, self.insight)

    def touched(self, facts: TouchedFacts, question: Question[str]) -> Given[str]:
        """The defense that is nearest to the line, if any is near."""
        near = self._similarity.nearness(facts.heard, facts.defenses)
        found = near.max() >= TOUCHED_FROM
        return Given(value=question.options[1 + int(near.argmax())] if found else NOT_TOUCHED)

    def agreed(self, facts: AgreedFacts, question: Question[AgreedAnswer]) -> Given[AgreedAnswer]:
        """The other's first sentence that sounds like a task, as it stands."""
        quote = first_task(facts.lines)
        return Given(value=AgreedAnswer(agreed=quote[:200], quote=quote[:400]))

    def insight(
        self, facts: InsightFacts, question: Question[InsightAnswer]
    ) -> Given[InsightAnswer]:
        """What the asker itself would say without a model."""
        return Given(value=question.fallback)


def first_task(lines: Sequence[str]) -> str:
    """The first sentence that sounds like a task for the other; '' when none does."""
    return next(
        (sentence for line in lines for sentence in before_capitals(line) if _task(sentence)), ""
    )


def _task(sentence: str) -> bool:
    return bool(TASK.search(sentence)) and bool(
        re.search(r"\b(you|your|let's|let us)\b", sentence, re.IGNORECASE)
    )
