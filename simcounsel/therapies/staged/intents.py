"""What a client wants, by words that leave no doubt: whole utterances, clause by clause, with
negation, hedges and questions.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from simcounsel.packaged import packaged
from simcounsel.therapies.specs.manual import Intent

INTENTS: tuple[Intent, ...] = get_args(Intent)
ORDER = ("even_asked", "unclear", "another", "tell_more", "done", "explain", "no", "yes")
"""What is said more narrowly is tried first: `another time` is a no and `another` is not."""
_STOPS = re.compile(r"([.,;:!?…。，；：！？、،؛؟—–\n]+)")
FARSI = "fa"
_ONE_FORM = str.maketrans(
    dict(zip("يىكةأإۀ\u200c", "ییکهااه ", strict=True))
    | dict.fromkeys("\u0640\u064b\u064e\u064f\u0650\u0651\u0654")
)
"""Letters that are typed in several ways, vowel marks, and the half-space."""


@dataclass(frozen=True, kw_only=True)
class Patterns:
    """A language's patterns: what may be before and after, what counts for nothing, what turns a
    clause against the one before.
    """

    lead: tuple[str, ...]
    tail: tuple[str, ...]
    fillers: frozenset[str]
    contrast: tuple[str, ...]
    kinds: dict[str, tuple[re.Pattern[str], ...]]
    spaced: bool

    def kind(self, clause: str, asked: bool) -> str | None:
        """What a clause wants; '' when it says nothing, None when it is none of the known ones."""
        bare = clause
        while True:
            if bare in self.fillers or not bare:
                return ""
            found = self._matched(bare, asked)
            if found:
                return found
            shorter = self._shorter(bare)
            if shorter == bare:
                return None
            bare = shorter

    def _matched(self, clause: str, asked: bool) -> str | None:
        for kind in ORDER:
            if any(pattern.fullmatch(clause) for pattern in self.kinds.get(kind, ())):
                if kind == "even_asked":
                    return "yes"
                return "unclear" if asked and kind in ("yes", "no", "done") else kind
        return None

    def _shorter(self, clause: str) -> str:
        """Without one thing that is before or after; the longest that fits."""
        gap = " " if self.spaced else ""
        for word in self.lead:
            if clause == word or clause.startswith(word + gap):
                return clause[len(word) :].strip()
        for word in self.tail:
            if clause == word or clause.endswith(gap + word):
                return clause[: -len(word)].strip()
        return clause


@cache
def patterns_of(language: str) -> Patterns:
    """The patterns of intents/LANGUAGE.yaml."""
    data: dict[str, Any] = packaged("simcounsel.therapies", "intents", f"{language}.yaml")
    long_first: dict[str, tuple[str, ...]] = {
        key: tuple(sorted(data[key], key=lambda word: -len(word)))
        for key in ("lead", "tail", "contrast")
    }
    return Patterns(
        **long_first,
        fillers=frozenset(data["fillers"]),
        spaced=language != "zh",
        kinds={
            kind: tuple(re.compile(f"(?:{pattern})") for pattern in data.get(kind, ()))
            for kind in ORDER
        },
    )


def intent_in(text: str, language: str = "en") -> Intent | None:
    """What an utterance wants, if every clause of it is known and they agree; None: somebody must
    judge it. Where the world speaks English, people may answer in Farsi.
    """
    known = _intent_in(text, language)
    if known is None and language == "en":
        return _intent_in(text.translate(_ONE_FORM), FARSI)
    return known


def _intent_in(text: str, language: str) -> Intent | None:
    patterns = patterns_of(language)
    kinds: list[tuple[str, bool]] = []
    for clause, asked, turned in _clauses(text, patterns):
        kind = patterns.kind(clause, asked)
        if kind is None or kind == "unclear":
            return None
        if kind:
            kinds.append((kind, turned))
    return _agreed(kinds)


def _agreed(kinds: list[tuple[str, bool]]) -> Intent | None:
    """One thing wanted in all clauses. A yes with a narrower wish is that wish, a no with one of
    talk or another exercise too; a no after `but` takes back a yes; a yes after a no settles
    nothing.
    """
    names = [kind for kind, _ in kinds]
    if not names:
        return None
    different = set(names)
    if different == {"yes", "no"}:
        turned_no = any(kind == "no" and turned for kind, turned in kinds)
        return "no" if names[0] == "yes" and turned_no and names[-1] == "no" else None
    if "yes" in different and len(different) == 2:
        different -= {"yes"}
    elif "no" in different and len(different) == 2 and different & {"another", "tell_more"}:
        different -= {"no"}
    only = different.pop()
    return None if different else next(intent for intent in INTENTS if intent == only)


def _clauses(text: str, patterns: Patterns) -> list[tuple[str, bool, bool]]:
    """(clause, whether it is asked, whether it turns against the one before), lower case, without
    punctuation.
    """
    plain = re.sub(r"[\"“”()\[\]（）「」]", " ", text.lower().replace("’", "'").replace("‘", "'"))
    parts = _STOPS.split(plain)
    found: list[tuple[str, bool, bool]] = []
    for index in range(0, len(parts), 2):
        stop = parts[index + 1] if index + 1 < len(parts) else ""
        asked = bool(re.search("[?？؟]", stop))
        pieces = _turns(" ".join(parts[index].split()), patterns)
        found += [
            (piece, asked and place == len(pieces) - 1, turned)
            for place, (piece, turned) in enumerate(pieces)
            if piece
        ]
    return found


def _turns(clause: str, patterns: Patterns) -> list[tuple[str, bool]]:
    """A clause cut before words such as `but`, which are left out."""
    words = "|".join(map(re.escape, patterns.contrast))
    cut = re.split(
        rf"(?:^|\s)(?:{words})\s" if patterns.spaced else rf"(?:^|(?<=.))(?:{words})(?=\S{{2}})",
        clause,
    )
    return [(piece.strip(), place > 0) for place, piece in enumerate(cut)]
