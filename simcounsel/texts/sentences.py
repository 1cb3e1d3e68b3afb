"""Sentences of a text. There is no one right cut: who shows a place needs where it is, who
counts questions the mark at the end, who compares words none of the marks. Each cut has one name
here; what ends a sentence may be given.
"""

import re
from collections.abc import Iterator
from functools import cache

Span = tuple[int, int]
"""Where something begins and ends in a text, in characters, the end excluded."""
ENDS = ".!?。！？…"
"""What ends a sentence, if nothing else is given."""
NO_ELLIPSIS = ".!?。！？"
_END = re.compile(r"[.!?。！？…]+[\"')”’]*|\n+")
_LAST_ASKED = re.compile(r"[?？][^\w?？]*\Z")
_BEFORE_CAPITAL = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])")
_FIRST = re.compile(r"^(.+?[.!?])(?:\s|$)", re.DOTALL)
_PROSE = re.compile(
    r"\S.*?(?:(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)(?<!str)[.!?…]{1,20}[\"”’')]{0,20}"
    r"(?=\s|$)|[。！？]+[”’」]*|$|(?P<no>(?=\n)))"
)
"""`no` is what is on a line without an end: it is passed by, once."""


def spans(text: str) -> Iterator[Span]:
    """Where sentences stand, closing quotation marks included; together they are the whole text."""
    start = 0
    for found in _END.finditer(text):
        yield start, found.end()
        start = found.end()
    if start < len(text):
        yield start, len(text)


def bare_spans(text: str, ends: str = ENDS) -> list[Span]:
    """Where the sentences stand without what ends them; an end of a line ends one too."""
    return [found.span() for found in _between(ends + "\n").finditer(text)]


def bare(text: str, ends: str = ENDS) -> list[str]:
    """The sentences without what ends them; an end of a line ends one too."""
    return [text[start:end] for start, end in bare_spans(text, ends)]


def marked(text: str, ends: str = ENDS, *, across_lines: bool = False) -> list[str]:
    """The sentences, each with the marks that end it. across_lines: one may go on over the end of
    a line.
    """
    return _with_ends(ends, "" if across_lines else "\n").findall(text)


def joinable(text: str) -> list[str]:
    """The sentences with marks, closing quotation marks and the space behind, so that some of them
    can be joined again.
    """
    return _joinable().findall(text)


def of_prose(text: str) -> list[str]:
    """The sentences of written English or Chinese; not cut within addresses or behind titles
    (Dr. Chen).
    """
    return [found.group() for found in _PROSE.finditer(text) if found["no"] is None]


def before_capitals(text: str) -> list[str]:
    """The sentences of an English paragraph, cut at the space after a stop where a capital or an
    opening quotation mark follows.
    """
    return [part.strip() for part in _BEFORE_CAPITAL.split(text) if part.strip()]


def first(text: str) -> str:
    """Up to the first full stop, on one line; all of it when there is none."""
    text = " ".join(text.split())
    found = _FIRST.match(text)
    return (found.group(1) if found else text).strip()


def questions(text: str, ends: str = ".!?", marks: str = "?") -> list[str]:
    """The sentences that end with one of the question marks, which are among the ends."""
    return [found for found in _to_end(ends).findall(text) if found.endswith(tuple(marks))]


def ends_asking(text: str) -> bool:
    """Whether its last words are a question; what follows the mark is quotes, blanks and stops."""
    return _LAST_ASKED.search(text) is not None


@cache
def _to_end(ends: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(ends)}]*(?:[{re.escape(ends)}]|\\Z)")


@cache
def _between(ends: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(ends)}]+")


@cache
def _with_ends(ends: str, breaks: str) -> re.Pattern[str]:
    return re.compile(f"[^{re.escape(ends + breaks)}]+[{re.escape(ends)}]*")


@cache
def _joinable() -> re.Pattern[str]:
    return re.compile(rf"[^{NO_ELLIPSIS}]+[{NO_ELLIPSIS}]*[”\"'’]*\s*")
