"""What training data of a course tells beside the lines: what the counselor knew and meant, what
came between two sessions, and the note after one.

    [Between sessions: session 2 begins.
    Your note: ...
    Homework: ...
    ]

Such a text stands where the other side's words stand, as `markup.opening` does, and is dropped when
the file is read again.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import get_args

from simcounsel.corpus.dialogues import CourseSession, Dialogue
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import Language

_BEGUN = re.compile(r"\[(?:Between sessions:|两次会谈之间：)")
_ENDED = "\n]"


def known_before(dialogue: Dialogue, language: Language) -> str:
    """What a course's counselor knows and means as the dialogue begins: the plan so far, its notes
    on earlier sessions, what the session is meant for; '' where there is no course.

    Of the plan no more than has come up: later sessions may be about what is not told yet.
    """
    begun = next((one for one in dialogue.sessions if one.first is not None), None)
    if begun is None:
        return ""
    parts = []
    themes = [one for one in dialogue.sessions if one.number <= begun.number and one.theme]
    if themes:
        listed = "\n".join(f"{one.number}. {_line(one.theme)}" for one in themes)
        parts.append(f"{phrase('export_words', 'plan', language)}:\n{listed}")
    earlier = [one for one in dialogue.sessions if one.number < begun.number]
    told = [
        "\n".join((phrase("export_words", "session", language, number=one.number), *lines))
        for one in earlier
        if (lines := list(_kept(one, language)))
    ]
    if told:
        parts.append(f"{phrase('export_words', 'before', language)}:\n" + "\n\n".join(told))
    parts += list(_meant(begun, language))
    return "\n\n".join(parts)


def between(
    before: CourseSession | None, begun: CourseSession, language: Language, *, told: bool
) -> str:
    """The stage direction where a session begins in the middle of a dialogue. told: with what the
    counselor kept of the session before, and means this one for; a client knows of neither.
    """
    lines = [phrase("export_words", "between", language, number=begun.number)]
    if told:
        lines += [*(_kept(before, language) if before else ()), *_meant(begun, language)]
    return "[" + "\n".join(lines) + "\n]"


def note_of(session: CourseSession, language: Language) -> str:
    """What a counselor writes down after a session; '' where nothing is kept of it."""
    return "\n".join(_kept(session, language))


@cache
def note_request(language: Language) -> str:
    """The stage direction before it."""
    return phrase("export_words", "note", language)


def is_note_request(content: str) -> bool:
    """Whether a message asks for a counselor's note, which is no line of the dialogue."""
    return content in {note_request(language) for language in get_args(Language)}


def without_directions(content: str) -> str:
    """A message without what was said about the time between two sessions."""
    parts, at = [], 0
    for begun in _BEGUN.finditer(content):
        if begun.start() < at:
            continue
        end = content.find(_ENDED, begun.end())
        if end < 0:
            break
        parts.append(content[at : begun.start()].rstrip("\n"))
        at = end + len(_ENDED)
        at += 2 * content.startswith("\n\n", at)
    return "\n\n".join(part for part in (*parts, content[at:]) if part) if parts else content


def _kept(session: CourseSession, language: Language) -> Iterator[str]:
    listed: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("summary", (session.summary or "",)),
        ("state", (session.client_state or "",)),
        ("met", session.goals_met),
        ("open", session.unresolved),
        ("homework", session.homework),
    )
    for key, texts in listed:
        if text := "; ".join(_line(one) for one in texts if one.strip()):
            yield f"{phrase('export_words', key, language)}: {text}"


def _meant(session: CourseSession, language: Language) -> Iterator[str]:
    for key, text in (("stage", session.stage), ("theme", session.theme)):
        if text:
            yield f"{phrase('export_words', key, language)}: {_line(text)}"
    if session.objective:
        points = "; ".join(map(_line, session.objective))
        yield f"{phrase('export_words', 'objective', language)}: {points}"


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
