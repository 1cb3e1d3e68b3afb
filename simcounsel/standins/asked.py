"""What a researcher's question asks for: its kind, its mood, whom it is about."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from simcounsel.standins.labelled import labelled
from simcounsel.standins.sense import Sense
from simcounsel.standins.sheet import FAMILY, Sheet
from simcounsel.texts import sentences

SURE = 0.62
"""From this cosine to a labelled question on, a question is taken to be of its kind."""
RATHER = 0.1
"""So much surer it must be of kinds that end a talk when they are mistaken."""
MOODS = {
    "fear": r"\b(afraid|fear\w*|scar\w+|frighten\w+|anxious|dread\w*|panic\w*|worr\w+)\b",
    "anger": r"\b(angr\w+|anger|furious|cross|annoy\w+|mad)\b",
    "sadness": r"\b(sad\w*|miss|lonely|loneliness|grie\w+|cry|hurt\w*)\b",
    "joy": r"\b(happy|happi\w+|glad|enjoy\w*|joy\w*|fun|laugh\w*|pleased|pleasure)\b",
    "anticipation": (
        r"\b(hope\w*|hoping|wish\w*|look forward|dream of|long for|future|expect|would you"
        r" (like|want))\b"
    ),
    "disgust": r"\b(asham\w+|shame|guilt\w*|hate|blame)\b",
    "trust": r"\b(trust\w*|calm\w*|rest(?! of)|peace\w*|comfort\w*|safe)\b",
}
"""The words by which a question asks for an emotion."""
SAID_IN_MOOD = {
    "fear": "I am afraid that something will happen.",
    "anger": "It makes me angry.",
    "sadness": "It makes me sad.",
    "joy": "It makes me happy, I like it.",
    "anticipation": "I hope for it, I would like that.",
    "disgust": "I am ashamed of myself.",
    "trust": "It calms me and does me good.",
}
SYNONYMS = {
    "mum": "mother",
    "mom": "mother",
    "dad": "father",
    "therapist": "counselor",
    "boss": "lead",
    "neighbor": "neighbour",
}
_AGAIN = re.compile(
    r"^((and|but|so)\W+)?(why( not)?|how come|how so|go on|really|what else|and then|and|in what"
    r" way|for example|such as"
    r"|why (is|was|do you (say|think|feel)) (that|this|so)|(can|could|would) you (say|tell me)"
    r" (some )?more.*|(tell me|say) more.*"
    r"|(what|how) do you mean.*|can you give.* example)\W*$",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\b(suicid\w*|kill (yourself|you)|ending (your|it)|end your life|self-harm|harm(ing)?"
    r" yourself|hurt(ing)? yourself|wish you were dead)\b",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(never|not|n't) (told|said|tell|mention\w*|admit\w*)\b|\bsecret\w*|\bkeep(ing)?"
    r" from\b|\bhid(e|ing)\b",
    re.IGNORECASE,
)
_TALK = re.compile(
    r"\b(talk\w*|said|say|says|tell|told|ask(ed|s)?|discuss\w*|session|conversation|spoke|speak|met|meet|meeting|happened)\b",
    re.IGNORECASE,
)
_LIKING = re.compile(
    r"\b(like|trust|close|feel (about|for)|think (of|about)|get (on|along)|relationship|love|how do"
    r" you see|make of|opinion)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(hello|hi|hey|good (morning|afternoon|evening)|thank you|thanks|okay|ok|well|i see|so)\b["
    r" ,.!]*(\w+[,.!] )?",
    re.IGNORECASE,
)


class Asked:
    """One question. earlier: the exchanges before it in this interview, each with `question` and
    `answer`.
    """

    def __init__(self, question: str, earlier: Any, sheet: Sheet, others: Any) -> None:
        self.text = _ungreeted(question)
        self._earlier = earlier
        self._sheet = sheet
        self._others = others
        self.follows = bool(earlier) and bool(_AGAIN.match(self.text))
        self.harm, self.secret = bool(_HARM.search(self.text)), bool(_SECRET.search(self.text))
        self.person = None if self.follows else self._person()

    @property
    def bare(self) -> str:
        """The last question of several sentences, since the rest leads up to it."""
        found = sentences.questions(self.text)
        last = found[-1].strip() if found else self.text
        return last if len(last.split()) >= 3 else self.text

    @property
    def mood(self) -> str | None:
        """The emotion it asks for; None when it asks for none."""
        return next(
            (
                emotion
                for emotion, words in MOODS.items()
                if re.search(words, self.text, re.IGNORECASE)
            ),
            None,
        )

    @property
    def of_talk(self) -> bool:
        """Whether it is about something that was said."""
        return bool(_TALK.search(self._untold))

    @property
    def of_liking(self) -> bool:
        """Whether it is about how one stands to somebody."""
        return bool(_LIKING.search(self.text))

    @property
    def who(self) -> bool:
        """Whether it asks who somebody is."""
        return bool(re.search(r"\b(who is|who's|who are)\b", self.text, re.IGNORECASE))

    @property
    def open(self) -> bool:
        """'Tell me about ...', 'How is ...?'"""
        return bool(
            re.search(r"\btell me\b|\bwhat about\b|\bhow('s| is| are)\b", self.text, re.IGNORECASE)
        )

    def speaker(self, other: str) -> str | None:
        """Whose words are asked for: 'theirs', 'mine', or None."""
        if re.search(
            rf"\b({re.escape(other)}|she|he|they|counselor|friend)\b"
            r" (say|said|tell|told|ask|asked|want)",
            self._untold,
            re.IGNORECASE,
        ):
            return "theirs"
        return (
            "mine"
            if re.search(
                r"\byou (say|said|tell|told|ask|asked|answer)", self._untold, re.IGNORECASE
            )
            else None
        )

    @property
    def for_feelings(self) -> bool:
        """Whether it asks what was felt."""
        return bool(re.search(r"\b(feel|felt|feeling)\b", self.text, re.IGNORECASE))

    @property
    def for_questions(self) -> bool:
        """Whether the questions of a talk are asked for, not its lines."""
        return bool(re.search(r"\bask", self._untold))

    @property
    def _untold(self) -> str:
        return re.sub(r"\btell me\b", "", self.text, flags=re.IGNORECASE)

    def kind(self, sense: Sense) -> str | None:
        """The kind of the nearest labelled question; None when it is near to none, or is an open
        one.
        """
        kinds = labelled("asked")
        near = sense.nearness(self.bare, [text for text, _ in kinds])
        best = int(np.argmax(near))
        kind: str = kinds[best][1]
        sure = near[best] >= SURE + (RATHER if kind in ("machine", "name", "hello") else 0.0)
        elsewhere = (self.person or self.missing_kin()) is not None and kind not in (
            "helped",
            "plans",
        )
        return kind if sure and kind != "open" and not elsewhere else None

    def _person(self) -> str | None:
        """Whom it is about: by name, by relation ('your mother'), or 'she' for whoever was asked
        about before.
        """
        found = self._named(self.text)
        if found is None and re.search(r"\b(she|he|her|him)\b", self.text, re.IGNORECASE):
            found = next(
                (name for one in reversed(self._earlier) if (name := self._named(one.question))),
                None,
            )
        return found

    def _named(self, question: str) -> str | None:
        for name in _each(self._others, self._sheet.people):
            if re.search(rf"\b{re.escape(name)}\b", question, re.IGNORECASE):
                return str(name)
        words = {
            *re.findall(r"\b(?:your|the) \w+ (\w+)", question.lower()),
            *re.findall(r"\b(?:your|the) (\w+)", question.lower()),
        }
        asked = {SYNONYMS.get(word, word) for word in words}
        for name, one in self._sheet.people.items():
            if asked & set(re.findall(r"\w+", one.relation.lower())):
                return str(name)
        return next(
            (str(name) for name, role in sorted(self._others.items()) if role in asked), None
        )

    def missing_kin(self) -> str | None:
        """A relative who is asked about and not on the sheet."""
        found = re.search(rf"\byour (?:\w+ )?({FAMILY.pattern[2:-2]})\b", self.text, re.IGNORECASE)
        return found.group(1).lower() if found and self.person is None else None

    def stranger(self) -> str | None:
        """A name that the sheet does not hold."""
        found = re.search(
            r"\b(?:[Ww]ho is|know|about|meet|met) ([A-Z][a-z]+)\b(?! (?:Park|Center|Street))",
            self.text,
        )
        return (
            found.group(1)
            if found and self.person is None and found.group(1) not in str(self._sheet.persona)
            else None
        )


def _each(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


def _ungreeted(question: str) -> str:
    """Without 'Hello,' in front, unless that is all."""
    rest = _GREETING.sub("", question)
    return rest[:1].upper() + rest[1:] if len(rest.split()) >= 2 else question
