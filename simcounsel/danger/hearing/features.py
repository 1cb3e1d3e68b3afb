"""What the gate's classifier counts in a line: pieces of words, words, and what the detector's
words made of it. Pure numpy, the same on every machine.
"""

import re
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simcounsel.specs.vocabulary import RISK_LEVELS, RiskLevel

BUCKETS = 2**16
"""Of each of the two blocks, pieces of words and words: a feature's number is its CRC-32 modulo
this (Weinberger et al. 2009, feature hashing).
"""
PIECES = (2, 5)
"""The shortest and the longest piece of a word, in letters; a word's ends are letters too."""
PHRASES = 3
"""The most words in a row that are one feature."""
OF_WORDS = 8
"""How many features `words_say` makes."""

_LONG = re.compile(r"(\w)\1\1+")
_WORD = re.compile(r"\w+")
_SIGNS = "\u3400-\u9fff\uf900-\ufaff"
_WORD_OR_SIGN = re.compile(rf"[{_SIGNS}]|[^\W{_SIGNS}]+")
"""A Chinese character is a word of its own; where words end is not written."""
_NUMBER = re.compile(r"\d+")
_QUOTE = re.compile(r"['’‘`´]")

Block = NDArray[np.int64]
"""Numbers of the features that occur, each once, sorted."""


def pieces_and_words(text: str) -> tuple[Block, Block]:
    """The numbers of the pieces and of the words (with pairs and threes) that occur in a text:
    small letters, no apostrophes, no letter more than twice in a row, every number the same.
    """
    plain = _LONG.sub(r"\1\1", _NUMBER.sub("0", _QUOTE.sub("", text.lower())))
    pieces: set[int] = set()
    for word in set(_WORD.findall(plain)):
        pieces.update(_pieces(word))
    words = _WORD_OR_SIGN.findall(plain)
    phrases = {
        _number(" ".join(words[at : at + length]))
        for length in range(1, PHRASES + 1)
        for at in range(len(words) - length + 1)
    }
    return _sorted(pieces), _sorted(phrases)


def words_say(level: RiskLevel, *, clear: bool, doubt: bool, denied: bool) -> NDArray[np.float64]:
    """What the detector's words made of the line, shape (OF_WORDS,): its level one-hot, whether
    some of it was open, whether it was in doubt, whether danger was denied, and doubt without a
    level.
    """
    hot = [float(level == one) for one in RISK_LEVELS]
    rest = (clear, doubt, denied, doubt and level == "none")
    return np.array([*hot, *map(float, rest)])


@lru_cache(maxsize=50_000)
def _pieces(word: str) -> frozenset[int]:
    framed = f" {word} "
    shortest, longest = PIECES
    return frozenset(
        _number(framed[at : at + length])
        for length in range(shortest, longest + 1)
        for at in range(max(1, len(framed) - length + 1))
    )


def _number(feature: str) -> int:
    return zlib.crc32(feature.encode("utf-8", "surrogatepass")) % BUCKETS


def _sorted(numbers: set[int]) -> Block:
    return np.array(sorted(numbers), dtype=np.int64)
