"""Taking out of a text what would tell a rater, human or model, where it comes from: names, places,
telling words.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from simcounsel.texts.chinese_names import chinese_forms, is_chinese_name

HIDDEN = "[…]"
UNSPACED = "\u3040-\u9fff"
"""Letters of scripts without spaces, as a range."""
TITLES = frozenset(
    {
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "the",
        "van",
        "von",
        "der",
        "de",
        "da",
        "di",
        "del",
        "la",
        "le",
        "el",
        "al",
        "bin",
    }
)
ORDINARY = frozenset(
    "will may joy hope grace faith mark rose art bill june april august dawn iris violet lily daisy"
    " ivy holly heather jasmine olive ruby pearl amber autumn summer sky star page frank grant max"
    " miles drew chase rich jack pat sue rob don gene ray guy christian eve sunny honey angel young"
    " little".split()
)
"""Names that are words as well: written small, they are left alone."""


class Blinding:
    """What is taken out of the texts of one item, and what is there instead.

    speakers: each speaker's name and the label that replaces it. others: further people of the
    world, who become [person 1], [person 2], ... in the order in which they are mentioned; places
    become [place 1], ...; words become […]. A word that ends in * stands for all that begin so.
    """

    def __init__(
        self,
        speakers: Mapping[str, str],
        *,
        others: Iterable[str] = (),
        places: Iterable[str] = (),
        words: Iterable[str] = (),
    ) -> None:
        self._instead: dict[str, str] = {}
        self._spellings: set[str] = set()
        self._numbered: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._words = tuple(sorted({_plain(word) for word in words}, key=len, reverse=True))
        places = tuple(places)
        for name, label in speakers.items():
            self._learn(_parts(name), label)
        for place in places:
            self._learn([place], f"place\0{place}")
        for name in others:
            self._learn(_parts(name), f"person\0{name}")
        self._single_places = {_plain(place) for place in places if " " not in place.strip()}
        self._pattern = self._compile()

    def _learn(self, parts: Iterable[str], instead: str) -> None:
        """Each part in the cases in which it may be written; what was learned before stays (ß is SS
        and İ is i̇, which ignoring case would miss).
        """
        for part in parts:
            for spelled in (part, part.lower(), part.upper()):
                self._spellings.add(_spaced(spelled))
                self._instead.setdefault(_plain(spelled), instead)

    def _compile(self) -> re.Pattern[str] | None:
        terms = [
            _whole(term, re.escape(term))
            for term in sorted(self._spellings, key=lambda term: (-len(term), term))
        ]
        words = [
            _whole(
                word,
                re.escape(word.removesuffix("*")) + (_rest(word) if word.endswith("*") else ""),
            )
            for word in self._words
        ]
        if not terms and not words:
            return None
        known = "|".join(term.replace("'", "['’]").replace(r"\ ", r"\s+") for term in terms)
        groups = [f"(?P<known>{known})"] if terms else []
        groups += [f"(?P<word>{'|'.join(words)})"] if words else []
        return re.compile(f"(?:{'|'.join(groups)})", re.IGNORECASE)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where something would be taken out of a text (characters of its NFC form, end
        excluded).
        """
        found = (
            ()
            if self._pattern is None
            else self._pattern.finditer(unicodedata.normalize("NFC", text))
        )
        return [hit.span() for hit in found if self._taken(hit)]

    def _taken(self, found: re.Match[str]) -> bool:
        """Names that are words as well are left alone where they are written small."""
        term = _plain(found.group())
        return not (
            found.groupdict().get("known")
            and found.group().islower()
            and (term in ORDINARY or term in self._single_places)
        )

    def text(self, text: str) -> str:
        """The text without them."""
        text = unicodedata.normalize("NFC", text)
        return text if self._pattern is None else self._pattern.sub(self._replace, text)

    def _replace(self, found: re.Match[str]) -> str:
        if found.groupdict().get("known") is None:
            return HIDDEN
        if not self._taken(found):
            return found.group()
        instead = self._instead.get(_plain(found.group()), HIDDEN)
        return self._number(instead) if "\0" in instead else instead

    def _number(self, what: str) -> str:
        if what not in self._numbered:
            kind = what.split("\0")[0]
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._numbered[what] = f"[{kind} {self._counts[kind]}]"
        return self._numbered[what]


def _spaced(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.replace("’", "'").split()))


def _plain(text: str) -> str:
    return _spaced(text).lower()


def _whole(term: str, pattern: str) -> str:
    """Found as a whole word only; in scripts without spaces (Chinese, Japanese) anywhere, and so is
    a word of another script between them (`我是ChatGPT。`).
    """
    letter = rf"[^\W{UNSPACED}]"
    return (
        ("" if _unspaced(term[:1]) else f"(?<!{letter})")
        + pattern
        + ("" if _unspaced(term[-1:]) else f"(?!{letter})")
    )


def _rest(word: str) -> str:
    """What may follow a word that ends in *: letters up to another script."""
    if not word.endswith("*"):
        return ""
    return r"[\w-]*" if _unspaced(word[-2:-1]) else rf"(?:-|[^\W{UNSPACED}])*"


def _unspaced(letter: str) -> bool:
    return "\u3040" <= letter <= "\u9fff"


def _parts(name: str) -> list[str]:
    """A name in full and its parts, titles and initials left out."""
    if is_chinese_name(name):
        return chinese_forms(name)
    parts = [
        part
        for part in _spaced(name).split()
        if len(part.strip(".")) > 1 and part.strip(".").lower() not in TITLES
    ]
    return [name, *parts]
