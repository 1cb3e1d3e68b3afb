"""A client's answer to a question about danger, by the client's file: no line of a persona's voice
answers one, and a line that answers something else would be read as an answer.
"""

import re
from functools import cache

from simcounsel.agents.facts import LineFacts
from simcounsel.chance import chance
from simcounsel.danger.hearing.answers import asked_about
from simcounsel.danger.hearing.in_file import dangers_in_lines
from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.danger.protection.data import words
from simcounsel.danger.protection.ladder import ASKED, NAMING, SETTLING, Step
from simcounsel.embedded.labelled import labelled
from simcounsel.llm.question import Example
from simcounsel.specs.vocabulary import DANGERS, Danger
from simcounsel.texts import sentences

LANGUAGE = "en"
"""Of all lines that stand-ins choose from."""
Asked = tuple[Danger | None, Step]
"""The kind of danger that a question is about (None: any), and the step that asks so."""


def danger_reply(facts: LineFacts, voice: tuple[Example, ...], seed: int) -> str | None:
    """The line; None where the other's last line asks nothing of the kind. voice: all lines of the
    client's file.
    """
    asked = _asked(facts.heard.text) if facts.heard is not None else None
    if asked is None:
        return None
    kind, step = asked
    there = dangers_in_lines((line.text for line in voice), LANGUAGE)
    wanted = "can" if step in SETTLING else "yes" if step in NAMING and kind in there else "no"
    some = [text for text, label in labelled("danger_replies") if label == wanted]
    fresh = [text for text in some if text not in facts.own] or some
    return chance(seed, "danger").choice(fresh)


def _asked(line: str) -> Asked | None:
    """By the protocol's own questions, or by words that ask plainly."""
    questions = [one.strip() for one in sentences.questions(line)]
    for asked, form in _forms():
        if any(form.fullmatch(one) for one in questions):
            return asked
    plain = next(asked_about(line, lexicons()[LANGUAGE]), None) if questions else None
    return (plain.kind, "ask_directly" if plain.to_yes else "agree") if plain else None


@cache
def _forms() -> tuple[tuple[Asked, re.Pattern[str]], ...]:
    """The questions of the protocol's lines that a yes or no answers."""
    found: list[tuple[Asked, re.Pattern[str]]] = []
    for step in ASKED:
        about = words(LANGUAGE)["steps"][step]
        for by_kind in (about["lines"], *about.get("special", {}).values()):
            for kind, lines in by_kind.items():
                asked: Asked = (kind if kind in DANGERS else None, step)
                found += [
                    (asked, _form(question.strip()))
                    for line in lines
                    for question in sentences.questions(line)
                ]
    return tuple(found)


def _form(question: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w+\}", question)
    return re.compile(".{1,80}".join(map(re.escape, parts)))
