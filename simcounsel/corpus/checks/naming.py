"""Who and where a dialogue names: what is known from its file, and what is behind a phrase that
leads to a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from simcounsel.corpus.checks.language import language_of
from simcounsel.corpus.checks.wordlists import phrases
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.texts.blinding import Blinding

_CAPITAL = r"[A-ZÀ-ÖØ-ÞŁŚŻĆÇŠŽ][^\W\d_]+(?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"[ ,]{{0,9}}(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}})")
_AMID = re.compile(
    rf"(?P<into>\b(?:in|near|outside) )?(?<=[a-z,;] )(?P<name>{_CAPITAL}(?: {_CAPITAL}){{0,2}})"
)
_CHINESE_NAME = re.compile(r"(?P<name>[\u4e00-\u9fff]{2,3})(?=[，。,.！!、；;\s]|$)")
_NO_CHINESE_NAME = re.compile(
    r"[他她它你我谁这那哪什怎不没有了着过的在是去来吃做住醒人车]|外卖|起来|一|大家|妈|爸|哥|姐"
)
_NAME_LIKE = re.compile(rf"(?:{_CAPITAL}(?:[ ]{_CAPITAL}){{0,3}}|[\u4e00-\u9fff]{{2,4}})")


def blinding_of(dialogue: Dialogue) -> Blinding:
    """Takes all names and places of a dialogue out, each by one number, in whatever spelling; see
    `people` and `places`.
    """
    where = places(dialogue)
    return Blinding({}, others=people(dialogue, where), places=where)


def people(dialogue: Dialogue, where: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The names in its file (with the client's, if that reads as a name), then those that its texts
    introduce ("my sister Anna") and English capitals amid a sentence ("and then Anna"), but for
    `where`.
    """
    known = [*dialogue.names, *([dialogue.client] if _NAME_LIKE.fullmatch(dialogue.client) else [])]
    return tuple(
        name for name in _grown(dialogue, known, "person") if name in known or name not in where
    )


def places(dialogue: Dialogue) -> tuple[str, ...]:
    """The places in its file, then those that its texts introduce ("I grew up in ..."), and large
    Chinese cities.
    """
    cities = [
        found.group()
        for text in texts_of(dialogue)
        for found in phrases("naming")["chinese place"].finditer(text)
    ]
    return _grown(dialogue, [*dialogue.places, *cities], "place")


def texts_of(dialogue: Dialogue) -> list[str]:
    """All free text in a dialogue: lines, drafts, the client's file, and what was thought, planned
    and noted.
    """
    parts: list[str | None] = [
        dialogue.situation,
        dialogue.note,
        *dialogue.undisclosed,
        *(fault.why for fault in dialogue.faults),
        *(one.text for one in unsaid(dialogue)),
    ]
    for turn in dialogue.turns:
        parts += [turn.text, *((turn.draft.text, turn.draft.reason) if turn.draft else ())]
    return [part for part in parts if part]


@dataclass(frozen=True, kw_only=True)
class Unsaid:
    """A text that a counselor thought, planned or noted, and that goes into training data."""

    what: str
    """In words, such as `assessment` or `plan`."""
    turn: int | None
    """The turn (from 1) that it belongs to; None: to the whole dialogue."""
    text: str


def unsaid(dialogue: Dialogue) -> Iterator[Unsaid]:
    """What was thought before each line, then what was planned and noted of each session."""
    for number, turn in enumerate(dialogue.turns, start=1):
        for what, text in (
            ("reasoning", turn.reasoning),
            ("assessment", turn.assessment),
            ("client state", turn.client_state),
        ):
            if text:
                yield Unsaid(what=what, turn=number, text=text)
    for what, texts in (("objectives", dialogue.objectives), ("plan", dialogue.plan)):
        yield from (Unsaid(what=what, turn=None, text=text) for text in texts if text)
    for one in dialogue.sessions:
        parts: tuple[tuple[str, tuple[str | None, ...]], ...] = (
            ("plan", (one.theme, one.reason, *one.objective, *one.links, *one.material)),
            (
                "review",
                (
                    one.summary,
                    one.client_state,
                    *one.goals_met,
                    one.goal_assessment,
                    *one.unresolved,
                ),
            ),
            ("homework", one.homework),
        )
        for what, given in parts:
            named = f"{what} of session {one.number}"
            yield from (Unsaid(what=named, turn=None, text=text) for text in given if text)


def _grown(dialogue: Dialogue, known: list[str], kind: str) -> tuple[str, ...]:
    texts = texts_of(dialogue)
    found = [name for text in texts for name in _introduced(text, kind)] + _amid(
        "\n".join(texts), kind
    )
    return tuple(dict.fromkeys(name for name in (*known, *found) if name.strip()))


def _amid(text: str, kind: str) -> list[str]:
    """Words with a capital amid an English sentence that are never written small and are no day,
    month, language or the like: mostly names. Behind `in`, `near` or `outside` they are places.
    """
    if language_of(text) != "en":
        return []
    small = set(re.findall(r"(?<!\w)[a-z]+", text))
    names = [
        _trimmed(found["name"])
        for found in _AMID.finditer(text)
        if (found["into"] is not None) == (kind == "place")
    ]
    return [
        name for name in names if name and not any(word.lower() in small for word in name.split())
    ]


def _introduced(text: str, kind: str) -> list[str]:
    """The names that are behind a leading phrase."""
    names = [
        named["name"]
        for lead in phrases("naming")[kind].finditer(text)
        if (named := _NAME.match(text, lead.end()))
    ]
    if kind == "person":
        names += [
            named["name"]
            for lead in phrases("naming")["chinese person"].finditer(text)
            if (named := _CHINESE_NAME.match(text, lead.end()))
            and not _NO_CHINESE_NAME.search(named["name"])
        ]
    return [name for written in names if (name := _trimmed(written))]


def _trimmed(name: str) -> str:
    """Without words that name nobody, at both ends, and without a genitive's s."""
    words = re.sub(r"['’]s$", "", name).split()
    while words and _nobody().fullmatch(words[0]):
        words = words[1:]
    while words and _nobody().fullmatch(words[-1]):
        words = words[:-1]
    return " ".join(words)


@cache
def _nobody() -> re.Pattern[str]:
    return re.compile(phrases("naming")["not a name"].pattern)
