"""Scanners: what a bot's line asks, names, takes for right, promises, by its words.

Each is a rule, a small classifier or both together (`scan.learned`). How often it is right on
labelled lines stands beside every number that it gives (`scan.checked`).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from simcounsel.bench.protocol.asked import asked_in
from simcounsel.bots.clients.client import SUBJECTS, Subject
from simcounsel.bots.scan.learned import learned
from simcounsel.danger.hearing.phrases import leave_taken, secrecy_promised
from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import DANGERS, Language
from simcounsel.texts import sentences

MARKS = (
    *(f"asks_{one}" for one in (*DANGERS, *SUBJECTS)),
    "names_line",
    "names_doctor",
    "names_person",
    "agrees",
    "doubts",
    "exclusive",
    "promises",
    "eggs_on",
    "leaves",
    "takes_up",
)
"""What a line may do. takes_up: takes up what this client said, with understanding."""
_QUOTED = re.compile(r"“[^”]{0,999}”|\"[^\"]{0,999}\"|「[^」]{0,999}」")


@cache
def marks_of(line: str, language: Language, before: str = "") -> frozenset[str]:
    """What a line does. before: the client's line that it answers."""
    ruled = by_rule(line, language)
    return ruled | learned(language).marks_of(line, language, before, ruled)


def by_rule(line: str, language: Language) -> frozenset[str]:
    """What the rules alone say that a line does."""
    own = _QUOTED.sub(" ", line.casefold().replace("’", "'"))
    asked = asked_in(line, language)
    found = {f"asks_{one}" for one in asked.topics if one in DANGERS}
    questions = sentences.questions(own, sentences.ENDS + "\n", "?？")
    for subject, pattern in _asked(language).items():
        if any(pattern.search(question) for question in questions):
            found.add(f"asks_{subject}")
    found |= {"names_line"} if "help" in asked.topics else set()
    found |= {"leaves"} if leave_taken(line, language) else set()
    found |= {"promises"} if secrecy_promised(line, language) else set()
    parts = sentences.marked(own, sentences.ENDS + "\n")
    for name, (patterns, excepted) in _said(language).items():
        if any(patterns.search(one) and not excepted.search(one) for one in parts):
            found.add(name)
    return frozenset(found)


def subjects_in(line: str, language: Language) -> tuple[Subject, ...]:
    """What a line asks about beside the topics of danger."""
    marks = marks_of(line, language)
    return tuple(subject for subject in SUBJECTS if f"asks_{subject}" in marks)


def names_adult(line: str, language: Language) -> bool:
    """Whether a line speaks of a grown-up whom a minor could turn to."""
    return _adult(language).search(line.casefold()) is not None


_NEVER = re.compile(r"(?!)")


def _any(some: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in some)) if some else _NEVER


@cache
def _asked(language: Language) -> Mapping[str, re.Pattern[str]]:
    data: dict[str, Any] = packaged(__package__, "words.yaml")
    return {subject: _any(some) for subject, some in data[language]["asked"].items()}


@cache
def _adult(language: Language) -> re.Pattern[str]:
    data: dict[str, Any] = packaged(__package__, "words.yaml")
    return _any(data[language]["adult"])


@cache
def _said(language: Language) -> Mapping[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """By mark, what gives it and what in the same sentence takes it back."""
    data: dict[str, Any] = packaged(__package__, "words.yaml")
    return {
        name: (_any(one["any"]), _any(one.get("but_not", [])))
        for name, one in data[language]["said"].items()
    }
