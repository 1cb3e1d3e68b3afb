"""A client's next line: by what is being asked for (a probe over labelled questions), the theme
that is open, the stage its policy decided, nearness to what was heard and recalled, its feeling;
and never one that was said lately.

A client's reply to a counselor's offer of an exercise, to its steps, and to how it was: no
persona's file holds lines for these.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import chance
from simcounsel.embedded.danger_replies import danger_reply
from simcounsel.embedded.feelings import Feelings
from simcounsel.embedded.labelled import labelled
from simcounsel.embedded.picks import Pick
from simcounsel.embedded.similarity import Probe, Similarity
from simcounsel.llm.question import Example, Question
from simcounsel.specs.vocabulary import QUESTIONS
from simcounsel.texts import sentences

SURE = 0.62
"""From this share of the nearest labelled questions on, a question is taken to be of its kind."""
NEAR = 0.45
"""Nothing is taken to be an offer that is no nearer than this to a labelled one."""
TRIES = {"fear": 0.75, "sadness": 0.7, "anger": 0.5, "disgust": 0.55}
"""How often an offer is accepted, by what the client feels; otherwise four times in five."""
ASKS = 0.4
"""How often one that is not accepted at once is asked about."""


_OPEN = re.compile(
    r"\b(?:what|where|when|which|who) (?:would|does|do|is|could)\b|^how (?:does|do)\b",
    re.IGNORECASE,
)
"""No offer is asked so, but many questions that sound like one."""
_ASKS = re.compile(r"\bif you (?:like|want)|\btell me when\b", re.IGNORECASE)


class ExerciseReplies:
    """Knows what is offered, and what to say to it."""

    def __init__(self, similarity: Similarity) -> None:
        self._similarity = similarity
        self._known = labelled("exercise_questions")
        self._probe = Probe(similarity, self._known, neighbours=6)

    def reply(self, facts: LineFacts, seed: int) -> str | None:
        """The line; None when nothing of the kind was asked, or all that could be said was said in
        this talk.
        """
        kind = self.kind(facts)
        if kind is None:
            return None
        rng = chance(seed, "offer")
        fresh = [
            text
            for text, label in labelled("exercise_replies")
            if label == self._say(kind, facts, rng) and text not in facts.own
        ]
        fresh = [text for text in fresh if text not in facts.said[-12:]] or fresh
        return rng.choice(fresh) if fresh else None

    def kind(self, facts: LineFacts) -> str | None:
        """What the counselor's last question is about: preference, offer, guiding, outcome or more;
        None for any other.
        """
        if facts.other_role != "counselor" or facts.heard is None:
            return None
        last = self._asked(facts.heard.text)
        if last is None:
            return None
        if _just_did(facts) and "another" not in last.lower():
            return "outcome"
        shares = self._probe.weights(last)
        best = max(shares, key=lambda label: shares[label])
        if (
            best == "other"
            or shares[best] < SURE
            or self._similarity.nearest(
                last, [text for text, label in self._known if label == best]
            )
            < NEAR
        ):
            return None
        if best == "offer" and _OPEN.search(last):
            return None
        if best == "preference" and any(line.who == facts.me for line in facts.lines[:-1]):
            return None
        if best == "thanked" and "?" in last:
            return None
        if best in ("outcome", "guiding", "more") and not _exercise_spoken_of(facts):
            return None
        return str(best)

    def _asked(self, text: str) -> str | None:
        """The sentence of what was heard that comes nearest to a labelled question; None when
        nothing is asked, or none comes near.
        """
        plain = re.sub(r"“[^”]*”", "it", text)
        asked = [
            s.strip()
            for s in re.findall(r"[^.!?]+[.!?]", plain)
            if "?" in s or _ASKS.search(s) or ("?" not in plain and "thank" in s.lower())
        ]
        known = [question for question, label in self._known if label != "other"]
        best = max(
            asked, key=lambda sentence: self._similarity.nearest(sentence, known), default=None
        )
        return (
            best
            if best and (self._similarity.nearest(best, known) >= NEAR or "?" in text)
            else None
        )

    def _say(self, kind: str, facts: LineFacts, rng: Random) -> str:
        if kind == "offer":
            tries = TRIES.get(facts.emotion, 0.8)
            return "accept" if rng.random() < tries else "ask" if rng.random() < ASKS else "decline"
        if kind == "guiding":
            begun = sum(
                text in {t for t, label in labelled("exercise_replies") if label == "going_on"}
                for text in facts.own[-3:]
            )
            return "understood" if begun >= 2 else "going_on"
        return {"more": "enough" if rng.random() < 0.85 else "once_more"}.get(kind, kind)


def _just_did(facts: LineFacts) -> bool:
    """Whether one's own last line said that the exercise was done or understood."""
    return bool(facts.own) and facts.own[-1] in {
        text for text, label in labelled("exercise_replies") if label == "understood"
    }


