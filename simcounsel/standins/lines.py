"""The next line of a conversation, chosen out of hand-written ones by what was just said.

A client's line: by what is being asked for (a probe over labelled questions), the theme that is
open, the stage its policy decided, nearness to what was heard and recalled, its feeling; and never
one that was said lately. A counselor's line is a reflection and a question of the decided kind,
with the client's own stressed words in at most one of the two. A layperson's line fits the act and
what was heard.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simcounsel.agents.emotion import emotion_relevance
from simcounsel.chance import chance
from simcounsel.llm.question import LISTENS, OWN, Example, Question
from simcounsel.specs.persona import fill_slots
from simcounsel.specs.vocabulary import QUESTIONS
from simcounsel.standins.feelings import Feelings
from simcounsel.standins.labelled import labelled
from simcounsel.standins.offers import Offers
from simcounsel.standins.sense import Probe, Sense
from simcounsel.texts import sentences

SOCIAL = ("greeting", "opening", "chat", "sympathy", "advice")
ASKED = ("opening", *QUESTIONS)
AGAIN = 40
"""A line counts as lately said within so many own lines."""
AT_HOME = 5.0
"""From this closeness (0 to 10) on nobody speaks as to a stranger."""
REFLECTS = 0.6
"""How often a word on what was heard stands before a policy's own line, where that is fitting."""
A_TELLING = 8
"""Words from which on a line tells something that can be taken up."""
TROUBLED = frozenset({"fear", "sadness", "anger", "disgust"})
THEMES = {
    "family": ("mother", "father", "amma", "daughter", "brother", "children", "marriage", "home"),
    "work": ("exam", "thesis", "ward", "restaurant", "tram", "money", "refusing"),
    "sleep": ("heat", "watch", "mornings", "rest"),
    "self": ("body", "silence", "words", "use", "idle"),
}
"""Broader themes of forms, and narrower ones of clients that they fit."""

Generate = Callable[[Question[Any], int], list[str]]
Speak = Callable[[Question[Any]], str | None]


@dataclass(frozen=True, kw_only=True)
class Pick:
    """A line: its text, the words it leans on, its feeling, and whether it was chosen or
    generated.
    """

    text: str
    stressed: str | None
    emotion: str
    source: str
    leaves: bool


