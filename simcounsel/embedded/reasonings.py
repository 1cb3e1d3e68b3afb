"""What a course's counselor thinks before a line, without a capable model: the skill whose cue is
nearest to what was heard, and the client's own words.
"""

from typing import TypedDict

import numpy as np

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.similarity import Similarity
from simcounsel.texts.sentences import before_capitals
from simcounsel.therapies.course.facts import ReasoningFacts

USED_AGAIN = 0.12
"""How much of nearness a skill loses for each use in the session."""


class Reasoned(TypedDict):
    """The fields of a thought, as they stand in the line's answer."""

    assessment: str
    client_state: str
    skills: tuple[str, ...]
    strategy: str


class Reasonings:
    """Thinks by nearness of texts."""

    def __init__(self, similarity: Similarity, feelings: Feelings) -> None:
        self._similarity = similarity
        self._feelings = feelings

    def reason(self, facts: ReasoningFacts) -> Reasoned:
        """Skills that were used come last; the rest is in the client's own words."""
        heard = facts.heard.text if facts.heard else None
        called = (
            f"The client says '{heard}'"
            if heard
            else "The client comes in and waits to be told where to begin."
        )
        ids = tuple(facts.skills)
        near = self._similarity.nearness(
            called, [text.split("Cue: ")[-1] for text in facts.skills.values()]
        )
        scores = near - USED_AGAIN * np.array([facts.used.count(one) for one in ids])
        best = int(np.argmax(scores))
        name = facts.skills[ids[best]].split(". ")[0]
        assessment, state = self._seen(facts)
        return Reasoned(
            assessment=assessment[:500],
            client_state=state,
            skills=(ids[best],),
            strategy=(
                f"“{name}”, in plain words and after giving back what was heard (nearness of its"
                f" cue {near[best]:.2f})"
            )[:400],
        )

    def _seen(self, facts: ReasoningFacts) -> tuple[str, str]:
        """What the last words tell, and how the client is."""
        if facts.heard is None:
            return "Nothing has been said yet.", "not to be told before the first words"
        feeling = self._feelings.feel(facts.heard.text).emotion
        felt = "nothing strong" if feeling == "neutral" else f"rather {ADJECTIVE[feeling]}"
        weight = facts.heard.emphasis or before_capitals(facts.heard.text)[0]
        near = "closer than at first" if facts.closeness >= 4 else "not close yet"
        return f"Most weight seems to lie on “{weight}”.", f"{felt} by the words, {near}"
