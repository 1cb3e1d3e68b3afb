"""A course without a capable model: skills by nearness of their cues to what was heard, notes and
facts in the words that were said.

Nothing here understands a session. What it writes is true to the words, and a goal is called met
only where a line is very near to it.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.chance import chance
from simcounsel.llm.question import Question
from simcounsel.standins.feelings import Feelings
from simcounsel.standins.sense import Sense
from simcounsel.texts.sentences import before_capitals

Fields = dict[str, Any]
USED_AGAIN, LATELY = 0.12, 0.06
"""How much of nearness a skill loses for each use in the session, and for a use in the sessions
before.
"""
MET_FROM, SAME_FROM, AGAINST_FROM, FIELD_FROM, TOUCHED_FROM = 0.52, 0.9, 0.8, 0.3, 0.38
"""Cosines from which on a line shows a goal, a fact repeats or may contradict another, fits a
field, or touches a way of guarding.
"""
TASK = re.compile(
    r"\b(until (we|next|then)|till next|this (coming )?week|before we meet|try|write"
    r" down|notice|keep a note)\b",
    re.IGNORECASE,
)
WISH = re.compile(
    r"\bI (wish|want|hope|would like|long)\b|\bI'd (like|love|give)\b|\bif only\b", re.IGNORECASE
)
PLAN = re.compile(r"\bI('ll| will|'m going to| am going to| plan)\b", re.IGNORECASE)
FEELING = re.compile(
    r"\bI('m| am| feel| felt|"
    r" was)\s+(\w+\s+)?(afraid|scared|sad|angry|ashamed|tired|lonely|guilty|relieved|glad|happy|calm|worn)\b",
    re.IGNORECASE,
)
HERE = re.compile(
    r"\b(talking (here|to you|with you)|counsel\w+|these (talks|sessions)|coming here|you asked)\b",
    re.IGNORECASE,
)
NOT = re.compile(r"\b(not|never|no|nobody|nothing|\w+n't)\b", re.IGNORECASE)


class Courses:
    """Answers what a course, and a client in it, asks for."""

    def __init__(self, sense: Sense, feelings: Feelings) -> None:
        self._sense = sense
        self._feelings = feelings

    def ways(self) -> dict[str, Callable[[Question[Any]], Fields | str]]:
        """What answers which purpose: the fields of its answer, or one of the options."""
        return {
            "course_objective": self._declared,
            "course_therapies": self._choose,
            "course_metas": self._choose,
            "course_skills": self._choose,
            "course_reason": self.reason,
            "course_review": self.review,
            "course_facts": self.facts,
            "course_merge": self.merge,
            "course_formulate": self.formulate,
            "course_next": self._declared,
            "client_touched": self.touched,
            "client_agreed": self.agreed,
            "client_insight": self._declared,
        }

    def _declared(self, request: Question[Any]) -> Fields:
        """What the asker itself would do without a model."""
        return dict(request.declared.model_dump())

    # before

    def _choose(self, request: Question[Any]) -> Fields:
        """The options nearest to what the session is for, one more than the least; what was used
        lately a little later.
        """
        hints = request.hints
        ids, texts = tuple(hints["options"]), list(hints["options"].values())
        near = np.max([self._sense.nearness(aim, texts) for aim in hints["objective"]], axis=0)
        draw = chance(request.seed, request.purpose)
        scores = (
            near
            - LATELY * np.array([one in hints["lately"] for one in ids])
            + np.array([draw.gauss(0, 0.02) for _ in ids])
        )
        count = min(len(ids), hints["most"], hints["least"] + 1)
        best = np.argsort(-scores, kind="stable")[:count]
        return {
            "ids": [ids[int(index)] for index in best],
            "why": f"nearest in meaning to what the session is for ({near[best[0]]:.2f})",
        }

    # before each line

    def reason(self, request: Question[Any]) -> Fields:
        """The skill whose cue is nearest to what was just heard, used ones last; the rest in the
        client's own words.
        """
        hints = request.hints
        view, skills = hints["view"], hints["skills"]
        heard = (
            view.heard.text
            if view.heard
            else "The client comes in and waits to be told where to begin."
        )
        ids = tuple(skills)
        called = f"The client says '{heard}'" if view.heard else heard
        near = self._sense.nearness(called, [text.split("Cue: ")[-1] for text in skills.values()])
        scores = near - USED_AGAIN * np.array([hints["used"].count(one) for one in ids])
        best = int(np.argmax(scores))
        if view.heard is None:
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
            assessment = (
                f"Most weight seems to lie on “{view.heard.stressed or before_capitals(heard)[0]}”."
            )
            state = (
                f"{felt} by the words,"
                f" {'closer than at first' if view.closeness >= 4 else 'not close yet'}"
            )
        name = skills[ids[best]].split(". ")[0]
        return {
            "assessment": assessment,
            "client_state": state,
            "skill": ids[best],
            "strategy": (
                f"“{name}”, in plain words and after giving back what was heard (nearness of its"
                f" cue {near[best]:.2f})"
            ),
        }

    # after

    def review(self, request: Question[Any]) -> Fields:
        """In the client's words. A goal is met where a sentence of the talk is very near to it."""
        hints = request.hints
        view = hints["view"]
        said = [sentence for line in view.lines for sentence in before_capitals(line.text)]
        goals = []
        for number, goal in enumerate(hints["goals"], 1):
            near = self._sense.nearness(goal, said)
            if said and near.max() >= MET_FROM:
                goals.append(
                    {"number": number, "met": True, "quote": said[int(near.argmax())][:400]}
                )
        own = [line for line in view.lines if line.who == view.other]
        words = [f"“{(line.stressed or before_capitals(line.text)[0])[:150]}”" for line in own]
        feeling = self._feelings.feel(own[-1].text).emotion if own else "neutral"
        return {
            "summary": (
                f"{view.other} spoke of {' and '.join(list(dict.fromkeys(words))[:4])}."
                if words
                else f"{view.other} said nothing."
            ),
            "goals": goals,
            "client_state": (
                "calm by the last words"
                if feeling == "neutral"
                else f"{ADJECTIVE[feeling]} by the last words"
            ),
            "alliance": 4 if view.closeness >= 5 else 3 if view.closeness >= 2 else 2,
            "unresolved": (
                [f"what {view.other} meant by {words[-2 if len(words) > 1 else -1]}"]
                if words
                else []
            ),
            "homework": _first_task([line.text for line in view.lines if line.who == view.me])[
                :400
            ],
        }

    def facts(self, request: Question[Any]) -> Fields:
        """The client's sentences about itself, at most eight, quoted as they are."""
        view = request.hints["view"]
        told = [
            sentence
            for line in view.lines
            if line.who == view.other
            for sentence in before_capitals(line.text)
        ]
        own = [
            text
            for text in dict.fromkeys(told)
            if re.search(r"\b(I|my|me)\b", text)
            and 4 <= len(text.split()) <= 40
            and not text.endswith("?")
        ]
        return {
            "facts": [
                {
                    "text": f"{view.other} said: “{text}”"[:400],
                    "quote": text[:400],
                    "realm": "treatment" if HERE.search(text) else "reality",
                    "status": (
                        "wish"
                        if WISH.search(text)
                        else (
                            "plan"
                            if PLAN.search(text)
                            else "feeling"
                            if FEELING.search(text)
                            else "fact"
                        )
                    ),
                }
                for text in own[:8]
            ]
        }

    def merge(self, request: Question[Any]) -> Fields:
        """The same where the words are nearly the same; against each other where they are near and
        one of them says no.
        """
        known, told = request.hints["known"], [_words(text) for text in request.hints["told"]]
        ids, texts = tuple(known), [_words(text) for text in known.values()]
        placed = []
        for number, text in enumerate(told, 1):
            near = self._sense.nearness(text, texts)
            best = int(near.argmax()) if texts else 0
            relation = "new"
            if (
                texts
                and near[best] >= AGAINST_FROM
                and bool(NOT.search(text)) != bool(NOT.search(texts[best]))
            ):
                relation = "contradicts"
            elif texts and near[best] >= SAME_FROM:
                relation = "same"
            placed.append(
                {
                    "number": number,
                    "relation": relation,
                    "known": ids[best] if relation != "new" else "",
                }
            )
        return {"placed": placed}

    def formulate(self, request: Question[Any]) -> Fields:
        """The client's sentences, each in the field without columns that it is nearest to; at most
        three.
        """
        hints = request.hints
        view = hints["view"]
        plain = {one: text for one, text in hints["fields"].items() if hints["columns"][one] == 1}
        told = [
            sentence
            for line in view.lines
            if line.who == view.other
            for sentence in before_capitals(line.text)
            if len(sentence.split()) >= 5
        ]
        rows = []
        for text in dict.fromkeys(told):
            near = self._sense.nearness(text, list(plain.values())) if plain else np.zeros(1)
            if plain and near.max() >= FIELD_FROM:
                rows.append(
                    (
                        float(near.max()),
                        {
                            "field": tuple(plain)[int(near.argmax())],
                            "cells": [text[:300]],
                            "quote": text[:400],
                        },
                    )
                )
        return {"rows": [row for _, row in sorted(rows, key=lambda pair: -pair[0])[:3]]}

    # the client

    def touched(self, request: Question[Any]) -> str:
        """The way of guarding itself that is nearest to the line, if any is near."""
        near = self._sense.nearness(request.hints["heard"], request.hints["guards"])
        return request.options[1 + int(near.argmax())] if near.max() >= TOUCHED_FROM else "none"

    def agreed(self, request: Question[Any]) -> Fields:
        """The other's first sentence that sounds like a task, as it stands."""
        quote = _first_task(request.hints["lines"])
        return {"agreed": quote[:200], "quote": quote[:400]}


def _words(fact: str) -> str:
    """What was said, of a fact that quotes it."""
    return fact.split("said: “")[-1].rstrip("”")


def _task(sentence: str) -> bool:
    return bool(TASK.search(sentence)) and bool(
        re.search(r"\b(you|your|let's|let us)\b", sentence, re.IGNORECASE)
    )


def _first_task(lines: Sequence[str]) -> str:
    return next(
        (sentence for line in lines for sentence in before_capitals(line) if _task(sentence)), ""
    )