class Lines:
    """Chooses lines; asks `generate` for new ones where no hand-written line is left that fits.
    tuned: asked first for a counselor's.
    """

    def __init__(
        self, sense: Sense, feelings: Feelings, generate: Generate, tuned: Speak | None = None
    ) -> None:
        self._sense = sense
        self._feelings = feelings
        self._generate = generate
        self._tuned = tuned
        self._offers = Offers(sense)
        self._cues = Probe(sense, labelled("cues"), neighbours=10)

    def answer(self, request: Question[Any]) -> tuple[dict[str, Any], Pick]:
        """The line as the fields of a LineAnswer, and how it came about."""
        pick = {"client": self._client, "counselor": self._counselor, "layperson": self._layperson}[
            request.hints["role"]
        ](request)
        feeling = self._feelings.feel(pick.text)
        same = pick.emotion == feeling.emotion
        quiet = request.hints["role"] != "client"
        intensity = 2 if quiet else feeling.intensity if same else 5
        poignancy = 2 if quiet else feeling.poignancy if same else 4
        fields = {
            "say": pick.text,
            "emotion": pick.emotion,
            "intensity": intensity,
            "poignancy": poignancy,
            "wish": "say goodbye" if pick.leaves else "go on",
        }
        return fields, pick

    # client

    def _client(self, request: Question[Any]) -> Pick:
        view = request.hints["view"]
        leaving = request.hints["move"] == "ending"
        reply = None if leaving else self._offers.reply(request)
        if reply:
            return Pick(
                text=reply,
                stressed=None,
                emotion=self._feelings.feel(reply).emotion,
                source="chosen",
                leaves=False,
            )
        began = any(line.who == view.me for line in view.lines)
        theme = _open_theme(request)
        begins = began and theme is None and not leaving
        cues = (
            {"closing": 1.0} if leaving else {"opening": 1.0} if begins else self._wanted_cues(view)
        )
        lately = _lately(request.hints["said"])
        here = {line.text for line in view.lines}
        fitting = [
            e
            for e in request.examples
            if e.text not in here and any(cue in cues for cue in e.tags["answers"])
        ]
        if begins:
            fitting = [e for e in fitting if e.tags["theme"] != "any"] or fitting
        if view.meeting > 1 or view.closeness >= AT_HOME:
            fitting = [e for e in fitting if e.tags["stage"] != "early"] or fitting
        fresh = [e for e in fitting if e.text not in lately] or fitting
        if not fresh:
            return self._made(request, leaving)
        scores = self._client_scores(request, fresh, cues)
        best = int(np.argmax(scores))
        if fresh[best].text in lately and not leaving:
            return self._made(request, leaving, fresh[best])
        return Pick(
            text=fresh[best].text,
            stressed=fresh[best].stressed,
            emotion=fresh[best].tags["emotion"],
            source="chosen",
            leaves=leaving,
        )

    def _wanted_cues(self, view: Any) -> dict[str, float]:
        """What the other's last line asks for, as shares; without one, an opening."""
        social = view.other_role != "counselor"
        if view.heard is None:
            return {"greeting": 1.0} if social else {"greeting": 0.5, "opening": 0.5}
        first = not any(line.who == view.me for line in view.lines)
        if first:
            return {"greeting": 1.0, "chat": 0.2} if social else {"opening": 1.0}
        allowed = SOCIAL[1:] if social else ASKED
        question = sentences.questions(view.heard.text)
        shares = self._cues.weights(
            question[-1].strip() if question and not social else view.heard.text
        )
        wanted = {cue: share for cue, share in shares.items() if cue in allowed}
        if social:
            wanted = {
                "chat": 0.3,
                "opening": 0.35,
                **{cue: share for cue, share in wanted.items() if cue in ("sympathy", "advice")},
            }
        return wanted or {"opening": 1.0}

    def _client_scores(
        self, request: Question[Any], lines: Sequence[Example], cues: dict[str, float]
    ) -> np.ndarray:
        view, hints = request.hints["view"], request.hints
        by_text = {e.text: e for e in request.examples}
        own = [
            by_text[line.text]
            for line in view.lines
            if line.who == view.me and line.text in by_text
        ]
        open_theme = _open_theme(request)
        texts = [e.text for e in lines]
        heard = self._sense.nearness(view.heard.text, texts) if view.heard else np.zeros(len(texts))
        mind = self._sense.nearness(" ".join(hints["memories"][:3]) or "today", texts)
        like_before = np.array([self._sense.nearest(text, [e.text for e in own]) for text in texts])
        trouble = (
            self._sense.nearness(f"I came because of {hints['trouble']}.", texts)
            if open_theme is None
            else np.zeros(len(texts))
        )
        spent = self._spent_themes(request)
        draw = chance(request.seed, "line")
        scores = []
        for index, e in enumerate(lines):
            cue = max(cues.get(c, 0.0) for c in e.tags["answers"])
            theme = e.tags["theme"]
            on_theme = (
                0.0
                if open_theme is None
                else 1.0
                if theme == open_theme
                else 0.15
                if theme == "any"
                else -0.6
            )
            fresh_theme = (
                -0.25 * spent.get(theme, 0) if open_theme is None and view.meeting > 1 else 0.0
            )
            stage = 0.25 if e.tags["stage"] == hints["move"] else 0.0
            mood = emotion_relevance(e.tags["emotion"], hints["emotion"]) - 0.5
            scores.append(
                1.6 * cue
                + 0.9 * on_theme
                + fresh_theme
                + stage
                + 0.7 * heard[index]
                + 0.5 * mind[index]
                + 0.2 * mood
                + (2.0 if view.meeting == 1 else 0.5) * trouble[index]
                - 0.5 * max(0.0, like_before[index] - 0.5)
                + draw.gauss(0, 0.06)
            )
        return np.array(scores)

    def _spent_themes(self, request: Question[Any]) -> dict[str, int]:
        """How many of one's lately said lines were on each theme."""
        by_text = {e.text: e.tags["theme"] for e in request.examples}
        spent: dict[str, int] = {}
        for text in request.hints["said"][-AGAIN:]:
            theme = by_text.get(text)
            if theme not in (None, "any"):
                spent[theme] = min(4, spent.get(theme, 0) + 1)
        return spent

    def _made(
        self, request: Question[Any], leaving: bool, otherwise: Example | None = None
    ) -> Pick:
        """A generated line, the candidate nearest to what was heard; the hand-written one if none
        is fit.
        """
        view = request.hints["view"]
        candidates = [
            text for text in self._generate(request, 3) if text not in request.hints["said"]
        ]
        if candidates:
            heard = view.heard.text if view.heard else view.other
            near = self._sense.nearness(heard, candidates) - 0.5 * np.array(
                [
                    self._sense.nearest(
                        text, [line.text for line in view.lines if line.who == view.me]
                    )
                    for text in candidates
                ]
            )
            text = candidates[int(np.argmax(near))]
            return Pick(
                text=text,
                stressed=None,
                emotion=self._feelings.feel(text).emotion,
                source="generated",
                leaves=leaving,
            )
        if otherwise is None:
            otherwise = (
                request.examples[0]
                if request.examples
                else Example(text=request.declared.say, tags={"emotion": "neutral"})
            )
        return Pick(
            text=otherwise.text,
            stressed=otherwise.stressed,
            emotion=otherwise.tags["emotion"],
            source="chosen",
            leaves=leaving,
        )

    # counselor

    def _counselor(self, request: Question[Any]) -> Pick:
        move, view = request.hints["move"], request.hints["view"]
        own = self._own(request)
        if own:
            return own
        if move == "greet":
            when = "first" if view.meeting == 1 else "later"
            greeting = self._form(request, "greet", words=False, when=when)
            return Pick(
                text=greeting, stressed=None, emotion="trust", source="chosen", leaves=False
            )
        if move == "close":
            parts = [self._form(request, "close", words=False)]
            if len(view.lines) >= 4:
                parts.insert(0, self._form(request, "summarize", words=True))
            return Pick(
                text=" ".join(parts), stressed=None, emotion="trust", source="chosen", leaves=True
            )
        if self._tuned and (text := self._tuned(request)):
            return Pick(text=text, stressed=None, emotion="trust", source="generated", leaves=False)
        quoting = chance(request.seed, "quote").random()
        reflection = self._form(request, "reflect", words=quoting < 0.45)
        asking = self._form(request, move, words=0.45 <= quoting < 0.8 and "“" not in reflection)
        return Pick(
            text=f"{reflection} {asking}",
            stressed=None,
            emotion="trust",
            source="chosen",
            leaves=False,
        )

    def _own(self, request: Question[Any]) -> Pick | None:
        """One of the lines that the policy brought: by nearness to what was heard, freshness and
        the draw, its slots filled. None when it brought none, or all of them were said in this
        talk.
        """
        view, said, slots = request.hints["view"], request.hints["said"], request.hints["slots"]
        pool = [e for e in request.examples if OWN in e.tags]
        here = " ".join(line.text for line in view.lines if line.who == view.me)
        filled = [
            (e, text)
            for e in pool
            if (text := fill_slots(e.text, name=view.other, **slots)) is not None
            and text not in here
        ]
        if not filled and not any(
            LISTENS in e.tags for e in pool
        ):  # lines of safety may be said again, others may not stand in for them
            filled = [
                (e, text)
                for e in pool
                if (text := fill_slots(e.text, name=view.other, **slots)) is not None
            ]
        if not filled:
            return None
        near = self._sense.nearness(
            view.heard.text if view.heard else view.other, [text for _, text in filled]
        )
        draw = chance(request.seed, "own")
        scores = [
            0.4 * near[i] + draw.gauss(0, 0.12) - 1.5 * _uses(e.text, said)
            for i, (e, _) in enumerate(filled)
        ]
        chosen, text = filled[int(np.argmax(scores))]
        if (
            chosen.tags.get(LISTENS)
            and "“" not in text
            and view.heard
            and len(view.heard.text.split()) >= A_TELLING
            and draw.random() < REFLECTS
        ):
            text = f"{self._form(request, 'reflect', words=draw.random() < 0.4)} {text}"
        return Pick(
            text=text,
            stressed=None,
            emotion="trust",
            source="chosen",
            leaves=bool(request.hints["leaves"]),
        )

    def _form(self, request: Question[Any], move: str, *, words: bool, when: str = "any") -> str:
        """The best form of a move, its slots filled. words: whether it should hold the client's own
        words.
        """
        view, slots = request.hints["view"], request.hints["slots"]
        said = request.hints["said"]
        pool = [
            e
            for e in request.examples
            if OWN not in e.tags and e.tags["move"] == move and e.tags["when"] in ("any", when)
        ]
        if when != "any":
            pool = [e for e in pool if e.tags["when"] == when] or pool
        pool = [e for e in pool if _suits(e, view)] or pool
        quoting = [e for e in pool if ("{words}" in e.text) == words]
        filled = [
            (e, text)
            for e in quoting or pool
            if (text := fill_slots(e.text, name=view.other, **slots)) is not None
            and (words or "{words}" not in e.text)
        ] or [
            (e, text)
            for e in pool
            if (text := fill_slots(e.text, name=view.other, **slots)) is not None
        ]
        if not filled:
            return str(request.declared.say)
        uses = np.array([_uses(e.text, said) for e, _ in filled])
        heard = view.heard.text if view.heard else view.other
        near = self._sense.nearness(heard, [text for _, text in filled])
        draw = chance(request.seed, "form", move)
        noise = np.array([draw.gauss(0, 0.12) for _ in filled])
        tagged = np.array(
            [
                (
                    0.25
                    if e.tags["emotion"] != "neutral"
                    else 0.15
                    if e.tags["theme"] != "any"
                    else 0.0
                )
                for e, _ in filled
            ]
        )
        return filled[int(np.argmax(0.5 * near + noise + tagged - 1.5 * uses))][1]

    # layperson

    def _layperson(self, request: Question[Any]) -> Pick:
        """The line for the act; nobody leaves a troubled friend without a kind word first."""
        view, move = request.hints["view"], request.hints["move"]
        pick = self._chat(request, move)
        if move == "close" and view.heard is not None and view.heard.emotion in TROUBLED:
            kind = self._chat(request, "sympathize")
            return Pick(
                text=f"{kind.text} {pick.text}",
                stressed=None,
                emotion=pick.emotion,
                source="chosen",
                leaves=True,
            )
        return pick

    def _chat(self, request: Question[Any], move: str) -> Pick:
        view = request.hints["view"]
        leaving = move == "close"
        said, slots = request.hints["said"], request.hints["slots"]
        heard = view.heard
        pool = [e for e in request.examples if e.tags["act"] == move] or list(request.examples)
        if move == "sympathize" and heard is not None:
            pool = [
                e
                for e in pool
                if e.tags["emotion"] == "neutral"
                or emotion_relevance(e.tags["emotion"], heard.emotion) > 0.8
            ] or pool
        filled = [
            (e, text)
            for e in pool
            if (text := fill_slots(str(e.tags["say"]), name=view.other, **slots)) is not None
        ]
        if not filled:
            return Pick(
                text=request.declared.say,
                stressed=None,
                emotion="neutral",
                source="chosen",
                leaves=leaving,
            )
        texts = [re.sub(r"\[([^\]]+)\]", r"\1", text) for _, text in filled]
        near = self._sense.nearness(heard.text, texts) if heard else np.zeros(len(texts))
        theme = self._theme_nearness(request, heard.text if heard else "")
        uses = np.array([_uses(str(e.tags["say"]), said) for e, _ in filled])
        draw = chance(request.seed, "chat")
        scores = [
            0.8 * near[i]
            + (0.0 if e.tags["theme"] == "any" else 1.2 * (theme.get(e.tags["theme"], 0.0) - 0.3))
            - 1.5 * uses[i]
            + draw.gauss(0, 0.05)
            for i, (e, _) in enumerate(filled)
        ]
        best = int(np.argmax(scores))
        emotion = (
            filled[best][0].tags["emotion"] if move in ("greet", "share", "close") else "trust"
        )
        return Pick(
            text=texts[best], stressed=None, emotion=emotion, source="chosen", leaves=leaving
        )

    def _theme_nearness(self, request: Question[Any], heard: str) -> dict[str, float]:
        """How near what was heard is to each theme of one's own lines: the mean of the two nearest
        lines.
        """
        by_theme: dict[str, list[str]] = {}
        for e in request.examples:
            if e.tags["theme"] != "any":
                by_theme.setdefault(e.tags["theme"], [f"It is about {e.tags['theme']}."]).append(
                    e.text
                )
        if not heard:
            return {}
        return {
            theme: float(np.sort(self._sense.nearness(heard, texts))[-2:].mean())
            for theme, texts in by_theme.items()
        }


