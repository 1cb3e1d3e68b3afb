"""What a counselor's line asks or offers, by its words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import DANGERS, Danger, Language
from simcounsel.texts import sentences

Topic = Literal[
    "stay",
    "suicide",
    "self_harm",
    "harm_to_others",
    "abuse",
    "distance",
    "company",
    "agree",
    "protective",
    "means",
    "today",
    "plan",
    "age",
    "limits",
    "help",
    "more",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)
"""The more telling first: of several in a line the first is answered."""
HOW_NEAR: tuple[Topic, ...] = ("plan", "means", "today")
"""What is asked to know how near a danger is."""
IN_MINUTES: tuple[Topic, ...] = ("company", "distance")
"""What is asked in their place where it is taken as being for now."""
_QUOTED = re.compile(r"“[^”]{0,999}”|\"[^\"]*\"|「[^」]{0,999}」")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a line is about."""

    topics: tuple[Topic, ...]
    """In the order of TOPICS; () for a line that neither asks nor offers anything."""
    questions: int
    """How many question marks there are, those in quotation marks included."""

    @property
    def dangers(self) -> tuple[Danger, ...]:
        """Those that it asks about by name."""
        return tuple(kind for kind in DANGERS if kind in self.topics)


def asked_in(text: str, language: Language) -> Asked:
    """What a counselor's line asks or offers."""
    own = _QUOTED.sub(" ", text.casefold())
    questions = sentences.questions(own, sentences.ENDS + "\n", "?？")
    found = {
        topic
        for topic, pattern in _patterns(language, "asked").items()
        if any(pattern.search(question) for question in questions)
    }
    found |= {
        topic for topic, pattern in _patterns(language, "said").items() if pattern.search(own)
    }
    if questions and not found - {"help", "limits"}:
        found.add("more")
    return Asked(
        topics=tuple(topic for topic in TOPICS if topic in found),
        questions=len(re.findall("[?？]", text)),
    )


def answered_first(topics: Sequence[Topic], before: Mapping[str, int]) -> Topic | None:
    """Which of the topics of a line is answered: the first that was not answered before, else the
    first; None where there is none. before: how often each was.
    """
    return next((topic for topic in topics if not before.get(topic)), next(iter(topics), None))


@cache
def _patterns(language: Language, part: str) -> Mapping[Topic, re.Pattern[str]]:
    data: dict[str, Any] = packaged(__package__, "asked.yaml")
    return {
        topic: re.compile("|".join(f"(?:{one})" for one in patterns))
        for topic, patterns in data[language][part].items()
    }
