"""A course without a capable model: skills by nearness of their cues to what was heard, notes and
facts in the words that were said.

Nothing here understands a session. What it writes is true to the words, and a goal is called met
only where the form of a client's sentence shows it.
"""

import re
from collections.abc import Mapping
from random import Random
from typing import Literal, TypedDict, TypeVar

import numpy as np

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.agents.tasks import Answer
from simcounsel.chance import chance
from simcounsel.embedded.clientstates import first_task
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.shown import MINE, of_field, of_goal
from simcounsel.embedded.similarity import Similarity
from simcounsel.llm.question import Facts, Question
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.texts.sentences import before_capitals
from simcounsel.therapies.course.facts import AfterFacts, Library, PreparationFacts, told_by
from simcounsel.therapies.course.schemas import (
    AfterAnswer,
    FactAnswer,
    GoalAnswer,
    ReviewAnswer,
    RowAnswer,
)

A = TypeVar("A", bound=Answer)
T = TypeVar("T")
LATELY = 0.06
"""How much of nearness a skill loses for a use in the sessions before."""
MOST_GOALS = 16
"""As many goals as a note may judge."""
SAME_FROM, AGAINST_FROM = 0.9, 0.8
"""Cosines from which on a fact repeats or may contradict another."""
WISH = re.compile(
    r"\bI (wish|want|hope|would like|long)\b|\bI'd (like|love|give)\b|\bif only\b", re.IGNORECASE
)
PLAN = re.compile(
    r"^(?!.*\b(if|which|what|whether|when|how|who)\b)"
    r".*\bI('ll| will|'m going to| am going to| plan)\b",
    re.IGNORECASE,
)
FEELING = re.compile(
    r"\bI('m| am| feel| felt| was)\s+(\w+\s+)?"
    r"(afraid|scared|sad|angry|ashamed|tired|lonely|guilty|relieved|glad|happy|calm|worn)\b",
    re.IGNORECASE,
)
HERE = re.compile(
    r"\b(talking (here|to you|with you)|counsel\w+|these (talks|sessions)|coming here|you asked)\b",
    re.IGNORECASE,
)
NOT = re.compile(r"\b(not|never|no|nobody|nothing|\w+n't)\b", re.IGNORECASE)


class Place(TypedDict):
    """How something new stands to what is known, as its answer holds it."""

    relation: Literal["new", "same", "contradicts"]
    known: str


