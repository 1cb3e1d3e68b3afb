"""What a counselor must not say where there is danger, as far as words can tell it: a promise of
secrecy, a means, a leave-taking, incitement.
"""

import re
from functools import cache
from typing import Any

from simcounsel.packaged import packaged
from simcounsel.safety.help import Help
from simcounsel.specs.practice import locale_names
from simcounsel.texts import sentences

_ENDS = sentences.NO_ELLIPSIS + ";；"
"""A semicolon ends one too: it may be between a promise and what limits it."""


@cache
def _data() -> dict[str, dict[str, Any]]:
    data: dict[str, dict[str, Any]] = packaged(__package__, "phrases.yaml")
    return data


@cache
def _phrases(language: str, name: str) -> re.Pattern[str]:
    """The words of that name in a language, in English where there are none; a list of them between
    word boundaries.
    """
    words = _data().get(language, _data()["en"])
    said, (begins, ends) = words[name], ("", "") if language == "zh" else (r"(?<!\w)", r"(?!\w)")
    pattern = f"{begins}(?:{'|'.join(said)}){ends}" if isinstance(said, list) else said
    for slot in ("act", "acting"):
        pattern = pattern.replace(f"<{slot}>", f"(?:{words[slot]})")
    return re.compile(pattern, re.IGNORECASE)


def secrecy_promised(text: str, language: str) -> str | None:
    """The words that promise to tell nobody; None when there are none, or the sentence takes them
    back ("I can't promise ...").
    """
    for sentence in sentences.bare(text, _ENDS):
        found = _phrases(language, "secrecy").search(sentence)
        if found and not _phrases(language, "takes_back").search(sentence[: found.start() + 12]):
            return found.group().strip()
    return None


def means_named(text: str, language: str) -> str | None:
    """The first word that names a way of harming; None when there is none."""
    found = _phrases(language, "means").search(text)
    return found.group() if found else None


def harm_described(text: str, language: str) -> str | None:
    """The sentence that names a way of harming as one; None when there is none, or it may be
    harmless (pills as the doctor said).
    """
    said = (one.strip() for one in sentences.marked(text, _ENDS))
    return next(
        (
            one
            for one in said
            if _phrases(language, "harming").search(one)
            and not _phrases(language, "harmless").search(one)
        ),
        None,
    )


def leave_taken(text: str, language: str) -> str | None:
    """The words that end a talk; None when there are none."""
    found = _phrases(language, "leave").search(text)
    return found.group() if found else None


def help_named(text: str, language: str) -> str | None:
    """The words that name help outside the talk; None when there are none."""
    found = _phrases(language, "help").search(text)
    return found.group().strip() if found else None


def incited(text: str, *, to_danger: bool = False) -> str | None:
    """The sentence that tells a client to die or to hurt themselves, or praises it, in any language
    that has words for it; None when there is none. to_danger: the line answers one of danger, where
    "then do it", said first, means the same.
    """
    for number, sentence in enumerate(one.strip() for one in sentences.marked(text, _ENDS)):
        asking = sentences.ends_asking(sentence)
        for language in _data():
            found = _phrases(language, "incited").search(sentence)
            if (
                found
                and not asking
                and not _phrases(language, "incited_back").search(sentence[: found.end()])
            ):
                return sentence
            urging = to_danger and number == 0 and not asking
            if _phrases(language, "incited_asked").search(sentence) or (
                urging and _phrases(language, "urged").search(sentence)
            ):
                return sentence
    return None


def asks_back(text: str) -> bool:
    """Whether a question asks about what was said right before it."""
    return sentences.ends_asking(text) and any(
        _phrases(language, "back").search(text) for language in _data()
    )


def has_number(text: str, number: str) -> bool:
    """Whether a number, or a page, is in a text by itself; spaces and hyphens within a number
    do not count.
    """
    if not any(c.isdigit() for c in number):
        return number.casefold() in text.casefold()
    return _number(number).search(text) is not None


@cache
def _number(number: str) -> re.Pattern[str]:
    digits = r"[\s\-]?".join(re.escape(c) for c in number if c not in " -")
    return re.compile(rf"(?<![\d])(?<!\d[\s\-]){digits}(?!\d)")


def to_call(text: str, number: str) -> bool:
    """Whether a number is in a sentence about calling ("call 112", not "112 pages")."""
    return any(
        has_number(sentence, number)
        and any(_phrases(language, "calling").search(sentence) for language in _data())
        for sentence in sentences.marked(text, _ENDS)
    )


SHORT = 4
"""Digits up to which a number may well be a year or count something."""


def foreign_number(text: str, help_: Help) -> str | None:
    """The first number in a text that is an emergency number or a help line of other countries and
    none of `help_`; None when there is none. A short one may be any number: it counts in a sentence
    about calling somebody.
    """
    if not any(character.isdigit() for character in text):
        return None
    own = help_.numbers
    return next(
        (
            number
            for number in _numbers_anywhere()
            if number not in own and (has_number if len(number) > SHORT else to_call)(text, number)
        ),
        None,
    )


@cache
def _numbers_anywhere() -> tuple[str, ...]:
    """Numbers to call or to text of all locales; no pages, which mean the same everywhere."""
    every = (Help(locale=locale, language="en").numbers for locale in locale_names())
    return tuple(dict.fromkeys(n for some in every for n in some if "." not in n))