def _open_theme(request: Question[Any]) -> str | None:
    """The theme of one's own last themed line in this conversation; None before there is one."""
    view = request.hints["view"]
    by_text = {e.text: e.tags["theme"] for e in request.examples}
    own = (by_text.get(line.text, "any") for line in reversed(view.lines) if line.who == view.me)
    return next((theme for theme in own if theme != "any"), None)


def _suits(form: Example, view: Any) -> bool:
    """A form for an emotion fits only where that emotion was heard; one for a theme where its words
    fall.
    """
    heard = view.heard
    emotion, theme = form.tags["emotion"], form.tags["theme"]
    if emotion != "neutral" and (heard is None or heard.emotion != emotion):
        return False
    if theme == "any":
        return True
    spoken = " ".join(line.text.lower() for line in view.lines[-2:] if line.who != view.me)
    stems = (theme, *THEMES.get(theme, ()))
    return any(re.search(rf"\b{stem}", spoken) for stem in stems)


def _lately(said: Sequence[str]) -> frozenset[str]:
    return frozenset(said[-AGAIN:])


def _uses(form: str, said: Sequence[str]) -> float:
    """How often a form was used, recent uses counting most: 1 for the last lines, less for older
    ones.
    """
    fixed = [part.strip() for part in re.split(r"\{[^}]*\}|\[|\]", form)]
    parts = [part for part in fixed if len(part) >= 6] or [part for part in fixed if part]
    uses = 0.0
    for age, text in enumerate(reversed(said)):
        if all(part in text for part in parts):
            uses = max(uses, 1.0 - 0.02 * min(age, 30))
    return uses
