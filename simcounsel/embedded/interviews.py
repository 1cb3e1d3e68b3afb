"""A researcher's question, answered with the nearest thing that this person said, thought or could
have said, in its own words. Nothing is said twice, and where nothing is near the person does not
know.
"""

import re

import numpy as np

from simcounsel.agents.facts import InterviewFacts
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given

NEAR = 0.3
"""Below this cosine nothing that is known answers a question."""
UNKNOWN = (
    "I couldn't tell you, I'm afraid.",
    "I don't know. I haven't given that any thought.",
    "There's nothing I could say to that, not today.",
    "I don't know anything about that.",
    "You'd have to ask somebody else.",
)
SILENT = "I've said what I can about that."
"""When all of them were said."""
NO_HARM = (
    "There's nothing I could tell you about that.",
    "I've nothing to say about that. It isn't what I've been talking about.",
    "I can't answer that. I'd tell you if there were something.",
)
_HARM = re.compile(
    r"\b(suicid\w*|kill (yourself|you)|ending (your|it)|end your life|self-harm|harm(ing)?"
    r" yourself|hurt(ing)? yourself|wish you were dead)\b",
    re.IGNORECASE,
)


class Interviews:
    """Answers of all kinds of people."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity

    def answer(self, facts: InterviewFacts, question: Question[str]) -> Given[str]:
        """What this person says. A question about harming oneself is met with nothing but a plain
        line: what such a person lives with is not for a small model to word.
        """
        if _HARM.search(facts.question):
            return Given(value=_first_new(NO_HARM, facts.answers, NO_HARM[0]))
        known = [text for text in facts.own_words if text not in facts.answers]
        near = self._similarity.nearness(facts.question, known)
        if len(known) and near.max() >= NEAR:
            return Given(value=known[int(np.argmax(near))])
        return Given(value=_first_new(UNKNOWN, facts.answers, SILENT))


def _first_new(texts: tuple[str, ...], said: tuple[str, ...], otherwise: str) -> str:
    return next((text for text in texts if text not in said), otherwise)
