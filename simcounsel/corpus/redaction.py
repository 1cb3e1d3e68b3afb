"""Taking out of dialogues what could tell who the client is, the same name by the same number
throughout a dialogue.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import count

from simcounsel.corpus.checks.identifying import stretches
from simcounsel.corpus.checks.naming import blinding_of
from simcounsel.corpus.dialogues import CourseSession, Dialogue, Origin, Turn

_LABEL = re.compile(r"\[(person|place|key|mail|url|phone|account|number|digits|address) \d+\]")


@dataclass(frozen=True, kw_only=True)
class Redacted:
    """What a redaction makes."""

    dialogues: tuple[Dialogue, ...]
    """In their order."""
    replaced: dict[str, int]
    """Stretches that were replaced, by kind (mail, phone, person, place ...)."""


def redact(dialogues: Sequence[Dialogue]) -> Redacted:
    """Replace names, places, contacts, numbers and addresses in all text of the dialogues; the rest
    stays as it is.

    A label counts within its dialogue: [person 1] of one dialogue is not that of another. Lines,
    drafts, reasoning, the client's file and notes are redacted alike; `names` and `places` are
    emptied. A client known by name becomes `client 1`, `client 2`, ... throughout, so that splits
    by client still hold; an id with a name in it becomes `dialogue 1`, and an origin with one
    `redacted`. Texts come back in Unicode NFC. What is not recognized stays; see
    `checks.identifying`.
    """
    hiders = [_hider(dialogue) for dialogue in dialogues]
    clients = _renamed(
        {dialogue.client: None for dialogue in dialogues},
        {
            dialogue.client
            for dialogue, hide in zip(dialogues, hiders, strict=True)
            if _hides(hide, dialogue.client)
        },
        "client",
    )
    ids = _renamed(
        {dialogue.id: None for dialogue in dialogues},
        {
            dialogue.id
            for dialogue, hide in zip(dialogues, hiders, strict=True)
            if _hides(hide, dialogue.id)
        },
        "dialogue",
    )
    counts: Counter[str] = Counter()
    done = []
    for dialogue, hide in zip(dialogues, hiders, strict=True):
        redacted = _with_texts(dialogue, _hider(dialogue))
        counts.update(_replaced(dialogue, redacted))
        update = {
            "names": (),
            "places": (),
            "client": clients[dialogue.client],
            "id": ids[dialogue.id],
            "origin": _without_names(dialogue.origin, hide),
        }
        done.append(redacted.model_copy(update=update))
    return Redacted(dialogues=tuple(done), replaced=dict(sorted(counts.items())))


def _without_names(origin: Origin | None, hide: Callable[[str], str]) -> Origin | None:
    """Where it comes from, `redacted` where that names somebody."""
    if origin is None:
        return None
    named = [name for name in ("file", "chat") if _hides(hide, getattr(origin, name))]
    return origin.model_copy(update=dict.fromkeys(named, "redacted"))


def _renamed(known: Iterable[str], named: Set[str], what: str) -> dict[str, str]:
    """Every id, and what it becomes: itself, or for one that names somebody `client 1`, `client 2`,
    ..., without those that are taken.
    """
    taken = set(known) - named
    free = (name for number in count(1) if (name := f"{what} {number}") not in taken)
    return {name: next(free) if name in named else name for name in known}


def _hides(hide: Callable[[str], str], name: str) -> bool:
    """Whether an id or a file's name holds what is to be hidden; its words may be joined by hyphens
    and the like.
    """
    return hide(name) != unicodedata.normalize("NFC", name) or hide(
        _spaced(name)
    ) != unicodedata.normalize("NFC", _spaced(name))


def _hider(dialogue: Dialogue) -> Callable[[str], str]:
    """What hides a dialogue's own names and all contacts in a text, with one numbering for all its
    texts.
    """
    blinding = blinding_of(dialogue)
    numbers: dict[tuple[str, str], int] = {}

    def label(kind: str, written: str) -> str:
        same = "".join(written.split()).lower()
        return (
            f"[{kind}"
            f" {numbers.setdefault((kind, same), 1 + sum(other == kind for other, _ in numbers))}]"
        )

    def hide(text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        made, at = [], 0
        for stretch in stretches(text):
            made += [
                blinding.text(text[at : stretch.start]),
                label(stretch.kind, text[stretch.start : stretch.end]),
            ]
            at = stretch.end
        return "".join([*made, blinding.text(text[at:])])

    return hide


def _with_texts(dialogue: Dialogue, change: Callable[[str], str]) -> Dialogue:
    """The dialogue with every free text changed; lines first, so that numbers follow the talk."""

    def maybe(text: str | None) -> str | None:
        return None if text is None else change(text)

    def changed(turn: Turn) -> Turn:
        draft = turn.draft and turn.draft.model_copy(
            update={"text": change(turn.draft.text), "reason": change(turn.draft.reason)}
        )
        return turn.model_copy(
            update={
                "text": change(turn.text),
                "reasoning": maybe(turn.reasoning),
                "assessment": maybe(turn.assessment),
                "client_state": maybe(turn.client_state),
                "draft": draft,
            }
        )

    def kept(session: CourseSession) -> CourseSession:
        texts = {
            name: value
            for name, value in session
            if isinstance(value, str | tuple) and name not in ("therapy", "stage", "schools")
        }
        return session.model_copy(
            update={
                name: change(value) if isinstance(value, str) else tuple(map(change, value))
                for name, value in texts.items()
            }
        )

    return dialogue.model_copy(
        update={
            "turns": tuple(changed(turn) for turn in dialogue.turns),
            "situation": maybe(dialogue.situation),
            "note": maybe(dialogue.note),
            "undisclosed": tuple(change(fact) for fact in dialogue.undisclosed),
            "objectives": tuple(map(change, dialogue.objectives)),
            "sessions": tuple(map(kept, dialogue.sessions)),
            "plan": tuple(map(change, dialogue.plan)),
            "faults": tuple(
                fault.model_copy(update={"why": change(fault.why)}) for fault in dialogue.faults
            ),
        }
    )


def _replaced(before: Dialogue, after: Dialogue) -> Counter[str]:
    """How many labels the lines of a dialogue gained, by kind."""
    return _labels(after) - _labels(before)


def _labels(dialogue: Dialogue) -> Counter[str]:
    return Counter(found.group(1) for text in dialogue.lines() for found in _LABEL.finditer(text))


def _spaced(name: str) -> str:
    """An id with its words apart, so that a name in it is a word."""
    return re.sub(r"[-_/.:+]+", " ", name)


def corpus_lines(dialogues: Sequence[Dialogue]) -> str:
    """The dialogues as a corpus file holds them, one a line."""
    return "".join(dialogue.model_dump_json(exclude_defaults=True) + "\n" for dialogue in dialogues)
