"""A client's reply to a counselor's offer of an exercise, to its steps, and to how it was: no
persona's file holds lines for these.
"""

import re
from random import Random

from simcounsel.agents.facts import LineFacts
from simcounsel.chance import chance
from simcounsel.embedded.labelled import labelled
from simcounsel.embedded.similarity import Probe, Similarity

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
