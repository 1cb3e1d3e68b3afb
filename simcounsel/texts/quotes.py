"""Whether words that are given as a quotation really are in a text, and which words carry what a
text is about.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

from simcounsel.texts import sentences, stopwords

LEAST_WORDS, LEAST_CHARACTERS = 3, 4
"""The fewest words (Chinese: characters) of a quotation, unless it is a whole sentence of two words
at least; less shows nothing.
"""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_UNIT = re.compile(r"[\u4e00-\u9fff]|[^\W_\u4e00-\u9fff]+(?:'[^\W_\u4e00-\u9fff]+)*")
_EMPTY_CHINESE = frozenset(
    "的了是在和也都就还又很有没不说要会能她他它我你们这那个着过到与被把对从为以于并但而或"
)
_ENDING, _STEM = re.compile(r"(?:'s|(?<=\w{3})(?:ings?|ed|es|s))$"), 5
Unit = str


def units(text: str) -> tuple[Unit, ...]:
    """Words and Chinese characters in order, in small letters, without punctuation and marks of
    type.
    """
    return tuple(_UNIT.findall(re.sub(r"[’‘`´]", "'", text.casefold())))


def is_chinese(words: tuple[Unit, ...]) -> bool:
    """Whether most of it are Chinese characters."""
    return sum(bool(_CHINESE.match(word)) for word in words) * 2 > len(words)


def stands_in(quote: str, text: str) -> bool:
    """Whether a quotation is in a text, word for word in whole words."""
    words = units(quote)
    if len(words) < (LEAST_CHARACTERS if is_chinese(words) else LEAST_WORDS):
        return len(words) > 1 and any(words == units(sentence) for sentence in sentences.bare(text))
    there = units(text)
    return any(there[at : at + len(words)] == words for at in range(len(there) - len(words) + 1))


def content(*texts: str) -> frozenset[str]:
    """What texts are about: the beginnings of their words, without those that are about nothing; of
    Chinese, pairs of characters.
    """
    return frozenset(one for text in texts for one in _content(units(text)))


def _content(words: tuple[Unit, ...]) -> Iterable[str]:
    for word, following in pairwise((*words, "")):
        if _CHINESE.match(word):
            if _CHINESE.match(following) and not {word, following} & _EMPTY_CHINESE:
                yield word + following
        elif len(word) > 2 and not word.isdigit() and word.split("'")[0] not in stopwords.OF_QUOTES:
            yield _ENDING.sub("", word)[:_STEM]
