"""Readers of strangers' texts take time in proportion to them, so that no line, reply or file can stop a run.

The readers are found by their signatures: each public function whose first parameter is a text. Times are compared with
each other: on any machine eight times as much text takes about eight times as long; where time grows with the square, 64 times.
"""

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any

import pytest

import simcounsel
from simcounsel.corpus.checks.checking import check_dialogues
from simcounsel.corpus.course_text import without_directions
from simcounsel.corpus.dialogues import Dialogue, Origin, Turn
from simcounsel.corpus.redaction import redact
from simcounsel.envs.breaches import described
from simcounsel.instruments.talk import measure
from simcounsel.intake import json_data
from simcounsel.llm.answers import Unfit, read_answer
from simcounsel.llm.models import Completion
from simcounsel.policies.listening import word_to_human
from simcounsel.secret import scrub, spans
from simcounsel.texts import sentences
from tests.llm_switchboard.test_switchboard import CHOOSE, FILL, RATE, WRITE
from tests.stage import ELSEWHERE

Reader = Callable[[str], object]

NASTY = (
    *(" ", "\n", "\t ", "\r\n", "\u200d", "a", "0", "不", "a\u0301", "\U0001f480"),
    *(
        ". ",
        "...",
        "?!",
        "，",
        "。",
        "a. B ",
        "Dr. ",
        ": ",
        "; ",
        "(",
        "{",
        "[",
        "<a ",
        "“",
        "「",
        "'",
        '"',
        "*a",
        "#",
        "\\",
    ),
    *(
        "http://a:",
        "http://a:a@",
        "-eyJ-eyJ",
        "sk-",
        "Bearer ",
        "-----BEGIN PRIVATE KEY",
        "@a",
        "+1 ",
        "555-",
        "12:00 ",
    ),
    *(
        "and ",
        "yes ",
        "not ",
        "no, ",
        "I'm so ",
        "the the ",
        "死 ",
        "我想死",
        "I want to kill myself ",
        "I would kill for ",
    ),
    *("- a\n", "1) a\n", "Ines: ", "<think>", "</think>", "he said “", "on Friday ", "what if "),
)
"""Repeated, these make patterns look again and again."""
LITTLE, MUCH, MOST = 2_000, 16_000, 160_000
"""Characters. A text of the last size is made of all the nasty ones."""
BOUND = 24
"""So many times as long for eight times as much is beyond what any linear reader takes, with a slow machine in between."""
SHORT_S = {MUCH: 0.005, MOST: 0.08}
"""What is done sooner than this is no danger, and says nothing of growth."""
TEXTS = frozenset("text line content heard quote said words draft notes back form".split())
"""What the first parameter of such a reader is called."""
OTHERS: dict[str, Any] = {
    "name": "Ines",
    "locale": "en-GB",
    "known": "Ines Omar",
    "number": "112",
    "most": 1000,
    "names": ("Ines",),
    "agenda": ("ask about sleep",),
    "danger": False,
    "english": True,
}
"""What other parameters are given; a text where they are texts."""
NO_READERS = (".cli", ".testing", ".learning", ".studies.platforms", "__main__")


def told(parameter: inspect.Parameter) -> str | None:
    """What a parameter takes: `text`, `texts`, or `given`; None where that is not known here."""
    kind = str(parameter.annotation)
    if parameter.annotation is str and parameter.name in TEXTS | {"before", "source"}:
        return "text"
    if parameter.name == "said" and kind.endswith("[str]"):
        return "texts"
    fits = parameter.name in OTHERS and (parameter.name != "known" or parameter.annotation is str)
    return "given" if fits or parameter.name == "language" else None


def of_function(function: FunctionType) -> Iterator[tuple[str, Reader]]:
    """A reader for each language; none where the function needs what is not known here."""
    first, *others = inspect.signature(function).parameters.values()
    needed = [
        one
        for one in others
        if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]
    if first.annotation is not str or first.name not in TEXTS or not all(map(told, needed)):
        return
    for language in ("en", "zh") if any(one.name == "language" for one in needed) else ("",):

        def read(text: str, language: str = language) -> object:
            given = {
                one.name: {"text": text, "texts": ["hello"]}.get(told(one) or "")
                or OTHERS.get(one.name, language)
                for one in needed
            }
            found = function(text, **given)
            return list(found) if inspect.isgenerator(found) else found

        yield f"{function.__module__}.{function.__name__} {language}".rstrip(), read


