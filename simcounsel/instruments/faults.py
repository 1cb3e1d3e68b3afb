"""Faults planted into a conversation: a judge that is any good rates the faulty version lower than
the sound one. A fault is subtle: one turn of the counselor, about what the client just said, in the
client's own words; all else stays.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from simcounsel.chance import chance
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.packaged import packaged
from simcounsel.specs.items import Fault
from simcounsel.texts import stopwords
from simcounsel.texts.chinese import is_chinese

Lines = tuple[tuple[str, str], ...]
NAMES: Mapping[Fault, str] = {
    "advice": "advice before the matter is understood",
    "leading": "a leading question",
    "risk": "a hint at danger passed over",
    "misremembered": "the client's words turned round",
    "judged": "a judgement of the client",
}
"""What people read of each kind."""
FEWEST, MOST = 4, 12
"""Words of the client that are quoted; of Chinese characters twice as many."""
_CLAUSE = re.compile(r"[^.,;:!?…()\"“”。，；：！？、（）—\n]+|--")
_FILLER = re.compile(
    r"^(?:(?:and|but|so|well|um|uh|yeah|yes|no|okay|oh|like|you know|i mean|because|then)\s+)+"
    r"|^(?:嗯|呃|就是|然后|但是|可是|所以|因为|那)+",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A fault, a faulty version and a sound one that differs in nothing else."""

    kind: Fault
    faulty: Lines
    sound: Lines

    @property
    def fault(self) -> str:
        """In words for people."""
        return NAMES[self.kind]


def plant(lines: Lines) -> tuple[Planted, ...]:
    """Each kind of fault in a conversation, in its language (English or Chinese), each in another
    place as far as there are enough. The same conversation gets the same. A fault that finds no
    place (nothing to quote) is left out.
    """
    said = _words("".join(text for _, text in lines))
    places = _places(lines)
    made = []
    for number, kind in enumerate(NAMES):
        at = places[(number + 1) * len(places) // (len(NAMES) + 1)] if places else None
        if at is None:
            continue
        planted = _ignored(lines, at, said) if kind == "risk" else _said(lines, at, kind, said)
        if planted is not None:
            made.append(planted)
    return tuple(made)


def _places(lines: Lines) -> list[int]:
    """The counselor's turns that answer something which can be quoted, without the first and the
    last turn and those of a word or two as long as there are others.
    """
    turns = [index for index, (speaker, _) in enumerate(lines) if speaker == COUNSELOR]
    answers = [
        index
        for index in turns
        if index and lines[index - 1][0] == CLIENT and quotable(lines[index - 1][1])
    ]
    inner = [index for index in answers if index not in (turns[0], turns[-1])]
    whole = [index for index in inner if _length(lines[index][1]) >= FEWEST]
    return whole or inner or answers


def _said(lines: Lines, at: int, kind: Fault, words: Mapping[str, Sequence[str]]) -> Planted | None:
    """One turn of the counselor, said otherwise."""
    said = quotable(lines[at - 1][1])
    earlier = next(
        (
            quote
            for speaker, text in lines[: at - 1]
            if speaker == CLIENT and (quote := quotable(text))
        ),
        said,
    )
    line = chance(kind, lines[at][1], said).choice(words[kind])
    faulty = line.format(said=said, earlier=earlier)
    return Planted(
        kind=kind, faulty=(*lines[:at], (COUNSELOR, faulty), *lines[at + 1 :]), sound=lines
    )


def _ignored(lines: Lines, at: int, words: Mapping[str, Sequence[str]]) -> Planted:
    """The client hints at not wanting to live; the counselor goes on as if nothing had been said,
    or takes it up.
    """
    draw = chance("risk", lines[at][1])
    space = "" if is_chinese(lines[at - 1][1]) else " "
    heard = (CLIENT, f"{lines[at - 1][1]}{space}{draw.choice(words['hint'])}")
    taken_up = (COUNSELOR, draw.choice(words["taken_up"]))
    before, after = lines[: at - 1], lines[at + 1 :]
    return Planted(
        kind="risk",
        faulty=(*before, heard, lines[at], *after),
        sound=(*before, heard, taken_up, *after),
    )


def quotable(text: str) -> str:
    """The part of a line that says most, short enough to be quoted; '' when there is none."""
    clauses = [_FILLER.sub("", part.strip()).strip() for part in _CLAUSE.findall(text)]
    fit = [part for part in clauses if FEWEST <= _length(part) <= MOST]
    return max(fit, key=_content, default="")


def _length(text: str) -> int:
    """In words; two Chinese characters count as one."""
    return len(text) // 2 if is_chinese(text) else len(text.split())


def _content(text: str) -> int:
    """How much of it is about something."""
    if is_chinese(text):
        return len(set(text))
    return sum(word.lower() not in stopwords.EMPTY for word in text.split())


def _words(text: str) -> Mapping[str, Sequence[str]]:
    return _all_words()["zh" if is_chinese(text) else "en"]


@cache
def _all_words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    read: Mapping[str, Mapping[str, Sequence[str]]] = packaged(
        "simcounsel.instruments", "faults.yaml"
    )
    return read
