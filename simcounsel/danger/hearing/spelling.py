"""Misspelt English as it was meant: typos, dropped and doubled letters, words run together.

A word is only changed into one of the lists' own (`words/en.yaml`), by SymSpell (Garbe 2012), and
never where it is a word itself: 82,765 English words protect each other ("dye" is no "die"). What
stands next to an ordinary word as nearly stays as it is. Places in the new text are mapped back.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from symspellpy import SymSpell, Verbosity

from simcounsel.danger.hearing.lexicon import lexicons
from simcounsel.danger.hearing.tongues import SMALL_WORDS, english
from simcounsel.texts.sentences import Span

SHORT, LONG = 4, 7
"""In words of fewer letters than the first only doubled letters are repaired; from the second on
two edits are, below it one.
"""
LONGEST = 40
"""What has more letters than this is no word, however it was meant."""
MOST_TRIED = 2000
"""So many words of a text that are none are tried; nobody says so many, and each takes time."""
ORDINARY = 12_000
"""So many of the most frequent words compete with the lists' own as what was meant."""
MUCH_MORE = 8
"""A word of the lists is taken for so many times as frequent as it is: what is said here is more
often about danger than other texts are.
"""

_WORD = re.compile(r"(?<![\w'’*@$#|!])[A-Za-z]{3,}(?![\w'’*@$#|]|![a-z])")
"""Neither a contraction nor a word with signs in the places of letters (`reading` undoes these)."""
_DOUBLE = re.compile(r"(.)\1+")
_CONTRACTED = frozenset(word.replace("'", "") for word in SMALL_WORDS)
_LISTED = re.compile(r"(?<![a-z'<])([a-z]+(?:'[a-z]+)?)([*+]?)(?![a-z'>])")


@dataclass(frozen=True, kw_only=True)
class Respelled:
    """A text as it was meant, and where its parts stood."""

    text: str
    """As it is to be heard."""
    changed: tuple[tuple[Span, Span], ...] = ()
    """Places that were changed, here and in the text as it was said, in order."""

    def said(self, span: Span) -> Span:
        """Where a place of `text` was in the text as it was said; a changed word wholly."""
        start, end = span
        shift, until = 0, 0
        first: int | None = None
        for new, old in self.changed:
            if first is None and start < new[1]:
                first = old[0] if start >= new[0] else start + shift
            if end <= new[0]:
                break
            until = old[1] if end <= new[1] else 0
            shift = old[1] - new[1]
            if until:
                break
        return (start + shift if first is None else first), until or end + shift


def respelled(text: str) -> Respelled:
    """An English text with its misspelt words as they were meant. Pure."""
    parts: list[str] = []
    changed: list[tuple[Span, Span]] = []
    at = length = tried = 0
    for found in _WORD.finditer(text):
        word = found.group()
        if len(word) > LONGEST:
            continue
        if word[0].isupper() and not word.isupper() and found.start() > 0:
            continue  # probably a name
        if tried == MOST_TRIED:
            break
        tried += not _is_word(word.lower())
        meant = _meant(word.lower())
        if meant is None:
            continue
        length += found.start() - at
        parts += text[at : found.start()], meant
        changed.append(((length, length + len(meant)), found.span()))
        length, at = length + len(meant), found.end()
    if not changed:
        return Respelled(text=text)
    return Respelled(text="".join((*parts, text[at:])), changed=tuple(changed))


@lru_cache(maxsize=8192)
def _meant(word: str) -> str | None:
    """What a word was meant as; None where it is one, or nobody can tell."""
    return None if _is_word(word) else _nearest(word) or _apart(word)


def _is_word(word: str) -> bool:
    return word in _listed() or word in english() or word in _CONTRACTED


def _nearest(word: str) -> str | None:
    """The lists' word that is nearest, unless an ordinary one is likelier."""
    edits = 2 if len(word) >= LONG else 1
    near = [(one, True) for one in _near(_listed()).lookup(word, Verbosity.CLOSEST, edits)]
    near += [(one, False) for one in _near(_ordinary()).lookup(word, Verbosity.CLOSEST, 1)]
    fit = [
        (one.distance, _unlike(word, one.term), -one.count * (MUCH_MORE if own else 1), one.term)
        for one, own in near
        if one.term[0] == word[0]
        and not _ends_otherwise(word, one.term)
        and _unlike(word, one.term) <= _allowed(min(len(word), len(one.term)))
    ]
    best = min(fit, default=None)
    return best[-1] if best and best[-1] in _listed() else None


def _ends_otherwise(word: str, other: str) -> bool:
    """Whether short words differ in their last letter alone, as names and words of other languages
    do ("amma" is no "ammo"), and slips seldom.
    """
    return len(word) == len(other) < LONG - 1 and word[:-1] == other[:-1]


def _allowed(letters: int) -> int:
    """The worst sort of mistake (see `_unlike`) that is repaired in a word so short."""
    return 3 if letters >= SHORT else 0


def _unlike(word: str, other: str) -> int:
    """What sort of mistake makes one of the other, from 0: a letter doubled or not, letters
    changed over, a vowel, anything else.
    """
    if _DOUBLE.sub(r"\1", word) == _DOUBLE.sub(r"\1", other):
        return 0
    if sorted(word) == sorted(other):
        return 1
    return 2 if _sounds(word) == _sounds(other) else 3


def _sounds(word: str) -> str:
    """Its consonants, each once, and whether it ends with one."""
    bare = _DOUBLE.sub(r"\1", re.sub(r"[aeiouy]", "", word))
    return bare + ("-" if word[-1] in "aeiouy" else "")


def _apart(word: str) -> str | None:
    """`killmyself` is `kill myself`: two or three of the lists' words, one of them a long one."""
    for first in range(2, len(word) - 1):
        start, rest = word[:first], word[first:]
        if not _part(start):
            continue
        if _part(rest) and max(len(start), len(rest)) > SHORT:
            return f"{start} {rest}"
        for second in range(2, len(rest) - 1):
            middle, end = rest[:second], rest[second:]
            if _part(middle) and _part(end) and len(word) >= LONG:
                return f"{start} {middle} {end}"
    return None


def _part(word: str) -> bool:
    """Whether it may be one of words that were run together."""
    return word in (_listed() if len(word) > 2 else lexicons()["en"].words.common)


@cache
def _ordinary() -> frozenset[str]:
    some = sorted(english().items(), key=lambda one: -one[1])[:ORDINARY]
    return frozenset(word for word, _ in some) - _listed()


@cache
def _listed() -> frozenset[str]:
    """The words of which the English cues and their grammar are made, without apostrophes."""
    words = lexicons()["en"].words
    written: list[str] = [say for cue in words.cues for say in cue.say]
    for some in (*words.classes.values(), words.own, words.now, words.at_hand, words.common):
        written += some
    return frozenset(one.replace("'", "") for one in _forms(written, words.forms) if len(one) > 1)


def _forms(written: Iterable[str], forms: Mapping[str, str]) -> Iterable[str]:
    for source in written:
        for word, ending in _LISTED.findall(source):
            yield word
            if ending == "+":
                yield from forms.get(word, "").split()


@cache
def _near(words: frozenset[str]) -> SymSpell:
    """These words, to be looked up by what is near them."""
    found = SymSpell(max_dictionary_edit_distance=2 if words is _listed() else 1)
    for word in sorted(words):
        if len(word) >= SHORT - 1:
            found.create_dictionary_entry(word, english().get(word, 1))
    return found
