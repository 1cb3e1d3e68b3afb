"""A course without a capable model: skills by nearness of their cues to what was heard, notes and
facts in the words that were said.

Nothing here understands a session. What it writes is true to the words, and a goal is called met
only where a line is very near to it.
"""

import re
from typing import Literal, TypeVar

import numpy as np

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.chance import chance
from simcounsel.llm.question import Facts, Question
from simcounsel.policies.course.facts import (
    ChoiceFacts,
    FormulationFacts,
    LearningFacts,
    MergeFacts,
    NextStepFacts,
    ObjectiveFacts,
    ReasoningFacts,
    ReviewFacts,
    told_by,
)
from simcounsel.policies.course.schemas import (
    ChosenAnswer,
    FactAnswer,
    FactsAnswer,
    FormulationAnswer,
    GoalAnswer,
    MergeAnswer,
    PlacedAnswer,
    ReasoningAnswer,
    ReviewAnswer,
    RowAnswer,
)
from simcounsel.standins.clientstates import first_task
from simcounsel.standins.feelings import Feelings
from simcounsel.standins.registry import Given, StandIns
from simcounsel.standins.similarity import Similarity
from simcounsel.texts.sentences import before_capitals

T = TypeVar("T")
USED_AGAIN, LATELY = 0.12, 0.06
"""How much of nearness a skill loses for each use in the session, and for a use in the sessions
before.
"""
MOST_GOALS = 16
"""As many goals as a note may judge."""
MET_FROM, SAME_FROM, AGAINST_FROM, FIELD_FROM = 0.52, 0.9, 0.8, 0.3
"""Cosines from which on a line shows a goal, a fact repeats or may contradict another, or fits a
field.
"""
WISH = re.compile(
    r"\bI (wish|want|hope|would like|long)\b|\bI'd (like|love|give)\b|\bif only\b", re.IGNORECASE
)
PLAN = re.compile(r"\bI('ll| will|'m going to| am going to| plan)\b", re.IGNORECASE)
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