class Courses:
    """Answers what a counselor asks over a course."""

    def __init__(self, similarity: Similarity, feelings: Feelings) -> None:
        self._similarity = similarity
        self._feelings = feelings

    def register(self, standins: StandIns) -> None:
        """Answer what a course asks."""
        standins.add(PreparationFacts, self.prepare)
        standins.add(AfterFacts, self.after)

    # before

    def prepare(self, facts: PreparationFacts, question: Question[A]) -> Given[A]:
        """The objective as the counselor would settle it without a model; therapies and skills that
        are nearest to it.
        """
        rng = chance(question.seed, question.purpose)
        found: dict[str, object] = {}
        if facts.therapies:
            most = min(2, facts.most_therapies)
            near = self._nearness(facts.aims, facts.therapies, rng)
            found["therapies"] = _best(near, most)
        if facts.library:
            found |= self._skills(facts.library, facts.aims, rng)
        why = "nearest in meaning to what the session is for"
        assert question.schema is not None
        return Given(
            value=question.schema.model_validate(
                question.fallback.model_dump() | {"why": why} | found
            )
        )

    def _skills(self, library: Library, aims: tuple[str, ...], rng: Random) -> dict[str, object]:
        """Meta skills and then skills of these, one more of each than the least; what was used
        lately a little later.
        """
        near = self._nearness(aims, library.metas, rng)
        metas = _best(near, min(library.most_metas, library.fewest_metas + 1))
        options = {one: library.skills[one] for one in library.of(metas)}
        near = self._nearness(aims, options, rng)
        for one in library.lately:
            if one in near:
                near[one] -= LATELY
        count = min(library.most, library.fewest + 1)
        return {"intentions": metas, "skills": _best(near, count)}

    def _nearness(
        self, aims: tuple[str, ...], options: Mapping[str, str], rng: Random
    ) -> dict[str, float]:
        """Of each option to the nearest of the aims, with a little chance in it."""
        texts = list(options.values())
        near = np.max([self._similarity.nearness(aim, texts) for aim in aims], axis=0)
        return {
            one: float(score) + rng.gauss(0, 0.02) for one, score in zip(options, near, strict=True)
        }

    # after

    def after(self, facts: AfterFacts, question: Question[AfterAnswer]) -> Given[AfterAnswer]:
        """A note and facts in the client's words, rows where a sentence shows what a field asks
        for; the next step as the counselor would without a model.
        """
        plain = question.fallback
        note = self._note(facts)
        step = {"step": plain.step, "focus": plain.focus, "reason": plain.reason}
        if note.unresolved:
            step["focus"] = note.unresolved[0][:300]
        assert question.schema is not None
        return Given(
            value=question.schema.model_validate(
                note.model_dump()
                | step
                | {
                    "facts": [fact.model_dump() for fact in self._learned(facts)],
                    "rows": [row.model_dump() for row in _rows(facts)],
                }
            )
        )

    def _note(self, facts: AfterFacts) -> ReviewAnswer:
        """In the client's words. A goal is met where one of its sentences shows it."""
        said = _sentences(facts.told)
        shown = [(number, of_goal(goal, said)) for number, goal in enumerate(facts.goals, 1)]
        own = [line for line in facts.lines if line.who == facts.other]
        words = [f"“{(line.emphasis or before_capitals(line.text)[0])[:150]}”" for line in own]
        feeling = self._feelings.feel(own[-1].text).emotion if own else "neutral"
        return ReviewAnswer(
            summary=(
                f"{facts.other} spoke of {' and '.join(list(dict.fromkeys(words))[:4])}."
                if words
                else f"{facts.other} said nothing."
            )[:1200],
            goals=tuple(
                GoalAnswer(number=number, met=True, quote=quote[:400])
                for number, quote in shown
                if quote
            )[:MOST_GOALS],
            client_state=(
                "calm by the last words"
                if feeling == "neutral"
                else f"{ADJECTIVE[feeling]} by the last words"
            ),
            alliance=4 if facts.closeness >= 5 else 3 if facts.closeness >= 2 else 2,
            unresolved=(
                (f"what {facts.other} meant by {words[-2 if len(words) > 1 else -1]}",)
                if words
                else ()
            ),
            homework=first_task(told_by(facts.me, facts.lines))[:400],
        )

    def _learned(self, facts: AfterFacts) -> tuple[FactAnswer, ...]:
        """The client's sentences about itself, at most eight, quoted as they are, each placed
        beside what is known.
        """
        own = [
            text
            for text in _sentences(facts.told)
            if MINE.search(text) and 4 <= len(text.split()) <= 40 and not text.endswith("?")
        ]
        return tuple(
            FactAnswer(
                text=f"{facts.other} said: “{text}”"[:400],
                quote=text[:400],
                realm="treatment" if HERE.search(text) else "reality",
                status=_status(text),
                **self._place(text, facts),
            )
            for text in own[:8]
        )

    def _place(self, text: str, facts: AfterFacts) -> Place:
        """The same where the words are nearly the same; against each other where they are near and
        one of them says no.
        """
        ids, texts = tuple(facts.known), [_words(known) for known in facts.known.values()]
        if not texts:
            return Place(relation="new", known="")
        near = self._similarity.nearness(text, texts)
        best = int(near.argmax())
        if near[best] >= AGAINST_FROM and bool(NOT.search(text)) != bool(NOT.search(texts[best])):
            return Place(relation="contradicts", known=ids[best])
        if near[best] >= SAME_FROM:
            return Place(relation="same", known=ids[best])
        return Place(relation="new", known="")


def _rows(facts: AfterFacts) -> tuple[RowAnswer, ...]:
    """The client's sentences, each in the first field that it belongs to, two a field at most; in a
    field with columns it stands in the first.
    """
    left, rows = _sentences(facts.told), []
    for one, described in facts.fields.items():
        for text in of_field(described, left)[:2]:
            left.remove(text)
            cells = (text[:300], *("-",) * (facts.columns[one] - 1))
            rows.append(RowAnswer(field=one, cells=cells, quote=text[:400]))
    return tuple(rows[:8])


def _sentences(lines: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(text for line in lines for text in before_capitals(line)))


def declared(facts: Facts, question: Question[T]) -> Given[T]:
    """What the asker itself would do without a model."""
    return Given(value=question.fallback)


def _best(near: Mapping[str, float], count: int) -> tuple[str, ...]:
    """The nearest, the first of two that are alike."""
    return tuple(sorted(near, key=lambda one: -near[one])[:count])


def _status(text: str) -> Literal["fact", "wish", "plan", "feeling"]:
    if WISH.search(text):
        return "wish"
    if PLAN.search(text):
        return "plan"
    return "feeling" if FEELING.search(text) else "fact"


def _words(fact: str) -> str:
    """What was said, of a fact that quotes it."""
    return fact.split("said: “")[-1].rstrip("”")
