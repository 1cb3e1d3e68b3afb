"""What could tell a reader who a client is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import phonenumbers
import yaml

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.naming import blinding_of
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue

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
    """An identifying stretch of a text: its kind (mail, url, account, number, phone, digits,
    address) and where it stands.
    """

    kind: str
    start: int
    end: int


def stretches(text: str) -> tuple[Stretch, ...]:
    """Contacts, numbers and addresses in a text, in their order, none within another. Names are
    another matter; see `naming`.
    """
    found: list[Stretch] = []
    digits = _DIGIT.search(text)
    for kind, pattern in _patterns().items():
        if not digits and kind in WITH_DIGITS:
            continue
        _add(found, kind, (hit.span() for hit in pattern.finditer(text)))
        if kind == "number" and _SEVEN_DIGITS.search(text):
            _add(found, "phone", _phones(text))
    return tuple(sorted(found, key=lambda stretch: stretch.start))


def _add(found: list[Stretch], kind: str, spans: Iterator[tuple[int, int]]) -> None:
    for start, end in spans:
        if not any(start < other.end and other.start < end for other in found):
            found.append(Stretch(kind=kind, start=start, end=end))


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
    text = (
        files("simcounsel.corpus.checks.wordlists")
        .joinpath("identifying.yaml")
        .read_text(encoding="utf-8")
    )
    lists: dict[str, list[str]] = yaml.safe_load(text)
    return {
        kind: re.compile("|".join(f"(?:{entry})" for entry in entries))
        for kind, entries in lists.items()
    }


@of_dialogue("identifying", looks_for="contacts, numbers, addresses, names and places")
def identifying(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """Each contact, number and address is an error. Names and places are one warning a dialogue:
    made-up people have names too.

    Names are seen where the file gives them, where a phrase leads to them, and in English where a
    capital stands amid a sentence; one that only ever begins sentences is missed, as are most in
    other languages. No list of the world's names is used. So read some dialogues yourself before
    you publish any.
    """
    blinding = blinding_of(dialogue)
    named: list[tuple[int, int, int]] = []
    for number, turn in enumerate(dialogue.turns, start=1):
        contacts = stretches(turn.text)
        for stretch in contacts:
            yield Finding(
                turn=number,
                severity="error",
                span=(stretch.start, stretch.end),
                what=f"{_article(stretch.kind)}: {quoted(turn.text[stretch.start : stretch.end])}",
                remedy=f"replace it; `corpus check --redact OUT` writes [{stretch.kind} 1]",
            )
        named += [
            (number, start, end)
            for start, end in blinding.spans(turn.text)
            if not any(start < stretch.end and stretch.start < end for stretch in contacts)
        ]
    if named:
        number, start, end = named[0]
        spelled = dict.fromkeys(
            dialogue.turns[turn - 1].text[first:last] for turn, first, last in named
        )
        yield Finding(
            turn=number,
            severity="warning",
            span=(start, end),
            what=(
                f"names or places, {'once' if len(named) == 1 else f'{len(named)} times'}:"
                f" {quoted(', '.join(spelled))}"
            ),
            remedy=(
                "fine if they are made up; if not, `corpus check --redact OUT` writes [person 1],"
                " [place 1]"
            ),
        )


def _article(kind: str) -> str:
    return {
        "mail": "a mail address",
        "url": "a web address",
        "phone": "a phone number",
        "account": "an account",
        "number": "a number of a document or account",
        "digits": "a long number",
        "address": "a postal address",
    }[kind]