class Courses:
    """Answers what a counselor asks over a course."""

    def __init__(self, similarity: Similarity, feelings: Feelings) -> None:
        self._similarity = similarity
        self._feelings = feelings

    def register(self, standins: StandIns) -> None:
        """Answer what a course asks."""
        standins.add(ObjectiveFacts, declared)
        standins.add(ChoiceFacts, self.choose)
        standins.add(ReasoningFacts, self.reason)
        standins.add(ReviewFacts, self.review)
        standins.add(LearningFacts, self.learn)
        standins.add(MergeFacts, self.merge)
        standins.add(FormulationFacts, self.formulate)
        standins.add(NextStepFacts, declared)

    # before

    def choose(self, facts: ChoiceFacts, question: Question[ChosenAnswer]) -> Given[ChosenAnswer]:
        """The options nearest to what the session is for, one more than the least; what was used
        lately a little later.
        """
        ids, texts = tuple(facts.options), list(facts.options.values())
        near = np.max([self._similarity.nearness(aim, texts) for aim in facts.objective], axis=0)
        rng = chance(question.seed, question.purpose)
        scores = (
            near
            - LATELY * np.array([one in facts.lately for one in ids])
            + np.array([rng.gauss(0, 0.02) for _ in ids])
        )
        count = min(len(ids), facts.most, facts.least + 1)
        best = np.argsort(-scores, kind="stable")[:count]
        assert question.schema is not None
        return Given(
            value=question.schema(
                ids=tuple(ids[int(index)] for index in best),
                why=f"nearest in meaning to what the session is for ({near[best[0]]:.2f})",
            )
        )

    # before each line

    def reason(
        self, facts: ReasoningFacts, question: Question[ReasoningAnswer]
    ) -> Given[ReasoningAnswer]:
        """The skill whose cue is nearest to what was just heard, used ones last; the rest in the
        client's own words.
        """
        skills = facts.skills
        heard = (
            facts.heard.text
            if facts.heard
            else "The client comes in and waits to be told where to begin."
        )
        ids = tuple(skills)
        called = f"The client says '{heard}'" if facts.heard else heard
        near = self._similarity.nearness(
            called, [text.split("Cue: ")[-1] for text in skills.values()]
        )
        scores = near - USED_AGAIN * np.array([facts.used.count(one) for one in ids])
        best = int(np.argmax(scores))
        if facts.heard is None:
            assessment, state = (
                "Nothing has been said yet.",
                "not to be told before the first words",
            )
        else:
            feeling = self._feelings.feel(heard)
            felt = (
                "nothing strong"
                if feeling.emotion == "neutral"
                else f"rather {ADJECTIVE[feeling.emotion]}"
            )
            weight = facts.heard.emphasis or before_capitals(heard)[0]
            assessment = f"Most weight seems to lie on “{weight}”."
            state = (
                f"{felt} by the words,"
                f" {'closer than at first' if facts.closeness >= 4 else 'not close yet'}"
            )
        name = skills[ids[best]].split(". ")[0]
        strategy = (
            f"“{name}”, in plain words and after giving back what was heard (nearness of its cue"
            f" {near[best]:.2f})"
        )
        assert question.schema is not None
        return Given(
            value=question.schema(
                assessment=assessment[:500],
                client_state=state,
                skill=ids[best],
                strategy=strategy[:400],
            )
        )

    # after

    def review(self, facts: ReviewFacts, question: Question[ReviewAnswer]) -> Given[ReviewAnswer]:
        """In the client's words. A goal is met where a sentence of the talk is very near to it."""
        said = [sentence for line in facts.lines for sentence in before_capitals(line.text)]
        goals = []
        for number, goal in enumerate(facts.goals, 1):
            near = self._similarity.nearness(goal, said)
            if said and near.max() >= MET_FROM:
                goals.append(
                    GoalAnswer(number=number, met=True, quote=said[int(near.argmax())][:400])
                )
        own = [line for line in facts.lines if line.who == facts.other]
        words = [f"“{(line.emphasis or before_capitals(line.text)[0])[:150]}”" for line in own]
        feeling = self._feelings.feel(own[-1].text).emotion if own else "neutral"
        summary = (
            f"{facts.other} spoke of {' and '.join(list(dict.fromkeys(words))[:4])}."
            if words
            else f"{facts.other} said nothing."
        )
        return Given(
            value=ReviewAnswer(
                summary=summary[:1200],
                goals=tuple(goals[:MOST_GOALS]),
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
        )

    def learn(self, facts: LearningFacts, question: Question[FactsAnswer]) -> Given[FactsAnswer]:
        """The client's sentences about itself, at most eight, quoted as they are."""
        sentences = [sentence for text in facts.told for sentence in before_capitals(text)]
        own = [
            text
            for text in dict.fromkeys(sentences)
            if re.search(r"\b(I|my|me)\b", text)
            and 4 <= len(text.split()) <= 40
            and not text.endswith("?")
        ]
        found = tuple(
            FactAnswer(
                text=f"{facts.other} said: “{text}”"[:400],
                quote=text[:400],
                realm="treatment" if HERE.search(text) else "reality",
                status=_status(text),
            )
            for text in own[:8]
        )
        return Given(value=FactsAnswer(facts=found))

    def merge(self, facts: MergeFacts, question: Question[MergeAnswer]) -> Given[MergeAnswer]:
        """The same where the words are nearly the same; against each other where they are near and
        one of them says no.
        """
        said = [_words(text) for text in facts.told]
        ids, texts = tuple(facts.known), [_words(text) for text in facts.known.values()]
        placed = []
        for number, text in enumerate(said, 1):
            near = self._similarity.nearness(text, texts)
            best = int(near.argmax()) if texts else 0
            relation: Literal["new", "same", "contradicts"] = "new"
            if (
                texts
                and near[best] >= AGAINST_FROM
                and bool(NOT.search(text)) != bool(NOT.search(texts[best]))
            ):
                relation = "contradicts"
            elif texts and near[best] >= SAME_FROM:
                relation = "same"
            placed.append(
                PlacedAnswer(
                    number=number, relation=relation, known=ids[best] if relation != "new" else ""
                )
            )
        return Given(value=MergeAnswer(placed=tuple(placed)))

    def formulate(
        self, facts: FormulationFacts, question: Question[FormulationAnswer]
    ) -> Given[FormulationAnswer]:
        """The client's sentences, each in the field without columns that it is nearest to; at most
        three.
        """
        plain = {one: text for one, text in facts.fields.items() if facts.columns[one] == 1}
        sentences = [
            sentence
            for text in facts.told
            for sentence in before_capitals(text)
            if len(sentence.split()) >= 5
        ]
        rows: list[tuple[float, RowAnswer]] = []
        for text in dict.fromkeys(sentences):
            near = self._similarity.nearness(text, list(plain.values())) if plain else np.zeros(1)
            if plain and near.max() >= FIELD_FROM:
                rows.append(
                    (
                        float(near.max()),
                        RowAnswer(
                            field=tuple(plain)[int(near.argmax())],
                            cells=(text[:300],),
                            quote=text[:400],
                        ),
                    )
                )
        best = sorted(rows, key=lambda pair: -pair[0])[:3]
        return Given(value=FormulationAnswer(rows=tuple(row for _, row in best)))


def declared(facts: Facts, question: Question[T]) -> Given[T]:
    """What the asker itself would do without a model."""
    return Given(value=question.fallback)


def _status(text: str) -> Literal["fact", "wish", "plan", "feeling"]:
    if WISH.search(text):
        return "wish"
    if PLAN.search(text):
        return "plan"
    return "feeling" if FEELING.search(text) else "fact"


def _words(fact: str) -> str:
    """What was said, of a fact that quotes it."""
    return fact.split("said: “")[-1].rstrip("”")
