"""A counselor's next line: a word on what was heard, by itself or before a question of the decided
kind, with the client's own emphasized words in at most one of the two; or a line that its policy
brought.
"""

import re
from collections.abc import Callable

import numpy as np

from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.embedded.picks import Pick, filled_in, used_before
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Example, Question

REFLECTS = 0.6
"""How often a word on what was heard is before a policy's own line, where that is fitting."""
STATEMENTS = ("reflect", "summarize")
"""Moves that are a line by themselves, without a question behind."""
A_TELLING = 8
"""Words from which on a line tells something that can be taken up."""
THEMES = {
    "family": ("mother", "father", "amma", "daughter", "brother", "children", "marriage", "home"),
    "work": ("exam", "thesis", "ward", "restaurant", "tram", "money", "refusing"),
    "sleep": ("heat", "watch", "mornings", "rest"),
    "self": ("body", "silence", "words", "use", "idle"),
}
"""Broader themes of forms, and narrower ones of clients that they fit."""

Speak = Callable[[LineFacts, int], str | None]
"""A tuned model's line, from the facts and a seed; None where it has none."""


class CounselorLines:
    """Chooses and fills forms. tuned: asked before them."""

    def __init__(self, similarity: Similarity, tuned: Speak | None = None) -> None:
        self._similarity = similarity
        self._tuned = tuned

    def line(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick:
        move = facts.move
        own = self._own(facts, question)
        if own:
            return own
        if move == "greet":
            when = "first" if facts.meeting == 1 else "later"
            greeting = self._form(facts, question, "greet", words=False, when=when)
            return Pick(
                text=greeting, emphasis=None, emotion="trust", source="chosen", leaves=False
            )
        if move == "close":
            closing = self._form(facts, question, "close", words=False)
            return Pick(text=closing, emphasis=None, emotion="trust", source="chosen", leaves=True)
        if self._tuned and (text := self._tuned(facts, question.seed)):
            return Pick(text=text, emphasis=None, emotion="trust", source="generated", leaves=False)
        quoting = chance(question.seed, "quote").random()
        if not any(move == e.tags.move and not e.tags.own for e in question.examples):
            move = "reflect"
        if move in STATEMENTS:
            text = self._form(facts, question, move, words=move == "summarize" or quoting < 0.45)
            return Pick(text=text, emphasis=None, emotion="trust", source="chosen", leaves=False)
        reflection = self._form(facts, question, "reflect", words=quoting < 0.45)
        asking = self._form(
            facts, question, move, words=0.45 <= quoting < 0.8 and "“" not in reflection
        )
        return Pick(
            text=f"{reflection} {asking}",
            emphasis=None,
            emotion="trust",
            source="chosen",
            leaves=False,
        )

    def _own(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick | None:
        """One of the lines that the policy brought: by nearness to what was heard, freshness and
        the draw, its slots filled. None when it brought none, or all of them were said in this
        talk.
        """
        said = facts.said
        pool = [e for e in question.examples if e.tags.own]
        here = " ".join(line.text for line in facts.lines if line.who == facts.me)
        filled = [
            (e, text)
            for e in pool
            if (text := filled_in(e.text, facts)) is not None and text not in here
        ]
        if not filled and not any(
            e.tags.listens is not None for e in pool
        ):  # lines of safety may be said again, others may not stand in for them
            filled = [(e, text) for e in pool if (text := filled_in(e.text, facts)) is not None]
        if not filled:
            return None
        near = self._similarity.nearness(
            facts.heard.text if facts.heard else facts.other, [text for _, text in filled]
        )
        rng = chance(question.seed, "own")
        scores = [
            0.4 * near[i] + rng.gauss(0, 0.12) - 1.5 * used_before(e.text, said)
            for i, (e, _) in enumerate(filled)
        ]
        chosen, text = filled[int(np.argmax(scores))]
        if (
            chosen.tags.listens
            and "“" not in text
            and facts.heard
            and len(facts.heard.text.split()) >= A_TELLING
            and rng.random() < REFLECTS
        ):
            text = f"{self._form(facts, question, 'reflect', words=rng.random() < 0.4)} {text}"
        return Pick(
            text=text, emphasis=None, emotion="trust", source="chosen", leaves=bool(facts.leaves)
        )

    def _form(
        self,
        facts: LineFacts,
        question: Question[LineAnswer],
        move: str,
        *,
        words: bool,
        when: str = "any",
    ) -> str:
        """The best form of a move, its slots filled. words: whether it should hold the client's own
        words.
        """
        said = facts.said
        pool = [
            e
            for e in question.examples
            if not e.tags.own and e.tags.move == move and e.tags.when in ("any", when)
        ]
        if when != "any":
            pool = [e for e in pool if e.tags.when == when] or pool
        pool = [e for e in pool if _suits(e, facts)] or pool
        quoting = [e for e in pool if ("{words}" in e.text) == words]
        filled = [
            (e, text)
            for e in quoting or pool
            if (text := filled_in(e.text, facts)) is not None and (words or "{words}" not in e.text)
        ] or [(e, text) for e in pool if (text := filled_in(e.text, facts)) is not None]
        if not filled:
            return str(question.fallback.say)
        uses = np.array([used_before(e.text, said) for e, _ in filled])
        heard = facts.heard.text if facts.heard else facts.other
        near = self._similarity.nearness(heard, [text for _, text in filled])
        rng = chance(question.seed, "form", move)
        noise = np.array([rng.gauss(0, 0.12) for _ in filled])
        tagged = np.array(
            [
                (0.25 if e.tags.emotion != "neutral" else 0.15 if e.tags.theme != "any" else 0.0)
                for e, _ in filled
            ]
        )
        return filled[int(np.argmax(0.5 * near + noise + tagged - 1.5 * uses))][1]


def _suits(form: Example, facts: LineFacts) -> bool:
    """A form for an emotion fits only where that emotion was heard; one for a theme where its words
    fall.
    """
    heard = facts.heard
    emotion, theme = form.tags.emotion, form.tags.theme
    if emotion != "neutral" and (heard is None or heard.emotion != emotion):
        return False
    if theme == "any":
        return True
    spoken = " ".join(line.text.lower() for line in facts.lines[-2:] if line.who != facts.me)
    stems = (theme, *THEMES.get(theme, ()))
    return any(re.search(rf"\b{stem}", spoken) for stem in stems)
