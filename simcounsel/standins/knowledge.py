"""All that somebody could say about itself at a moment, and which of it is nearest to a question.

What a persona file holds for later, conclusions not yet drawn and hopeful lines before anybody has
listened, is not known yet.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from simcounsel.standins.asked import MOODS, SAID_IN_MOOD, Asked
from simcounsel.standins.labelled import labelled
from simcounsel.standins.sense import Probe, Sense
from simcounsel.standins.sheet import OF_ONESELF, Sheet
from simcounsel.texts import sentences

NEAR = 0.3
"""Below this cosine nothing that is known answers a question."""
OF_SOMEBODY = 0.15
"""The same where all that is compared speaks of the person who was asked about."""
LEANS = re.compile(
    r"^(Then|So|And|But|Whether|That's|That|It does|It doesn't|You're|Thank|I suppose"
    r" so|Because|Or|If it|If they|Suppose|When it|When I leave it)\b"
)
"""How lines begin that answer something said just before."""
LATE = frozenset({"viewpoint", "consequence", "question"})
"""What answers only these leans on what was said before."""
SOCIAL = frozenset({"greeting", "chat", "sympathy", "advice", "closing"})
GLAD = {"joy": ("joy", "trust"), "trust": ("trust", "joy")}
COMMON = frozenset(
    (
        "about think would could shoul there thing somet someb anyth every where which when peopl"
        " yours your what that this with have from they some like feel does than then them were"
        " been much more ever also just into over know want tell will make made many most their"
        " these those befor after"
    ).split()
)


class Candidate(NamedTuple):
    """Something that could be said: the words, what a question is compared with, its worth
    beforehand, its emotion.
    """

    text: str
    key: str
    worth: float
    emotion: str = "neutral"


class Knowledge:
    """One person's. memories: what came to mind at this question."""

    def __init__(self, lived: Any, sheet: Sheet, memories: Sequence[Any], sense: Sense) -> None:
        self.lived = lived
        self.sheet = sheet
        self._memories = memories
        self._sense = sense

    def all(self, asked: Asked) -> list[Candidate]:
        """Lines, thoughts and what the sheet holds."""
        return [*self.spoken(asked), *self.remembered(), *self._written()]

    def ranked(
        self, pool: list[Candidate], question: str, mood: str | None, floor: float = -1.0
    ) -> list[Candidate]:
        """From the nearest on, each text once; nearness, worth, shared words, and the mood that is
        asked for.
        """
        if not pool:
            return []
        near = self._sense.nearness(question, [c.key for c in pool])
        score = near + np.array([c.worth for c in pool]) + _shared(question, pool)
        if mood:
            moods = GLAD.get(mood, (mood,))
            fits = np.array([c.emotion in moods for c in pool])
            worded = np.array(
                [
                    c.emotion != "neutral" and bool(re.search(MOODS[mood], c.text, re.IGNORECASE))
                    for c in pool
                ]
            )
            score = (
                score
                + 0.5 * self._sense.nearness(SAID_IN_MOOD[mood], [c.key for c in pool])
                + np.where(fits, 0.25, -0.25)
                + 0.15 * worded
            )
            near = np.where(fits, np.maximum(near, floor), near)
        order = [int(index) for index in np.argsort(-score, kind="stable") if near[index] >= floor]
        return list({pool[index].text: pool[index] for index in reversed(order)}.values())[::-1]

    def sorted(self, question: str, texts: list[str]) -> list[str]:
        """From the nearest on."""
        near = self._sense.nearness(question, texts)
        return [texts[index] for index in np.argsort(-near, kind="stable")]

    # where it comes from

    def voice(self) -> list[Any]:
        """A client's own lines that answer something, not a greeting; hopeful ones only once
        somebody has listened.
        """
        return [
            line
            for line in getattr(self.lived.resident.persona, "voice", ())
            if hasattr(line, "stage")
            and line.stage != "ending"
            and (self.lived.mets or line.stage != "hopeful")
            and set(line.answers) - SOCIAL
        ]

    def spoken(self, asked: Asked) -> Iterator[Candidate]:
        """Lines written by hand."""
        shares = Probe(self._sense, labelled("cues"), neighbours=8).weights(asked.text)
        for line in self.voice():
            if line.theme != "any":
                fits = max(shares.get(cue, 0.0) for cue in line.answers)
                worth = (
                    0.06
                    + 0.08 * fits
                    - (0.4 if LEANS.match(line.text) else 0.0)
                    - (0.1 if set(line.answers) <= LATE else 0.0)
                )
                yield Candidate(line.text, line.text, worth, line.emotion)
        for line in getattr(self.lived.resident.persona, "voice", ()):
            if re.search(r"\byou", line.text, re.IGNORECASE) or "{" in line.say:
                continue
            chats = (
                asked.mood in GLAD
                and "chat" in getattr(line, "answers", ())
                and line.theme != "any"
            )
            if chats or getattr(line, "act", None) == "share":
                yield Candidate(line.text, line.text, 0.06, line.emotion)

    def remembered(self) -> Iterator[Candidate]:
        """Thoughts and, of what came to mind, one's own lines; what cannot be retold safely is left
        out.
        """
        recalled = {memory.id for memory in self._memories}
        for memory in self.lived.resident.memory.long.memories:
            thought = memory.origin == "insight" or (
                memory.origin == "initial" and "“" not in memory.text
            )
            if thought and (told := self.sheet.told(memory.text)):
                yield Candidate(
                    told,
                    memory.text,
                    0.08 if memory.id in recalled else 0.05,
                    memory.emotion or "neutral",
                )
        for memory in self._memories:
            own = memory.type == "chat" and memory.text.startswith(
                f"{self.lived.resident.name} said"
            )
            if own and (told := self.sheet.told(memory.text)):
                yield Candidate(
                    told.replace("I said to", "I told", 1),
                    memory.text,
                    -0.08,
                    memory.emotion or "neutral",
                )

    def _written(self) -> Iterator[Candidate]:
        for key, text, emotion in self.sheet.situations():
            yield Candidate(text, key, 0.02, emotion)
        for text in self.sheet.tales():
            yield Candidate(text, text, 0.0)
        for text in (*self.sheet.habits(), *self.sheet.coping()):
            yield Candidate(text, text, -0.04)
        for text, emotion in self.sheet.beliefs():
            yield Candidate(text, text, 0.0, emotion)
        for text in (*self.version("characteristic"), *self.version("recent_feeling")):
            yield Candidate(text, text, -0.02)

    def version(self, which: str) -> list[str]:
        """The persona's text as it stood then, sentence by sentence."""
        resident = self.lived.resident
        text = getattr(resident.version or resident.persona.portrait, which)
        return [
            told
            for told in map(self.sheet.told, sentences.after_stops(text))
            if told and OF_ONESELF.search(told)
        ]


def _shared(question: str, pool: list[Candidate]) -> np.ndarray:
    """A little for each longer word of the question that is in a text, at most for two."""
    words = {word[:5] for word in re.findall(r"[a-z]{4,}", question.lower())} - COMMON
    return np.array(
        [
            0.08
            * min(2, len(words & {word[:5] for word in re.findall(r"[a-z]{4,}", c.key.lower())}))
            for c in pool
        ]
    )
