"""What a staged session asks of the embedded model: verdicts by stated rules, notes out of the
client's own words.

- A part of the session is done when the client has said enough words in it and a feeling or
  something that happened is among them.
- An intent is that of the nearest labelled lines, if they agree; otherwise it is unclear.
- The mood is what the client's last lines feel like; the notes are the client's sentences that
  carry most.
"""

import re

import numpy as np

from simcounsel.agents.emotion import PLEASANT
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.labelled import labelled
from simcounsel.embedded.similarity import Probe, Similarity
from simcounsel.llm.question import Question
from simcounsel.scripted.registry import Given, StandIns
from simcounsel.texts.sentences import before_capitals
from simcounsel.therapies.staged.questions import (
    UNCLEAR,
    ExerciseFacts,
    IntentFacts,
    NoteFacts,
    SufficiencyAnswer,
    SufficiencyFacts,
    ValenceFacts,
)

ENOUGH_WORDS, A_GREETING = 18, 3
"""Words that a client must have said in a part that asks for feelings or events, and in any
other.
"""
AGREED = 0.55
NOTE_SENTENCES, NOTE_CHARACTERS = 8, 900
_TOLD = re.compile(
    r"\b(feel\w*|felt|afraid|scared|sad\w*|angry|tired|lonely|asham\w*|guilt\w*|worr\w*|anxious|hurt\w*|glad|happy|calm\w*|empty|numb|cry\w*|hope\w*"
    r"|happen\w*|said|told|asked|went|came|left|lost|died|when|nights?|yesterday|awake|sle[ep]\w*|last"
    r"|morning|because|since|always|never|every)\b",
    re.IGNORECASE,
)
_ASKS_FOR_TELLING = re.compile(
    r"\b(feel\w*|happened|told|weigh\w*|reason|lying awake|night|trouble\w*|own view|bed)\b",
    re.IGNORECASE,
)


class Guided:
    """Answers what a staged session asks."""

    def __init__(self, similarity: Similarity, feelings: Feelings) -> None:
        self._similarity = similarity
        self._feelings = feelings
        self._intents = labelled("intents")

    def register(self, standins: StandIns) -> None:
        """Answer what a staged session asks."""
        standins.add(SufficiencyFacts, self.sufficient)
        standins.add(IntentFacts, self.intent)
        standins.add(ValenceFacts, self.valence)
        standins.add(NoteFacts, self.note)
        standins.add(ExerciseFacts, self.exercise)

    def sufficient(
        self, facts: SufficiencyFacts, question: Question[SufficiencyAnswer]
    ) -> Given[SufficiencyAnswer]:
        """By the number of words and a word of feeling or happening; parts that ask for neither
        need an answer only.
        """
        words = sum(len(text.split()) for text in facts.heard)
        found = _TOLD.search(" ".join(facts.heard))
        telling = any(_ASKS_FOR_TELLING.search(criterion) for criterion in facts.criteria)
        enough = words >= (ENOUGH_WORDS if telling else A_GREETING) and (
            found is not None or not telling
        )
        reason = f"{words} words" + (
            f", “{found[0]}” among them" if found else ", none of a feeling or of what happened"
        )
        return Given(value=SufficiencyAnswer(reason=reason, sufficient="yes" if enough else "no"))

    def intent(self, facts: IntentFacts, question: Question[str]) -> Given[str]:
        """The kind of the nearest labelled lines, among those that are possible here."""
        possible = [(text, label) for text, label in self._intents if label in question.options]
        shares = Probe(self._similarity, possible, neighbours=5).weights(facts.heard)
        best = max(shares, key=lambda label: (shares[label], label))
        sure = shares[best] >= AGREED
        why = f"{shares[best]:.0%} of the nearest lines mean {best}" + (
            "" if sure else ", which is too few"
        )
        return Given(value=best if sure else UNCLEAR, notes={"why": why})

    def valence(self, facts: ValenceFacts, question: Question[str]) -> Given[str]:
        """Negative unless the last lines feel good."""
        felt = [
            emotion if emotion != "neutral" else self._feelings.feel(text).emotion
            for text, emotion in facts.heard
        ]
        good = sum(emotion in PLEASANT for emotion in felt) > len(felt) / 2
        return Given(
            value="positive" if good else "negative",
            notes={"why": f"the last lines: {', '.join(felt) or 'none'}"},
        )

    def note(self, facts: NoteFacts, question: Question[str]) -> Given[str]:
        """The notes so far, and the client's sentences nearest to all that was said, in quotation
        marks.
        """
        old = re.findall(r"“([^”]+)”", facts.notes)
        new = [
            s.replace("“", "‘").replace("”", "’")
            for text in facts.heard
            for s in before_capitals(text)
            if len(s.split()) >= 7
        ]
        kept = [*old, *self._nearest(new, 3)][-NOTE_SENTENCES:]
        while len(kept) > 1 and sum(map(len, kept)) > NOTE_CHARACTERS:
            kept.pop(0)
        text = (
            f"{facts.other} said: " + " ".join(f"“{sentence}”" for sentence in kept)
            if kept
            else f"{facts.other} has said little so far."
        )
        return Given(value=text)

    def _nearest(self, lines: list[str], count: int) -> list[str]:
        """The sentences nearest to everything that was told, in the order of the talk."""
        if len(lines) <= count:
            return lines
        near = self._similarity.nearness(" ".join(lines), lines)
        return [lines[index] for index in sorted(np.argsort(-near, kind="stable")[:count])]

    def exercise(self, facts: ExerciseFacts, question: Question[str]) -> Given[str]:
        """The one nearest to what was told, those that suit the feeling before the others."""
        kept = facts.candidates
        heard = " ".join((*facts.heard[-4:], facts.notes[-300:]))
        near = self._similarity.nearness(heard, [f"{one.name}. {one.goal}" for one in kept])
        suits = np.array([0.25 if facts.emotion in one.suits else 0.0 for one in kept])
        best = int(np.argmax(near + suits))
        fits = "suits what is felt and " if suits[best] else ""
        return Given(
            value=kept[best].id,
            notes={"why": f"{fits}is nearest to what was told ({near[best]:.2f})"},
        )
