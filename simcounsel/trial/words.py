"""Danger in Farsi, by a list of words: for alerts, where recall matters more than precision."""

import re
import unicodedata
from functools import cache
from importlib.resources import files

HARMLESS = "--- harmless"
GAP = r"(?:\w+ ){0,3}"
_SAME = str.maketrans(dict(zip("يىكةأإآٱؤۀ", "ییکهااااوه", strict=True)))
_WRITTEN = (
    ("ـ|\u200d", ""),
    ("\u200c", " "),
    (r"(.)\1{2,}", r"\1"),
    (r"\b(ن?می) (?=\w)", r"\1"),
    (r" (ها\w{0,3}|ام|ات|اش|ای|اند)\b", r"\1"),
    (r"\bمنو\b|\bمرا\b", "من"),
    (r"\b(\w{2,}[متش])و\b", r"\1"),
    (r"\b(?:را|رو)\b", " "),
)
"""Spellings of one word: half-spaces, prefixes and endings apart or not, spoken objects."""


def plain(text: str, kept: str = "") -> str:
    """With one form of each word, without vowel marks and points but for `kept`, in lower case."""
    bare = "".join(c for c in unicodedata.normalize("NFC", text) if not unicodedata.combining(c))
    bare = bare.translate(_SAME).casefold()
    for pattern, one in _WRITTEN:
        bare = re.sub(pattern, one, bare)
    return " ".join(re.sub(rf"[^\w\s{kept}]", " ", bare).split())


def sounds_dangerous(text: str, language: str = "fa") -> bool:
    """Whether a line may tell danger to oneself or others, or abuse."""
    dangerous, harmless = _words(language)
    return bool(dangerous.search(harmless.sub(". ", plain(text) + " ")))


@cache
def _words(language: str) -> tuple[re.Pattern[str], ...]:
    """Phrases that tell danger, and those that only sound so."""
    file = files("simcounsel.trial") / "texts" / "words" / f"danger_{language}.txt"
    parts = file.read_text(encoding="utf-8").split(HARMLESS)
    return tuple(re.compile(_any([x for x in part.splitlines() if x.strip()])) for part in parts)


def _any(lines: list[str]) -> str:
    """Any of the phrases. `*`: any ending; `|`: one of these words; `~`: up to three words."""
    phrases = (plain(line, "*|~").split() for line in lines if not line.startswith("#"))
    words = ("".join(GAP if w == "~" else f"(?:{w}) " for w in phrase) for phrase in phrases)
    return rf"(?<!\S)(?:{'|'.join(words)})".replace("*", r"\w*")
