"""Danger in Farsi, by a list of words: for alerts, where recall matters more than precision."""

import re
import unicodedata
from functools import cache
from importlib.resources import files

HARMLESS = "--- harmless"
_SAME = str.maketrans(
    {"ي": "ی", "ى": "ی", "ك": "ک", "ة": "ه", "أ": "ا", "إ": "ا", "ـ": None}
    | {"\u200c": " ", "\u200d": None}
)
"""Letters that are typed in several ways; half-spaces."""


def plain(text: str) -> str:
    """With one form of each letter, without vowel marks, half-spaces as spaces, in lower case."""
    bare = "".join(c for c in unicodedata.normalize("NFC", text) if not unicodedata.combining(c))
    return " ".join(re.sub(r"[^\w\s]", " ", bare.translate(_SAME).casefold()).split())


def sounds_dangerous(text: str, language: str = "fa") -> bool:
    """Whether a line may tell danger to oneself or others, or abuse."""
    said = f" {plain(text)} "
    dangerous, harmless = _words(language)
    for phrase in harmless:
        said = said.replace(f" {phrase} ", " ")
    return any(f" {phrase} " in said for phrase in dangerous)


@cache
def _words(language: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Phrases that tell danger, and those that only sound so."""
    file = files("simcounsel.trial") / "texts" / "words" / f"danger_{language}.txt"
    found, _, harmless = file.read_text(encoding="utf-8").partition(HARMLESS)
    first, second = (
        tuple(plain(line) for line in part.splitlines() if line.strip() and line[0] != "#")
        for part in (found, harmless)
    )
    return first, second
