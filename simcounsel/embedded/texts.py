"""Sentences that a small model wrote: cut to the first one, and checked before anybody reads
them.
"""

import re

_CAPITAL = re.compile(r"(?<![.!?“\"] )(?<!^)\b([A-Z][a-zé'’]{2,})\b")
_DAYS = frozenset(
    (
        "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May"
        " June July August September October November December "
    ).split()
)


def strangers_in(text: str, known: str) -> bool:
    """Whether a text names somebody or something that the known text does not."""
    return any(word not in known and word not in _DAYS for word in _CAPITAL.findall(text))


def third_person_problem(text: str, name: str, known: str) -> str | None:
    """What is wrong with a sentence about `name`; None when nothing is."""
    words = text.split()
    if not text.startswith(name):
        return "does not begin with the name"
    if not 7 <= len(words) <= 38:
        return "too short or too long"
    if text[-1] not in ".!" or "?" in text or ":" in text or '"' in text or "(" in text:
        return "not a plain sentence"
    if re.search(r"\b(I|my|me|you|your|we|our)\b", text):
        return "not in the third person"
    if re.search(r"\d", text):
        return "holds numbers"
    if strangers_in(text, known):
        return "names somebody unknown"
    if len({w.lower() for w in words}) < 0.7 * len(words):
        return "repeats itself"
    return None


_REFLECTIVE = re.compile(
    r"\b(believes?|fears?|realis\w+|realiz\w+|notic\w+|hopes?|feels?|wants?|worr\w+|thinks?|avoids?|hides?|expects?|trusts?|misses|afraid|sees)\b"
)


def ungrounded(text: str, notes: str) -> bool:
    """Whether a conclusion is none, or speaks of things of which the notes say nothing: fewer than
    half of its longer words are there."""
    words = [
        word for word in re.findall(r"[a-z]{5,}", text.lower()) if not _REFLECTIVE.fullmatch(word)
    ]
    lower = notes.lower()
    there = {lower[at : at + 5] for at in range(len(lower) - 4)}
    return (
        not _REFLECTIVE.search(text)
        or not words
        or sum(word[:5] in there for word in words) < 0.5 * len(words)
    )


def speech_fault(text: str, names: tuple[str, ...]) -> str | None:
    """What is wrong with a client's generated line; None when nothing is."""
    words = text.split()
    if not 6 <= len(words) <= 40:
        return "too short or too long"
    if "?" in text or ":" in text or '"' in text or text[-1] not in ".!":
        return "not plain speech"
    if not re.search(r"\b(I|I'm|I've|my|me)\b", text):
        return "does not speak of oneself"
    if re.search(r"\b(you should|you need|your)\b", text, re.IGNORECASE) or any(
        name in text for name in names
    ):
        return "speaks for the other"
    if len({w.lower() for w in words}) < 0.65 * len(words):
        return "repeats itself"
    return "names somebody unknown" if strangers_in(text, "") else None
