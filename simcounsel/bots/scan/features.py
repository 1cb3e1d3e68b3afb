"""What the scanners' classifiers count in a bot's line: pieces of its words, words of what it tells
and of what it asks, and a few things of its form and of what it shares with the client's line.
"""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simcounsel.danger.hearing.features import BUCKETS, Block, pieces_and_words
from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import Language
from simcounsel.texts import sentences
from simcounsel.texts.quotes import content

BLOCKS = 3
"""Pieces of words, words told, words asked: block `n` has the numbers from n * BUCKETS on."""
OF_FORM = 10
"""How many features `form` makes."""
_PICTURE = re.compile("[\U0001f000-\U0001ffff]")
_LONG: Mapping[Language, int] = {"en": 300, "zh": 90}
"""Characters of a line that count as its length 1."""
_SHARED = 4
"""From this many shared words on more make no difference."""
Floats = NDArray[np.float64]


def counted(line: str, language: Language, before: str) -> tuple[tuple[Block, ...], Floats]:
    """The features of a line that occur, by block, and its form. before: the client's line."""
    said = line.replace("’", "'").lower()
    parts = sentences.marked(said, sentences.ENDS + "\n")
    asked = " ".join(one for one in parts if sentences.ends_asking(one))
    told = " ".join(one for one in parts if not sentences.ends_asking(one))
    pieces, words_told = pieces_and_words(_alike(told, language))
    more, words_asked = pieces_and_words(_alike(asked, language))
    blocks = np.union1d(pieces, more), words_told + BUCKETS, words_asked + 2 * BUCKETS
    return blocks, _form(line, told, asked, before, len(parts), _LONG[language])


def _form(line: str, told: str, asked: str, before: str, parts: int, long: int) -> Floats:
    """Shape (OF_FORM,): what it shares with the client's line where it tells and where it asks, its
    length, and how it is built.
    """
    heard = content(before.casefold())
    in_told, in_asked = heard & content(told), heard & content(asked)
    return np.array(
        [
            bool(in_told),
            bool(in_asked),
            min(len(in_told), _SHARED) / _SHARED,
            min(len(line) / long, 2.0),
            bool(asked),
            bool(told),
            "!" in line or "！" in line,
            parts == 1,
            _PICTURE.search(line) is not None,
            "\n" in line,
        ],
        dtype=np.float64,
    )


def _alike(text: str, language: Language) -> str:
    """With one word for all relatives, all clinicians, and so on."""
    for word, pattern in _sorts(language).items():
        text = pattern.sub(f" {word} ", text)
    return text


@cache
def _sorts(language: Language) -> Mapping[str, re.Pattern[str]]:
    data: Mapping[str, Mapping[str, str]] = packaged(__package__, "alike.yaml")
    return {word: re.compile(pattern) for word, pattern in data[language].items()}
