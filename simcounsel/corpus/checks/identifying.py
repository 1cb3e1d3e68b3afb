"""What could tell a reader who a client is."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import phonenumbers

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.naming import blinding_of, unsaid
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.packaged import packaged
from simcounsel.secret import spans
from simcounsel.texts.blinding import Blinding

REGIONS = ("US", "GB", "CN", "DE", "FR", "ES", "IN", "AU")
"""A number without a country's code is a phone number if it is valid in one of these; with one, in
any.
"""
WITH_DIGITS = frozenset({"number", "digits", "address"})
"""Kinds that a text without a digit cannot hold; this spares most lines most of the work."""
_DIGIT = re.compile(r"\d")
_SEVEN_DIGITS = re.compile(r"\d(?:[\s()./+-]{0,3}\d){6}")
"""What any phone number holds; the search for numbers itself is slow."""
_GROUPED = re.compile(
    r"(?<![\w-])(?:\(?\d{3}\)?[-. ])\d{3}[-. ]\d{4}(?![\w-])|(?<![\w-])555-\d{4}(?![\w-])"
)


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """An identifying stretch of a text: its kind (key, mail, url, account, number, phone, digits,
    address) and where it is.
    """

    kind: str
    start: int
    end: int


def stretches(text: str) -> tuple[Stretch, ...]:
    """Keys, contacts, numbers and addresses in a text, in their order, none within another. Names
    are another matter; see `naming`.
    """
    found: list[Stretch] = []
    _add(found, "key", iter(spans(text)))
    digits = _DIGIT.search(text)
    for kind, pattern in _patterns().items():
        if not digits and kind in WITH_DIGITS:
            continue
        _add(found, kind, (hit.span() for hit in pattern.finditer(text)))
        if kind == "number" and _SEVEN_DIGITS.search(text):
            _add(found, "phone", _phones(text))
    return tuple(found)


def _add(found: list[Stretch], kind: str, spans: Iterator[tuple[int, int]]) -> None:
    """Keep those that touch none of the others, which are in order."""
    for start, end in spans:
        at = bisect_left(found, end, key=lambda one: one.start)
        if not at or found[at - 1].end <= start:
            found.insert(at, Stretch(kind=kind, start=start, end=end))


TRIES = 5_000
"""Groups of digits in one turn that are tried and found to be no number before the search ends
there; people write far fewer.
"""


def _phones(text: str) -> Iterator[tuple[int, int]]:
    """What Google's libphonenumber holds for a number in use, and numbers grouped as American ones,
    real or of films (555).
    """
    for hit in _GROUPED.finditer(text):
        yield hit.span()
    for region in REGIONS:
        for match in phonenumbers.PhoneNumberMatcher(
            text, region, leniency=phonenumbers.Leniency.VALID, max_tries=TRIES
        ):
            yield match.start, match.end


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    lists: dict[str, list[str]] = packaged("simcounsel.corpus.checks.wordlists", "identifying.yaml")
    return {
        kind: re.compile("|".join(f"(?:{entry})" for entry in entries))
        for kind, entries in lists.items()
    }


@of_dialogue("identifying", looks_for="keys, contacts, numbers, addresses, names and places")
def identifying(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Each key, contact, number and address is an error, in a line and in what a counselor thought,
    planned or noted. Names and places are one warning a dialogue for the lines and one for the
    rest: made-up people have names too.

    Names are seen where the file gives them, where a phrase leads to them, and in English where a
    capital stands amid a sentence; one that only ever begins sentences is missed, as are most in
    other languages. No list of the world's names is used. So read some dialogues yourself before
    you publish any.
    """
    blinding = blinding_of(dialogue)
    named: list[_Named] = []
    for number, turn in enumerate(dialogue.turns, start=1):
        contacts = stretches(turn.text)
        for stretch in contacts:
            span = (stretch.start, stretch.end)
            yield _contact(stretch, turn.text, number, span)
        named += _names(blinding, turn.text, number, contacts)
    if named:
        yield _all_names(named, "names or places", named[0].span)
    kept: list[_Named] = []
    for one in unsaid(dialogue):
        contacts = stretches(one.text)
        for stretch in contacts:
            yield _contact(stretch, one.text, one.turn, None, f"in the {one.what}: ")
        kept += _names(blinding, one.text, one.turn, contacts)
    if kept:
        yield _all_names(kept, "names or places in what was thought, planned or noted", None)


@dataclass(frozen=True, kw_only=True)
class _Named:
    """A name or place: as it is spelled, and where."""

    spelled: str
    turn: int | None
    """From 1; None where the whole dialogue is meant."""
    span: tuple[int, int]


def _names(
    blinding: Blinding, text: str, turn: int | None, contacts: tuple[Stretch, ...]
) -> Iterator[_Named]:
    """Names and places that are in no contact."""
    for start, end in blinding.spans(text):
        if not any(start < stretch.end and stretch.start < end for stretch in contacts):
            yield _Named(spelled=text[start:end], turn=turn, span=(start, end))


def _all_names(named: list[_Named], what: str, span: tuple[int, int] | None) -> Finding:
    times = "once" if len(named) == 1 else f"{len(named)} times"
    spelled = ", ".join(dict.fromkeys(one.spelled for one in named))
    return Finding(
        turn=named[0].turn,
        severity="warning",
        span=span,
        what=f"{what}, {times}: {quoted(spelled)}",
        remedy=(
            "fine if they are made up; if not, `corpus check --redact OUT` writes [person 1],"
            " [place 1]"
        ),
    )


def _contact(
    stretch: Stretch, text: str, turn: int | None, span: tuple[int, int] | None, where: str = ""
) -> Finding:
    """span: None where the text is no line."""
    seen = "" if stretch.kind == "key" else f": {quoted(text[stretch.start : stretch.end])}"
    return Finding(
        turn=turn,
        severity="error",
        span=span,
        what=f"{where}{_article(stretch.kind)}{seen}",
        remedy=f"replace it; `corpus check --redact OUT` writes [{stretch.kind} 1]",
    )


def _article(kind: str) -> str:
    return {
        "key": "a key or password",
        "mail": "a mail address",
        "url": "a web address",
        "phone": "a phone number",
        "account": "an account",
        "number": "a number of a document or account",
        "digits": "a long number",
        "address": "a postal address",
    }[kind]