def _exercise_spoken_of(facts: LineFacts) -> bool:
    """Whether something was offered before: a reply to an offer is among one's own lines."""
    replies = {
        text
        for text, label in labelled("exercise_replies")
        if label in ("accept", "ask", "decline")
    }
    return any(text in replies for text in facts.own)


SOCIAL = ("greeting", "opening", "chat", "sympathy", "advice")
ASKED = ("opening", *QUESTIONS)
AGAIN = 40
"""How many of one's own lines back a line counts as lately said."""
AT_HOME = 5.0
"""From this closeness (0 to 10) on nobody speaks as to a stranger."""

Generate = Callable[[LineFacts, Question[LineAnswer], int], list[str]]
"""New lines, at most so many."""


class ClientLines:
    """Chooses lines; asks `generate` for new ones where no hand-written line is left that fits."""

    def __init__(self, similarity: Similarity, feelings: Feelings, generate: Generate) -> None:
        self._similarity = similarity
        self._feelings = feelings
        self._generate = generate
        self._exercise_replies = ExerciseReplies(similarity)
        self._cues = Probe(similarity, labelled("cues"), neighbours=10)

    def line(self, facts: LineFacts, question: Question[LineAnswer]) -> Pick:
        leaving = facts.move == "ending"
        reply = danger_reply(facts, question.examples, question.seed)
        reply = reply or (None if leaving else self._exercise_replies.reply(facts, question.seed))
        if reply:
            return Pick(
                text=reply,
                emphasis=None,
                emotion=self._feelings.feel(reply).emotion,
                source="chosen",
                leaves=leaving,
            )
        began = any(line.who == facts.me for line in facts.lines)
        theme = _open_theme(facts, question)
        begins = began and theme is None and not leaving
        cues = (
            {"closing": 1.0}
            if leaving
            else {"opening": 1.0}
            if begins
            else self._wanted_cues(facts)
        )
        lately = frozenset(facts.said[-AGAIN:])
        here = {line.text for line in facts.lines}
        fitting = [
            e
            for e in question.examples
            if e.text not in here and any(cue in cues for cue in e.tags.answers)
        ]
        if begins:
            fitting = [e for e in fitting if e.tags.theme != "any"] or fitting
        if facts.meeting > 1 or facts.closeness >= AT_HOME:
            fitting = [e for e in fitting if e.tags.move != "early"] or fitting
        fresh = [e for e in fitting if e.text not in lately] or fitting
        if not fresh:
            return self._made(facts, question, leaving)
        scores = self._scores(facts, question, fresh, cues)
        best = int(np.argmax(scores))
        if fresh[best].text in lately and not leaving:
            return self._made(facts, question, leaving, fresh[best])
        return Pick(
            text=fresh[best].text,
            emphasis=fresh[best].emphasis,
            emotion=fresh[best].tags.emotion,
            source="chosen",
            leaves=leaving,
        )

    def _wanted_cues(self, facts: LineFacts) -> dict[str, float]:
        """What the other's last line asks for, as shares; without one, an opening."""
        social = facts.other_role != "counselor"
        if facts.heard is None:
            return {"greeting": 1.0} if social else {"greeting": 0.5, "opening": 0.5}
        first = not any(line.who == facts.me for line in facts.lines)
        if first:
            return {"greeting": 1.0, "chat": 0.2} if social else {"opening": 1.0}
        allowed = SOCIAL[1:] if social else ASKED
        question = sentences.questions(facts.heard.text)
        shares = self._cues.weights(
            question[-1].strip() if question and not social else facts.heard.text
        )
        wanted = {cue: share for cue, share in shares.items() if cue in allowed}
        if social:
            wanted = {
                "chat": 0.3,
                "opening": 0.35,
                **{cue: share for cue, share in wanted.items() if cue in ("sympathy", "advice")},
            }
        return wanted or {"opening": 1.0}

    def _scores(
        self,
        facts: LineFacts,
        question: Question[LineAnswer],
        lines: Sequence[Example],
        cues: dict[str, float],
    ) -> np.ndarray:
        by_text = {e.text: e for e in question.examples}
        own = [
            by_text[line.text]
            for line in facts.lines
            if line.who == facts.me and line.text in by_text
        ]
        open_theme = _open_theme(facts, question)
        texts = [e.text for e in lines]
        heard = (
            self._similarity.nearness(facts.heard.text, texts)
            if facts.heard
            else np.zeros(len(texts))
        )
        mind = self._similarity.nearness(" ".join(facts.memories[:3]) or "today", texts)
        like_before = np.array(
            [self._similarity.nearest(text, [e.text for e in own]) for text in texts]
        )
        trouble = (
            self._similarity.nearness(f"I came because of {facts.theme}.", texts)
            if open_theme is None
            else np.zeros(len(texts))
        )
        spent = self._spent_themes(facts, question)
        rng = chance(question.seed, "line")
        scores = []
        for index, e in enumerate(lines):
            cue = max(cues.get(c, 0.0) for c in e.tags.answers)
            theme = e.tags.theme
            fresh_theme = (
                -0.25 * spent.get(theme, 0) if open_theme is None and facts.meeting > 1 else 0.0
            )
            stage = 0.25 if e.tags.move == facts.move else 0.0
            mood = emotion_relevance(e.tags.emotion, facts.emotion) - 0.5
            scores.append(
                1.6 * cue
                + 0.9 * _on_theme(theme, open_theme)
                + fresh_theme
                + stage
                + 0.7 * heard[index]
                + 0.5 * mind[index]
                + 0.2 * mood
                + (2.0 if facts.meeting == 1 else 0.5) * trouble[index]
                - 0.5 * max(0.0, like_before[index] - 0.5)
                + rng.gauss(0, 0.06)
            )
        return np.array(scores)

    def _spent_themes(self, facts: LineFacts, question: Question[LineAnswer]) -> dict[str, int]:
        """How many of one's lately said lines were on each theme."""
        by_text = {e.text: e.tags.theme for e in question.examples}
        spent: dict[str, int] = {}
        for text in facts.said[-AGAIN:]:
            theme = by_text.get(text)
            if theme not in (None, "any"):
                spent[theme] = min(4, spent.get(theme, 0) + 1)
        return spent

    def _made(
        self,
        facts: LineFacts,
        question: Question[LineAnswer],
        leaving: bool,
        otherwise: Example | None = None,
    ) -> Pick:
        """A generated line, the candidate nearest to what was heard; the hand-written one if none
        is fit.
        """
        candidates = [text for text in self._generate(facts, question, 3) if text not in facts.said]
        if candidates:
            heard = facts.heard.text if facts.heard else facts.other
            near = self._similarity.nearness(heard, candidates) - 0.5 * np.array(
                [
                    self._similarity.nearest(
                        text, [line.text for line in facts.lines if line.who == facts.me]
                    )
                    for text in candidates
                ]
            )
            text = candidates[int(np.argmax(near))]
            return Pick(
                text=text,
                emphasis=None,
                emotion=self._feelings.feel(text).emotion,
                source="generated",
                leaves=leaving,
            )
        if otherwise is None:
            otherwise = (
                question.examples[0] if question.examples else Example(text=question.fallback.say)
            )
        return Pick(
            text=otherwise.text,
            emphasis=otherwise.emphasis,
            emotion=otherwise.tags.emotion,
            source="chosen",
            leaves=leaving,
        )


def _on_theme(theme: str | None, open_theme: str | None) -> float:
    """How well a line's theme goes with the one that is open, -0.6 to 1; 0 when none is."""
    if open_theme is None:
        return 0.0
    if theme == open_theme:
        return 1.0
    return 0.15 if theme == "any" else -0.6


def _open_theme(facts: LineFacts, question: Question[LineAnswer]) -> str | None:
    """The theme of one's own last themed line in this conversation; None before there is one."""
    by_text = {e.text: e.tags.theme for e in question.examples}
    own = (by_text.get(line.text, "any") for line in reversed(facts.lines) if line.who == facts.me)
    return next((theme for theme in own if theme != "any"), None)
