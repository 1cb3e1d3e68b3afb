"""Replies that are lists: a leaflet, not something that a person says."""

import re
from collections.abc import Iterator

from simcounsel.corpus.checks.findings import Finding, quoted
from simcounsel.corpus.checks.rules import Limits, of_dialogue
from simcounsel.corpus.dialogues import Dialogue

_START = r"(?:^|(?<=[\n.!?:;,。！？：；，、]))[ \t]*"
_ITEM = re.compile(
    rf"{_START}(?:step\s+|tip\s+|步骤)?[(（]?(?P<number>\d{{1,2}})(?:[)）、]|[.．:：](?!\d))["
    r" \t]*(?=\S)",
    re.IGNORECASE,
)
_CIRCLED = re.compile(r"[①②③④⑤⑥⑦⑧⑨⑩]")
_BULLET = re.compile(r"^[ \t]*(?:[-–—*•·●▪◦]|\*\*)[ \t]*(?=\w)", re.MULTILINE)
_WORDS = (
    (
        r"first(?:ly)?\b|first of all\b|to begin with,",
        r"second(?:ly)?\b",
        r"third(?:ly)?\b",
        r"fourth(?:ly)?\b",
    ),
    (
        r"第一(?![次个步天年眼时])",
        r"第二(?![次个步天年眼])",
        r"第三(?![次个步天年眼者方])",
        r"第四(?![次个步天年])",
    ),
    (r"一、|（一）", r"二、|（二）", r"三、|（三）", r"四、|（四）"),
    (r"首先", r"其次|然后|接着", r"再次|此外|另外|最后"),
)
_ORDINALS = [
    [
        re.compile(rf"(?:^|(?<=[\n.!?:;,。！？：；，、])|(?<=\band))\s{{0,20}}(?:{word})", re.I)
        for word in words
    ]
    for words in _WORDS
]
_SPOKEN = re.compile(r"\s{0,20},|ly\b|[一二三四首其再最此另]|、")
"""What an ordinal at the head of a sentence must be followed by, or be: "First, ..." and "Secondly
..." count, "First cloud, you go in" does not.
"""


@of_dialogue("list_like", looks_for="a reply that is a list")
def list_like(dialogue: Dialogue, limits: Limits) -> Iterator[Finding]:
    """A counselor's line of three items or more is an error, of two a warning: numbers, bullets,
    First ... second ..., and the like in Chinese.
    """
    for number, turn in enumerate(dialogue.turns, start=1):
        if turn.speaker == "client":
            continue
        places = max((_numbered(turn.text), _ticked(turn.text), _counted(turn.text)), key=len)
        if len(places) >= 2:
            span = (places[0], len(turn.text) if len(places) == 2 else places[2])
            yield Finding(
                turn=number,
                severity="error" if len(places) > 2 else "warning",
                what=f"a list of {len(places)} items: {quoted(turn.text[span[0] :])}",
                span=span,
                remedy="let the counselor say one thing, and hear what the client makes of it",
            )


def _numbered(text: str) -> list[int]:
    """Where 1, 2, 3 ... are at the head of items, as far as they count up from 1."""
    places: list[int] = []
    awaited = 1
    for item in _ITEM.finditer(text):
        if int(item["number"]) == awaited:
            places.append(item.start())
            awaited += 1
    return places


def _ticked(text: str) -> list[int]:
    """Where lines begin with a bullet, or circled numbers stand; whichever are more."""
    bullets, circled = (
        [found.start() for found in _BULLET.finditer(text)],
        [found.start() for found in _CIRCLED.finditer(text)],
    )
    return max(bullets, circled, key=len)


def _counted(text: str) -> list[int]:
    """Where First, second, third ... begin sentences, in one language and in order; 首先 ... 最后
    is a list of two.
    """
    best: list[int] = []
    for ordinals in _ORDINALS:
        places, start = [], 0
        for ordinal in ordinals:
            found = next(
                (
                    hit
                    for hit in ordinal.finditer(text, start)
                    if _SPOKEN.match(text, hit.end()) or _SPOKEN.search(hit.group())
                ),
                None,
            )
            if found:
                places.append(found.start())
                start = found.end()
            elif not places:
                break
        best = max(best, places, key=len)
    return best
