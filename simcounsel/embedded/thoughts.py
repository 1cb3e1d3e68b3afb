"""Summaries, questions, insights and the persona's text: several candidates, the best grounded one
kept.

What a conversation leaves behind, without a model: a summary in the words that were said, and
how close the two feel.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from simcounsel.agents.emotion import ADJECTIVE, PLEASANT, emotion_relevance
from simcounsel.agents.facts import InsightsFacts, PersonaFacts, SalienceFacts, SummaryFacts
from simcounsel.agents.portrait import OF_A_DAY
from simcounsel.agents.tasks import (
    ClientInsightsAnswer,
    InsightAnswer,
    InsightsAnswer,
    PortraitAnswer,
    QuestionsAnswer,
    SessionSummaryAnswer,
    SummaryAnswer,
)
from simcounsel.chance import chance
from simcounsel.embedded.clientstates import ClientStates, agreed
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.similarity import Similarity
from simcounsel.embedded.texts import third_person_problem, ungrounded
from simcounsel.llm.question import Question
from simcounsel.prompts import render
from simcounsel.scripted.registry import Given
from simcounsel.specs.vocabulary import Emotion
from simcounsel.texts.sentences import before_capitals, first


def summaries_in_quotes(facts: SummaryFacts) -> list[str]:
    """Summaries in the words that were emphasized: true whatever was said."""
    name, other, role = facts.name, facts.other, facts.role
    speaker = name if role == "client" else other
    words = [f"“{line.emphasis}”" for line in facts.lines if line.who == speaker and line.emphasis]
    if not words:
        return [f"{name} talked with {other} for a while."]
    pairs = list(pairwise(words)) or [(words[0], "")]
    shapes = {
        "client": ("{name} told {other} about {a}", "{name} spoke with {other} of {a}"),
        "counselor": ("{name} heard {other} speak of {a}", "{name} asked {other} about {a}"),
        "layperson": (
            "{name} chatted with {other}, who spoke of {a}",
            "{name} listened to {other} talk about {a}",
        ),
    }[role]
    return [
        shape.format(name=name, other=other, a=a) + (f" and {b}." if b else ".")
        for a, b in pairs
        for shape in shapes
    ]


def closeness(seed: int, felt: Sequence[str]) -> Literal["as before", "closer"]:
    """Closer when it ended on a good feeling, now and then otherwise; as before when it ended in
    anger.
    """
    late = felt[-3:]
    if any(emotion in PLEASANT for emotion in late):
        return "closer"
    if late and late[-1] == "anger":
        return "as before"
    return "closer" if chance(seed, "closer").random() < 0.4 else "as before"


Write = Callable[..., str]
KEPT_SENTENCES = 6
WHICHEVER = re.compile(r"\b(he|she|they|him|her|them)\b")
"""Of two people who talked, a small model confuses which one a pronoun means."""
QUESTIONS = {
    "client": (
        "What keeps {name} awake?",
        "What is {name} most afraid of?",
        "What does {name} demand of themselves?",
        "How does {name} deal with mistakes?",
        "Whom does {name} trust, and whom not?",
        "What gives {name} some rest?",
        "What does {name} long for?",
        "What does {name} avoid?",
        "How does {name} feel about family and home?",
        "What has changed for {name} of late?",
        "What does {name} believe others think of them?",
        "What makes {name} angry?",
    ),
    "other": (
        "What is {name} busy with these days?",
        "Whom has {name} met, and what was on their mind?",
        "What does {name} enjoy?",
        "What tires {name}?",
        "What has {name} learned about the people nearby?",
        "What does {name} look forward to?",
    ),
}


class Thoughts:
    """Everything that is concluded. `write(prompt, seed, temperature)` completes a text."""

    def __init__(self, similarity: Similarity, feelings: Feelings, write: Write) -> None:
        self._similarity = similarity
        self._states = ClientStates(similarity)
        self._feelings = feelings
        self._write = write

    # what a conversation leaves behind

    def summary(
        self, facts: SummaryFacts, question: Question[SummaryAnswer]
    ) -> Given[SummaryAnswer]:
        """The best grounded of those written and those in the words that were emphasized."""
        name, lines = facts.name, facts.lines
        candidates = [*self._written_summaries(facts, question.seed), *summaries_in_quotes(facts)]
        talk = [line.text for line in lines]
        scores = [
            self._grounding(text, talk) + (0.08 if "“" in text else 0.0) for text in candidates
        ]
        text = candidates[int(np.argmax(scores))]
        own = [line.emotion for line in lines if line.who == name]
        felt = own if facts.role == "client" else [line.emotion for line in lines]
        emotion = Counter(e for e in felt[len(felt) // 2 :] if e != "neutral").most_common(1)
        last = emotion[0][0] if emotion else "neutral"
        poignancy = min(
            8, 2 + len(lines) // 3 + (2 if facts.role == "client" and len(lines) >= 6 else 0)
        )
        kind = SessionSummaryAnswer if facts.takes_home else SummaryAnswer
        return Given(
            value=kind(
                **(agreed(facts) if facts.takes_home else {}),
                summary=text,
                emotion=last,
                intensity=5 if last != "neutral" else 2,
                poignancy=poignancy,
                closeness=closeness(question.seed, felt),
            )
        )

    def _written_summaries(self, facts: SummaryFacts, seed: int) -> list[str]:
        name, other = facts.name, facts.other
        talk = " ".join(f"{line.who} said: {line.text}" for line in facts.lines[-6:])
        _, prompt = render("embedded_summary", name=name, other=other, talk=talk)
        texts = [first(f"{name} " + self._write(prompt, seed + k, 0.4)) for k in range(2)]
        plain = [
            text
            for text in texts
            if third_person_problem(text, name, talk) is None and not WHICHEVER.search(text)
        ]
        return [text for text in plain if other in text and not ungrounded(text, talk)]

    def _grounding(self, text: str, evidence: Sequence[str]) -> float:
        """Mean cosine to the three nearest pieces of evidence."""
        return float(np.sort(self._similarity.nearness(text, evidence))[-3:].mean())

    # reflection

    def questions(
        self, facts: SalienceFacts, question: Question[QuestionsAnswer]
    ) -> Given[QuestionsAnswer]:
        """Three questions near to the memories, apart from each other and, if it can be, not those
        of the last time.
        """
        templates = QUESTIONS["client" if facts.role == "client" else "other"]
        texts = [t.format(name=facts.name) for t in templates]
        memories = facts.memories or (facts.name,)
        rng = chance(question.seed, "questions")
        scores = np.array([self._grounding(text, memories) + rng.gauss(0, 0.04) for text in texts])
        scores -= 0.3 * np.array([text in facts.wondered for text in texts])
        chosen: list[int] = []
        while len(chosen) < 3:
            apart = np.array(
                [
                    max(
                        (self._similarity.nearest(texts[i], [texts[c]]) for c in chosen),
                        default=0.0,
                    )
                    for i in range(len(texts))
                ]
            )
            chosen.append(
                int(np.argmax(scores - 0.5 * apart - 9.0 * np.isin(np.arange(len(texts)), chosen)))
            )
        return Given(value=QuestionsAnswer(questions=tuple(texts[i] for i in chosen)))

    def insights(
        self, facts: InsightsFacts, question: Question[InsightsAnswer]
    ) -> Given[InsightsAnswer]:
        """Two conclusions, written or chosen, each with the evidence nearest to it."""
        name, evidence = facts.name, facts.evidence
        emotion_of = {e.text: e.tags.emotion for e in question.examples}
        candidates = [*self._written_insights(facts, question), *emotion_of]
        scores = self._insight_scores(facts, candidates, emotion_of)
        kept: list[InsightAnswer] = []
        known = list(facts.known)
        for text in sorted(candidates, key=lambda t: (-scores[t], t)):
            if self._similarity.nearest(text, known) > 0.86:
                continue
            near = self._similarity.nearness(text, evidence)
            cited = [int(i) + 1 for i in np.argsort(-near, kind="stable")[: min(3, len(evidence))]]
            poignant = max(facts.poignancies[i - 1] or 1 for i in cited)
            emotion = emotion_of.get(text) or self._feelings.feel(text).emotion
            kept.append(
                InsightAnswer(
                    text=text,
                    evidence=tuple(cited),
                    emotion=emotion,
                    intensity=5,
                    poignancy=max(4, min(8, poignant)),
                )
            )
            known.append(text)
            if len(kept) == 2:
                break
        if not kept:
            plain = f"{name} keeps coming back to one thing. {evidence[0]}"
            kept = [
                InsightAnswer(
                    text=plain[:590],
                    evidence=(1,),
                    emotion=facts.emotions[0] or "neutral",
                    intensity=3,
                    poignancy=3,
                )
            ]
        if not facts.beliefs:
            return Given(value=InsightsAnswer(insights=tuple(kept)))
        steps = self._states.steps(facts)
        return Given(value=ClientInsightsAnswer(insights=tuple(kept), beliefs=steps))

    def _insight_scores(
        self, facts: InsightsFacts, candidates: Sequence[str], emotion_of: Mapping[str, Emotion]
    ) -> dict[str, float]:
        """How well each is grounded, more if its emotion is near to what the evidence felt like."""
        mood = Counter(
            emotion for emotion in facts.emotions if emotion is not None and emotion != "neutral"
        ).most_common(2)
        return {
            text: (
                self._grounding(text, facts.evidence)
                + 0.25
                * max(
                    (
                        emotion_relevance(emotion_of.get(text, "neutral"), felt) - 0.5
                        for felt, _ in mood
                    ),
                    default=0.0,
                )
            )
            for text in candidates
        }

    def _written_insights(
        self, facts: InsightsFacts, question: Question[InsightsAnswer]
    ) -> list[str]:
        name = facts.name
        notes = " ".join(re.sub(r"“[^”]*”", "", text) for text in facts.evidence[:4])[:600]
        examples = "\n\n".join(f"Conclusion: {e.text}" for e in question.examples[:3])
        _, prompt = render("embedded_insight", name=name, notes=notes, examples=examples)
        texts = [first(f"{name} " + self._write(prompt, question.seed + k, 0.5)) for k in range(2)]
        return [
            text
            for text in dict.fromkeys(texts)
            if third_person_problem(text, name, notes) is None and not ungrounded(text, notes)
        ]

    # the persona's text

    def persona(
        self, facts: PersonaFacts, question: Question[PortraitAnswer]
    ) -> Given[PortraitAnswer]:
        """The old text with the new conclusions worked in; what they replace goes. Conclusions that
        hold for their day only are left out.
        """
        insights = [text for text in facts.insights if not OF_A_DAY.search(text)]
        if not insights:
            return Given(value=facts.portrait)
        old = before_capitals(facts.portrait.characteristic)
        first = insights[0]
        near = self._similarity.nearness(first, old)
        if len(old) > 2 and float(near.max()) > 0.6:
            old.pop(int(np.argmax(near)))
        while len(old) >= KEPT_SENTENCES:
            old.pop(2)
        feeling = self._mixed_feeling(facts)
        return Given(
            value=PortraitAnswer(
                characteristic=" ".join([*old, first]),
                recent_feeling=f"Of late {facts.name} has felt {feeling}. {insights[-1]}",
            )
        )

    def _mixed_feeling(self, facts: PersonaFacts) -> str:
        """The two emotions that the evidence holds most, in words."""
        felt = Counter(self._feelings.feel(text).emotion for text in facts.evidence)
        felt[facts.emotion] += 1
        words = [ADJECTIVE[emotion] for emotion, _ in felt.most_common() if emotion != "neutral"][
            :2
        ]
        return (
            f"mostly {words[0]}, at times {words[1]}"
            if len(words) == 2
            else f"mostly {words[0]}"
            if words
            else "much as always"
        )
