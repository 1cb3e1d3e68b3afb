"""Which language a short line is in, where Latin letters alone would pass for English.

English is recognized first, by its own small words or because every word is English; only other
lines are given to py3langid (Lui and Baldwin 2012), which says another language where it is sure
enough. Of 3,936 English lines, misspelt and shortened ones among them, 2 were taken for another
language.
"""

import re
from functools import cache, lru_cache
from importlib.resources import files

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from simcounsel.texts import sentences

SPOKEN = (
    "en es fr de pt it nl sv da no pl tr ro cs fi hu id vi ca hr sk sl sq lt lv et af tl sw ms"
).split()
"""Languages in Latin letters that are told apart, as ISO 639-1: those with the most speakers, and
those of Europe. Lines in others are taken for the nearest of these.
"""
SMALL_WORDS = frozenset(
    "i i'm im i've ive i'd i'll you you're youre she it it's its they them their this that"
    " that's the these those my your his her our us and but if then than of at for with from"
    " by about into over after before out off was were been being does did have can could"
    " would should might must not yes yeah yep nope don't dont didn't didnt can't cant won't"
    " wont isn't isnt wasn't wasnt couldn't couldnt wouldn't doesn't doesnt just like really"
    " very too more what when where who why how which there here some any every never always"
    " still now today tomorrow yesterday tonight know think want wanna go going gonna get got"
    " said say told feel because ok okay well uh um please thanks sorry up down all".split()
)
"""Small English words that are none in the other languages."""
SHARE = 0.25
"""With this share of them a line is English."""
SURE, SURE_OF_PART = 0.4, 0.8
"""How sure py3langid has to be of a line, and of one sentence of several, from 0 to 1."""
FEWEST_OF_PART = 3
"""Words that such a sentence has at least."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_KANA = re.compile(r"[\u3041-\u30ff]")


def has_kana(text: str) -> bool:
    """Whether it has Japanese syllables, which make its Han characters Japanese."""
    return _KANA.search(text) is not None


def whole_in_other(text: str) -> str | None:
    """The language of a line in Latin letters or with kana that is not English (or Chinese); None
    where it is, or may be.
    """
    return "ja" if has_kana(text) else _other(text, SURE, 2)


def partly_in_other(text: str) -> str | None:
    """The language of a sentence in another language among English ones; None without any."""
    parts = [text[start:end] for start, end in sentences.spans(text)]
    if len(parts) < 2:
        return None
    found = (_other(part, SURE_OF_PART, FEWEST_OF_PART) for part in parts)
    return next((code for code in found if code), None)


@lru_cache(maxsize=4096)
def _other(text: str, sure: float, fewest: int) -> str | None:
    low = text.lower().replace("’", "'")
    words = _WORD.findall(low)
    if len(words) < fewest or sum(word in SMALL_WORDS for word in words) >= SHARE * len(words):
        return None
    if all(word in english() for word in words):
        return None
    code, likely = _identifier().classify(low)
    return str(code) if code != "en" and likely >= sure else None


@cache
def english() -> dict[str, int]:
    """How often English words occur in texts of many kinds: 82,765 of them, without contractions;
    the list that SymSpell brings (its words from SCOWL, how often from Google's n-grams).
    """
    file = files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt")
    pairs = (line.split() for line in file.read_text(encoding="utf-8-sig").splitlines())
    return {word: int(count) for word, count in pairs}


@cache
def _identifier() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(SPOKEN)
    return identifier
