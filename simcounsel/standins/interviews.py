"""A researcher's question, answered out of what somebody wrote for this person and what it lived
through.

What kind of question it is follows from the nearest labelled questions. Facts, days, people and
feelings are told from the persona's sheet and the log; all else is the hand-written line, situation
or memory that is nearest to the question. No answer is given twice, but for plain facts, and where
nothing is near the person says that it does not know.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.clock import time_text, weekday_of
from simcounsel.llm.question import Question
from simcounsel.standins.asked import Asked
from simcounsel.standins.company import Company
from simcounsel.standins.days import Days
from simcounsel.standins.knowledge import NEAR, OF_SOMEBODY, Candidate, Knowledge
from simcounsel.standins.sense import Sense
from simcounsel.standins.sheet import Sheet, contracted

SHORT = 14
"""An answer of fewer words may get a second sentence."""
TROUBLED = ("fear", "sadness", "disgust", "anger")
UNKNOWN = (
    "I couldn't tell you, I'm afraid.",
    "I don't know. I haven't given that any thought.",
    "There's nothing I could say to that, not today.",
    "I don't know anything about that.",
    "You'd have to ask somebody else.",
)
NO_HARM = (
    "There's nothing I could tell you about that.",
    "I've nothing to say about that. It isn't what I've been talking about.",
    "I can't answer that. I'd tell you if there were something.",
)
FACTS = frozenset(
    "name age job origin home family friends where time doing met plans food today yesterday night".split()
)
"""What may be asked twice: the answer is the same."""
PLEASANTRIES = {
    "hello": ("Hello again.",),
    "thanks": ("You're welcome.", "It's all right.", "Thank you for asking."),
    "goodbye": ("Goodbye.", "All right. Goodbye, then."),
    "machine": ("I don't know what to say to that. I am who I am.",),
}


class Again(str):
    """An answer that may be given a second time."""


class Interviews:
    """Answers of all kinds of people."""

    def __init__(self, sense: Sense) -> None:
        self._sense = sense

    def answer(self, request: Question[Any]) -> str:
        """What this person says."""
        return _Sitting(request.hints, self._sense).answer()


class _Sitting:
    """One question to one person."""

    def __init__(self, hints: Any, sense: Sense) -> None:
        self.lived = hints["past"]
        self.resident = self.lived.resident
        self.earlier = hints["earlier"]
        self.sheet = Sheet(self.resident.persona, self.resident.name)
        self.days = Days(self.lived)
        self.asked = Asked(hints["question"], self.earlier, self.sheet, self.lived.others)
        self.company = Company(self.lived, self.sheet, self.days)
        self.known = Knowledge(self.lived, self.sheet, hints["memories"], sense)
        self.sense = sense

    def answer(self) -> str:
        """The first thing that fits and was not said in this interview."""
        for text in self._ways():
            if text and (isinstance(text, Again) or not self._said(text)):
                return " ".join(text.split())
        return next(
            (text for text in UNKNOWN if not self._said(text)), "I've said what I can about that."
        )

    def _said(self, text: str) -> bool:
        return any(
            text in one.answer or (len(one.answer) > 40 and one.answer in text)
            for one in self.earlier
        )

    def _ways(self) -> Iterator[str]:
        asked = self.asked
        if asked.harm:
            yield from (*NO_HARM, Again(NO_HARM[0]))
        if asked.secret:
            yield from self._secrets()
        if not asked.follows:
            kind = asked.kind(self.sense)
            if kind:
                yield from self._of_kind(kind)
            if asked.person:
                yield from self.company.told(asked.person, asked)
            if kin := asked.missing_kin():
                yield from self._nearest(kin)
                yield f"I've no {kin} to tell you about."
            if stranger := asked.stranger():
                yield f"I don't know anybody called {stranger}."
        yield from self._nearest()
        if asked.person:
            yield from self.company.last_words(asked.person)

    def _of_kind(self, kind: str) -> Iterator[str]:
        found = [text for text in self._plain()[kind]() if text]
        yield from found
        if kind in PLEASANTRIES:
            yield from PLEASANTRIES[kind]
            yield Again(PLEASANTRIES[kind][-1])
        if kind in FACTS and found:
            yield Again(f"As I said. {found[0]}")

    def _plain(self) -> dict[str, Callable[[], list[str]]]:
        """By kind of question: the answers, best first."""
        sheet, days, known, text = self.sheet, self.days, self.known, self.asked.text
        return {
            "hello": lambda: [f"Hello. I'm {sheet.first}."],
            "thanks": list,
            "goodbye": list,
            "machine": lambda: [f"I'm {sheet.first}. I wouldn't know how to be anything else."],
            "name": lambda: [f"I'm {sheet.persona.name}. {next(iter(sheet.tales()), '')}".strip()],
            "age": lambda: [f"I'm {sheet.persona.age}."],
            "job": lambda: [sheet.job()],
            "origin": lambda: [sheet.origin()],
            "home": lambda: [sheet.home()],
            "family": lambda: [
                sheet.family() or "There isn't much family to tell of.",
                sheet.home(),
            ],
            "friends": lambda: [sheet.friends(), sheet.family()],
            "life": lambda: _pairs(sheet.tales()),
            "began": self._began,
            "habits": lambda: _pairs(known.sorted(text, sheet.habits())),
            "coping": lambda: known.sorted(text, sheet.coping()),
            "beliefs": lambda: [belief for belief, _ in sheet.beliefs()],
            "portrait": lambda: _pairs(known.version("characteristic")),
            "feeling": self._feeling,
            "lately": lambda: _pairs(known.version("recent_feeling")),
            "where": lambda: [self._where()],
            "doing": lambda: [contracted(days.doing()), *self._feeling()],
            "time": lambda: [
                f"{weekday_of(days.now, self.lived.scene.start)}, {time_text(days.now)}."
            ],
            "today": lambda: [days.today_told(), contracted(days.doing())],
            "food": lambda: [days.meals_told()],
            "yesterday": lambda: [
                days.yesterday_told() or "I couldn't tell you much about yesterday."
            ],
            "night": lambda: [days.night_told()],
            "plans": lambda: [days.plans_told("tomorrow" in text.lower())],
            "met": lambda: [days.mets_told()],
            "trouble": self._trouble,
            "mind": self._mind,
            "learned": self._learned,
            "helped": self.company.helped,
        }

    # the moment

    def _where(self) -> str:
        place = self.resident.place
        for called in (f"{self.resident.name}'s ", f"{self.resident.name}’s "):
            if place.startswith(called):
                return f"At home, in my {place.removeprefix(called).lower()}."
        return f"I'm at the {place}."

    def _feeling(self) -> list[str]:
        emotion, intensity = self.resident.emotion, self.resident.intensity
        much = "a little " if intensity <= 3 else "rather " if intensity <= 6 else "very "
        word = "nothing in particular" if emotion == "neutral" else f"{much}{ADJECTIVE[emotion]}"
        lately = _pairs(self.known.version("recent_feeling"))
        return [
            f"Just now? {word[:1].upper() + word[1:]}. {contracted(self.days.doing())}",
            *lately,
        ]

    # what is known from within

    def _began(self) -> list[str]:
        """What in the history dates the trouble, in the order in which it happened."""
        tales = [
            tale
            for tale in self.sheet.tales()
            if re.search(r"\b(ago|since|began|grew worse|stopped)\b", tale)
        ]
        near = set(self.known.sorted(self.asked.text, tales)[:4])
        return _pairs([tale for tale in tales if tale in near])

    def _trouble(self) -> list[str]:
        lines = [
            line.text
            for line in self.known.voice()
            if "opening" in line.answers and line.theme != "any"
        ]
        if lines:
            return self.known.sorted(
                f"I came because of {getattr(self.resident.persona, 'theme', '')}."
                f" {self.asked.text}",
                lines,
            )
        thoughts = [c for c in self.known.remembered() if c.emotion in TROUBLED]
        return [*_pairs(self.known.version("recent_feeling"))[:1], *self._texts(thoughts)]

    def _mind(self) -> list[str]:
        return self._texts([c for c in self.known.remembered() if c.worth > 0])

    def _texts(self, pool: list[Candidate]) -> list[str]:
        return [c.text for c in self.known.ranked(pool, self.asked.bare, self.asked.mood)]

    def _learned(self) -> list[str]:
        found = [
            self.sheet.told(m.text)
            for m in self.resident.memory.long.memories
            if m.origin == "insight"
        ]
        return [
            *(text for text in reversed(found) if text),
            "Not so much, to be honest. Nothing I could put into a sentence.",
        ]

    def _secrets(self) -> Iterator[str]:
        """What one believes or thinks and has told nobody in these days."""
        told = " ".join(
            text for met in self.lived.mets for who, text in met.lines if who == self.resident.name
        )
        pool = [text for text, _ in self.sheet.beliefs()] or [
            c.text for c in self.known.remembered() if c.emotion in TROUBLED
        ]
        lead = (
            "There is. "
            if re.match(r"(is|are|do|have|did)\b", self.asked.text, re.IGNORECASE)
            else ""
        )
        yield from (
            f"{lead}{text}" for text in self.known.sorted(self.asked.text, pool) if text not in told
        )

    def _nearest(self, kin: str | None = None) -> Iterator[str]:
        """Candidates from the nearest on, the first one with a second thought where it is short.
        kin: only those that speak of it.
        """
        asked = self.asked
        question = self.earlier[-1].answer if asked.follows else asked.bare
        pool = [c for c in self.known.all(asked) if not self._said(c.text)]
        about = (
            "|".join(map(re.escape, sorted(self.company.words_for(asked.person))))
            if asked.person
            else ""
        )
        if kin:
            about = rf"my (\w+ )?{re.escape(kin)}"
        if about:
            pool = [c for c in pool if re.search(rf"\b({about})\b", c.text, re.IGNORECASE)]
        ranked = self.known.ranked(pool, question, asked.mood, OF_SOMEBODY if about else NEAR)
        for number, best in enumerate(ranked):
            after = ranked[number + 1 : number + 4] if len(best.text.split()) < SHORT else []
            second = next(
                (
                    c
                    for c in after
                    if 0.3 < self.sense.nearest(best.text, [c.text]) < 0.8
                    and len(c.text.split()) < 30
                ),
                None,
            )
            yield f"{best.text} {second.text}" if second else best.text


def _pairs(texts: list[str]) -> list[str]:
    """Two sentences and two, one behind the other."""
    return [" ".join(texts[i : i + 2]) for i in range(0, len(texts), 2)]
