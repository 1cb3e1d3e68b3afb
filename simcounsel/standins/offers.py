"""A client's reply to a counselor's offer of an exercise, to its steps, and to how it was: no
persona's file holds lines for these.
"""

import re
from typing import Any

from simcounsel.chance import chance
from simcounsel.llm.question import Question
from simcounsel.standins.labelled import labelled
from simcounsel.standins.sense import Probe, Sense

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


class Offers:
    """Knows what is offered, and what to say to it."""

    def __init__(self, sense: Sense) -> None:
        self._sense = sense
        self._known = labelled("offers")
        self._probe = Probe(sense, self._known, neighbours=6)

    def reply(self, request: Question[Any]) -> str | None:
        """The line; None when nothing of the kind was asked, or all that could be said was said in
        this talk.
        """
        kind = self.kind(request)
        if kind is None:
            return None
        view, said = request.hints["view"], request.hints["said"]
        draw = chance(request.seed, "offer")
        here = [line.text for line in view.lines if line.who == view.me]
        fresh = [
            text
            for text, label in labelled("replies")
            if label == self._say(kind, request, draw) and text not in here
        ]
        fresh = [text for text in fresh if text not in said[-12:]] or fresh
        return draw.choice(fresh) if fresh else None

    def kind(self, request: Question[Any]) -> str | None:
        """What the counselor's last question is about: preference, offer, guiding, outcome or more;
        None for any other.
        """
        view = request.hints["view"]
        if view.other_role != "counselor" or view.heard is None:
            return None
        last = self._asked(view.heard.text)
        if last is None:
            return None
        if _just_did(view) and "another" not in last.lower():
            return "outcome"
        shares = self._probe.weights(last)
        best = max(shares, key=lambda label: shares[label])
        if (
            best == "other"
            or shares[best] < SURE
            or self._sense.nearest(last, [text for text, label in self._known if label == best])
            < NEAR
        ):
            return None
        if best == "offer" and _OPEN.search(last):
            return None
        if best == "preference" and any(line.who == view.me for line in view.lines[:-1]):
            return None
        if best == "thanked" and "?" in last:
            return None
        if best in ("outcome", "guiding", "more") and not _exercise_spoken_of(view):
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
        best = max(asked, key=lambda sentence: self._sense.nearest(sentence, known), default=None)
        return best if best and (self._sense.nearest(best, known) >= NEAR or "?" in text) else None

    def _say(self, kind: str, request: Question[Any], draw: Any) -> str:
        if kind == "offer":
            tries = TRIES.get(request.hints["emotion"], 0.8)
            return (
                "accept" if draw.random() < tries else "ask" if draw.random() < ASKS else "decline"
            )
        if kind == "guiding":
            own = [
                line.text
                for line in request.hints["view"].lines
                if line.who == request.hints["view"].me
            ]
            begun = sum(
                text in {t for t, label in labelled("replies") if label == "going_on"}
                for text in own[-3:]
            )
            return "understood" if begun >= 2 else "going_on"
        return {"more": "enough" if draw.random() < 0.85 else "once_more"}.get(kind, kind)


def _just_did(view: Any) -> bool:
    """Whether one's own last line said that the exercise was done or understood."""
    own = [line.text for line in view.lines if line.who == view.me]
    return bool(own) and own[-1] in {
        text for text, label in labelled("replies") if label == "understood"
    }


def _exercise_spoken_of(view: Any) -> bool:
    """Whether something was offered before: a reply to an offer is among one's own lines."""
    replies = {text for text, label in labelled("replies") if label in ("accept", "ask", "decline")}
    return any(line.text in replies for line in view.lines if line.who == view.me)
