"""A text as the detector reads it: small letters, one spelling for one sign, disguised words
undone. Its length stays, so that a place found in it is the same place in the text.
"""

import re
import unicodedata
from functools import cache

from opencc import OpenCC

from simcounsel.danger.hearing.lexicon import Lexicon, lexicons
from simcounsel.danger.hearing.tongues import has_kana, partly_in_other, whole_in_other

_SIGNS = (
    {ord(one): "'" for one in "’‘ʼ`´′＇"}
    | {ord(one): '"' for one in "“”„«»"}
    | {0xA0: " ", 0x3000: " ", ord("\t"): " ", ord("\r"): " "}
)
_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code - 0xFEE0).isalnum()}
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\u0300-\u036f]")
_LETTERS = re.compile(r"[^\W\d_]")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
_POSSESSIVE = re.compile(r"(?<=\w)'s(?!\w)")
_ODD = re.compile(r"([a-z])\1\1|[a-z][\d*@$#!|]+[a-z]|(?<!\w)[a-z](?:[ .*_-][a-z]){3,}(?!\w)")
_TRIPLE = re.compile(r"([a-z])\1\1+")
_MASKED = re.compile(r"[a-z*@$#!|\d]+")
_APART = re.compile(r"(?<!\w)[a-z](?:[ .*_-][a-z]){3,}(?!\w)")
_DIGITS = {
    "1": "i",
    "!": "i",
    "|": "i",
    "3": "e",
    "4": "a",
    "@": "a",
    "0": "o",
    "5": "s",
    "$": "s",
    "7": "t",
}


def languages_of(text: str, language: str | None) -> tuple[str, ...]:
    """Codes of the languages in whose words a text is to be heard: the one that is named, and those
    whose script is in it: Han characters are Chinese, Latin letters English unless a language
    that is written in them is named. A line in Latin letters that looks like another language
    (`tongues`) has that one's code too, since a misspelt English line may look so. There may be no
    words for a code; `und` is a script that nobody knows.
    """
    known = lexicons()
    named = None if language is None else code_of(language)
    latin = named if named is not None and (named not in known or _latin(named)) else LATIN
    found = [
        code
        for code, lexicon in known.items()
        if (code == latin or not _latin(code)) and lexicon.letter.search(text)
    ]
    strange = named if named is not None and named not in known else "und" if not found else None
    if strange is None and (found == [LATIN] or has_kana(text)):
        strange = whole_in_other(text) or partly_in_other(text)
    if strange and _LETTERS.search(text):
        found.append(strange)
    return tuple(found)


LATIN = "en"
"""What Latin letters are taken for where nobody names the language."""


def _latin(code: str) -> bool:
    return lexicons()[code].letter.search("a") is not None


@cache
def code_of(language: str) -> str:
    """The code of a language named as `en`, `en-GB` or `English`; the name itself where no words
    are known for it.
    """
    name = language.strip().casefold()
    for code, lexicon in lexicons().items():
        if name.split("-")[0].split("_")[0] in (one.casefold() for one in lexicon.words.names):
            return code
    return name


def simplified(text: str) -> str:
    """Traditional characters as simplified ones (OpenCC), each for itself, so that the length
    stays.
    """
    return text.translate(_SIMPLIFIED)


class _Simplified(dict[int, str]):
    """For str.translate: learns a character when it meets it."""

    def __missing__(self, code: int) -> str:
        half = 0xD800 <= code < 0xE000
        other = "" if half else _opencc().convert(chr(code))
        return self.setdefault(code, other if len(other) == 1 else chr(code))


_SIMPLIFIED = _Simplified()


@cache
def _opencc() -> OpenCC:
    return OpenCC("t2s")


def normal(text: str, lexicon: Lexicon) -> str:
    """The text as it is searched, of the same length: small letters, fillers in capitals."""
    if not text.isascii():
        text = text.translate(_SIGNS).translate(_WIDE)
        text = re.sub(r"\S+", _seen, text) if _UNSEEN.search(text) else text
        text = "".join(map(_plain, text)) if lexicon.grammar.spaced else text
        text = text if lexicon.grammar.spaced else simplified(text)
    low = text.lower()
    text = (
        low
        if len(low) == len(text)
        else "".join(one if len(one.lower()) != 1 else one.lower() for one in text)
    )
    if not lexicon.grammar.spaced:
        return text
    text = _POSSESSIVE.sub(" s", _HYPHEN.sub(" ", text))
    text = _undisguised(text, lexicon) if _ODD.search(text) else text
    return lexicon.filled.sub(lambda found: found.group().upper(), text)


def _seen(found: re.Match[str]) -> str:
    """A word without the signs in it that nobody sees, filled up at its end."""
    return _UNSEEN.sub("", found.group()).ljust(len(found.group()))


def _plain(letter: str) -> str:
    """A letter without its accent, and a letter that only looks like an English one as that."""
    if letter < "\x80" or letter > "\u2fff":
        return letter
    bare = unicodedata.normalize("NFKD", letter)[:1]
    return bare if bare.isascii() and bare.isalpha() else _ALIKE.get(letter, letter)


_ALIKE = dict(zip("аеорсухіѕԁɡкмт", "aeopcyxisdgkmt", strict=True))


def _undisguised(text: str, lexicon: Lexicon) -> str:
    text = re.sub(r"[a-z']+", lambda found: _shortened(found.group(), lexicon), text)
    text = _MASKED.sub(lambda found: _unmasked(found.group(), lexicon), text)
    return _APART.sub(lambda found: _together(found.group(), lexicon), text)


def _shortened(word: str, lexicon: Lexicon) -> str:
    """`dieeee` is `die`, `killll` is `kill`."""
    if not _TRIPLE.search(word):
        return word
    once, twice = _TRIPLE.sub(r"\1", word), _TRIPLE.sub(r"\1\1", word)
    return (twice if lexicon.known(twice) else once).ljust(len(word))


def _unmasked(word: str, lexicon: Lexicon) -> str:
    """`su1cide` and `k*ll`: a listed word with signs in the places of letters."""
    bare = word.rstrip("*@$#!|0123456789")
    if bare.isalpha() or not bare:
        return word
    listed = next((one for one in lexicon.censored.get(len(bare), ()) if _fits(bare, one)), bare)
    return listed + word[len(bare) :]


def _fits(word: str, listed: str) -> bool:
    return word[0].isalpha() and all(
        mine == theirs or (not mine.isalpha() and _DIGITS.get(mine, theirs) == theirs)
        for mine, theirs in zip(word, listed, strict=True)
    )


def _together(word: str, lexicon: Lexicon) -> str:
    """`s u i c i d e`."""
    letters = re.sub(r"[^a-z]", "", word)
    return letters.ljust(len(word)) if letters in lexicon.censored.get(len(letters), ()) else word