def found() -> Iterator[tuple[str, Reader]]:
    """All that are found by their signatures."""
    for one in pkgutil.walk_packages(simcounsel.__path__, "simcounsel."):
        if any(part in one.name for part in (*NO_READERS, *ELSEWHERE)):
            continue
        for name, function in vars(importlib.import_module(one.name)).items():
            own = isinstance(function, FunctionType) and function.__module__ == one.name
            if own and not name.startswith("_") and inspect.signature(function).parameters:
                yield from of_function(function)


def dialogue(text: str) -> Dialogue:
    turns = tuple(
        Turn(speaker=who, text=text[at::4])  # type: ignore[arg-type]
        for at, who in enumerate(("client", "counselor", "client", "counselor"))
    )
    return Dialogue(id="1", client="1", turns=turns, origin=Origin(kind="file", source="x"))


def answers(text: str) -> None:
    for question in (WRITE, CHOOSE, RATE, FILL):
        with suppress(Unfit):
            read_answer(question, Completion(text=text))


BY_HAND: dict[str, Reader] = {
    "a dialogue's checks": lambda text: check_dialogues([dialogue(text)]),
    "a dialogue without names": lambda text: redact([dialogue(text)]),
    "measures of a talk": lambda text: measure([("Client", text), ("Counselor", text)]),
    "a model's answer": answers,
    "JSON": json_data,
}
"""Others that strangers' texts go through."""


def seconds(reader: Reader, text: str) -> float:
    begun = time.process_time()
    try:
        reader(text)
    except Exception as error:  # what a reader refuses was read as well
        assert not isinstance(error, RecursionError), "too deep for Python"
    return time.process_time() - begun


def growth(reader: Reader, text: Callable[[int], str], size: int) -> float | None:
    """How many times as long a reader takes for a text of that size as for an eighth of it; None where it is done at once."""
    taken = seconds(reader, text(size))
    if taken < SHORT_S[size]:
        return None
    return min(taken, seconds(reader, text(size))) / max(
        1e-6, min(seconds(reader, text(size // 8)) for _ in range(2))
    )


def of_unit(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def of_all(size: int) -> str:
    """A part of each nasty text."""
    return "".join(of_unit(unit)(size // len(NASTY)) for unit in NASTY)


def slow(
    readers: dict[str, Reader], texts: dict[str, Callable[[int], str]], size: int
) -> list[str]:
    """Each reader that takes far longer than in proportion, with the text."""
    return [
        f"{name}: {how:.0f} times as long for eight times {what}"
        for name, reader in readers.items()
        for what, text in texts.items()
        if (how := growth(reader, text, size)) is not None and how > BOUND
    ]


@cache
def readers() -> dict[str, Reader]:
    return dict(found()) | BY_HAND


FIRST: dict[str, Reader] = {
    "scrub": scrub,
    "spans": spans,
    "questions": sentences.questions,
    "without_directions": without_directions,
    "word_to_human": lambda text: word_to_human(text, text, "en", "en-GB"),
    "described": lambda text: [*described(text)],
    "a model's answer": answers,
}
"""What once stood still on a reply, a line of a person or a file."""
UNITS = {repr(unit): of_unit(unit) for unit in NASTY}
STOOD_STILL = (" ", "\n", "0", "{", "http://a:", "-eyJ-eyJ")


def test_growth_is_seen() -> None:
    squared: dict[str, Reader] = {"squared": lambda text: re.findall(r"\s+x", text)}
    (told,) = slow(squared, {"blanks": of_unit(" "), "words": of_unit("a b ")}, MUCH)
    assert told.startswith("squared: ") and told.endswith("eight times blanks")


def test_what_once_stood_still_takes_time_in_proportion() -> None:
    assert not slow(FIRST, {repr(unit): of_unit(unit) for unit in STOOD_STILL}, MUCH)


@pytest.mark.slow(15)
def test_a_long_text_takes_time_in_proportion() -> None:
    assert len(readers()) > 100, "they are found"
    assert not slow(readers(), {"all of them": of_all}, MOST)


if __name__ == "__main__":  # python -m tests.texts.test_linear: each reader with each text, minutes
    print(*slow(readers(), UNITS, MUCH), sep="\n")
