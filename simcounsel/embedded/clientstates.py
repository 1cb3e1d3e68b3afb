"""A client's state without a capable model, by rule: touched where the other's words are near to a
part of its file, moved a little by what it lived through, agreed where a sentence sounds like a
task.
"""

import re
from collections.abc import Sequence

from simcounsel.agents.emotion import PLEASANT
from simcounsel.agents.facts import InsightsFacts, LineFacts, SummaryFacts
from simcounsel.agents.tasks import BeliefStepAnswer, ClientLineAnswer, LineAnswer
from simcounsel.embedded.similarity import Similarity
from simcounsel.texts.sentences import before_capitals

TOUCHED_FROM = 0.38
"""Cosine from which on a sentence touches a part of a client's file."""
OPENS, CLOSES = 0.6, 0.4
"""How far openness (0 to 10) rises where something was touched in a question or with a feeling, and
falls where it was touched by advice."""
BEARS_FROM = 0.42
"""Cosine from which on a memory bears on a belief."""
WEAKENS, STRENGTHENS = -3, 2
"""Of 100, where a memory that bears on a belief felt good, and where it felt bad."""
BAD = frozenset({"fear", "sadness", "disgust"})
ADVICE = re.compile(r"\b(should|have you tried|try to|why don't you|just)\b", re.IGNORECASE)
TASK = re.compile(
    r"\b(until (we|next|then)|till next|this (coming )?week|before we meet|try|write"
    r" down|notice|keep a note)\b",
    re.IGNORECASE,
)
INVITES = re.compile(r"\b(would|could|will|can) you\b|\bhow would it be\b", re.IGNORECASE)
"""In a question that is a task, and not one about the client."""
SPARES = re.compile(r"\b(don't have to|need not|needn't|no need)\b", re.IGNORECASE)
"""Of what is not to be done."""
YOU = re.compile(r"\b(you|your|let's|let us)\b", re.IGNORECASE)


class ClientStates:
    """What moves a client, by nearness of texts."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def with_line(self, facts: LineFacts, line: LineAnswer) -> LineAnswer:
        """The line with what the other's last line did; the line itself where nothing moves."""
        if not facts.parts or facts.openness is None:
            return line
        touched, quote = self._touched(facts)
        step = 0.0 if not quote else -CLOSES if ADVICE.search(quote) else OPENS
        return ClientLineAnswer(
            **line.model_dump(),
            quote=quote[:400],
            touched=touched,
            openness=round(min(10.0, max(0.0, facts.openness + step)), 2),
        )

    def _touched(self, facts: LineFacts) -> tuple[str, str]:
        """The part of the file that is nearest to a sentence of the other's, and the sentence; ''
        where none is near.
        """
        if facts.heard is None:
            return "", ""
        texts, best = tuple(facts.parts.values()), (TOUCHED_FROM, "", "")
        for sentence in before_capitals(facts.heard.text):
            near = self._similarity.nearness(sentence, texts)
            at = int(near.argmax())
            best = max(best, (float(near[at]), list(facts.parts)[at], sentence))
        return best[1], best[2]

    def steps(self, facts: InsightsFacts) -> tuple[BeliefStepAnswer, ...]:
        """The one belief that the memories of what happened bear on most, if one does."""
        if not facts.beliefs:
            return ()
        names, texts = list(facts.beliefs), tuple(facts.beliefs.values())
        best: tuple[float, int, int] | None = None
        for number, (text, emotion, lived) in enumerate(
            zip(facts.evidence, facts.emotions, facts.lived, strict=True), 1
        ):
            if not lived or emotion not in PLEASANT | BAD:
                continue
            near = self._similarity.nearness(text, texts)
            found = (float(near.max()), number, int(near.argmax()))
            if found[0] >= BEARS_FROM and (best is None or found[0] > best[0]):
                best = found
        if best is None:
            return ()
        _, number, at = best
        good = facts.emotions[number - 1] in PLEASANT
        why = f"{facts.name} felt {'otherwise' if good else 'the same'} when this happened."
        step = WEAKENS if good else STRENGTHENS
        return (BeliefStepAnswer(belief=names[at], evidence=(number,), why=why, step=step),)


def first_task(lines: Sequence[str]) -> str:
    """The first sentence that sounds like a task for the other; '' when none does."""
    return next(
        (sentence for line in lines for sentence in before_capitals(line) if _task(sentence)), ""
    )


def agreed(facts: SummaryFacts) -> dict[str, str]:
    """The other's first sentence that sounds like a task, as it is."""
    quote = first_task([line.text for line in facts.lines if line.who == facts.other])
    return {"agreed": quote[:200], "agreed_quote": quote[:400]}


def _task(sentence: str) -> bool:
    if sentence.endswith("?") and not INVITES.search(sentence):
        return False
    return bool(TASK.search(sentence) and YOU.search(sentence) and not SPARES.search(sentence))
