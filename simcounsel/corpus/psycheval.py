"""Courses as PsychEval publishes them: a JSON object for each client, with its sessions.

    {"theoretical": "cbt", "client_id": 1, "client_info": {...}, "global_plan": [...],
     "sessions": [{"session_number": 1, "session_goals": {...}, "suggest_skills": [...],
                   "session_dialogue": [{"role": "Counselor", "text": "<think>...</think>..."}],
                   "session_summary": {"session_summary_abstract": ..., "homework": [...]}}]}

The shape is that of data/THERAPY/NUMBER.json in its repository (2026). Each session is a dialogue;
what was thought before a line stands in elements within `<think>` (see `markup`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from simcounsel.corpus.courses import with_earlier
from simcounsel.corpus.dialogues import CourseSession, Dialogue, Turn
from simcounsel.corpus.foreign import Place, Row, is_unicode, messages_in

_END = re.compile(r"\s*</?end>\s*\Z", re.IGNORECASE)
_ANNOUNCED = re.compile(r"\A\s*这是第\s*\d+\s*次会话\s*\Z")
"""What the published dialogues send in the client's name before some sessions."""
_TRAITS = ("age", "gender", "occupation", "educational_background", "family_status")


def is_course(row: Any) -> bool:
    """Whether a row is a client's sessions, or one session, as PsychEval writes them."""
    if not isinstance(row, Mapping):
        return False
    sessions = row.get("sessions")
    return "session_dialogue" in row or (
        isinstance(sessions, list)
        and any(isinstance(one, Mapping) and "session_dialogue" in one for one in sessions)
    )


def dialogues_of_course(place: Place, row: Row) -> tuple[Dialogue, ...]:
    """A dialogue for each session, with what was kept of those before. CorpusError names file,
    line, session and what is wrong.
    """
    sessions = row.get("sessions", [row])
    name = f"{PurePath(place.file).stem}:{_word(row.get('client_id')) or place.number}"
    made = []
    for number, session in enumerate(sessions, 1):
        if not isinstance(session, Mapping) or not isinstance(
            session.get("session_dialogue"), list
        ):
            raise place.wrong(
                f"sessions {number}: no list `session_dialogue` in it, found"
                f" {_found(session)}; each session needs its lines as role and text"
            )
        made.append(_dialogue(place, row, session, name, number))
    return with_earlier(made)


def _found(session: Any) -> str:
    if not isinstance(session, Mapping):
        return type(session).__name__
    if "session_dialogue" in session:
        return f"`session_dialogue` as {type(session['session_dialogue']).__name__}"
    return ", ".join(map(str, session)) or "nothing"


def _dialogue(place: Place, row: Row, session: Row, name: str, number: int) -> Dialogue:
    counted = session.get("session_number", number)
    if not isinstance(counted, int) or isinstance(counted, bool) or counted < 1:
        raise place.wrong(
            f"sessions {number}: session_number {counted!r}; expected a whole number from 1"
        )
    info = _mapping(row, "client_info")
    traits = _mapping(info, "static_traits")
    kept = _session(row, session, name, counted)
    client = _word(traits.get("name"))
    return Dialogue(
        id=f"{name}/{counted}",
        client=name,
        turns=tuple(_turns(place, session, counted)),
        theme=_word(info.get("topic")) or None,
        situation=_situation(info, traits) or None,
        objectives=kept.objective,
        condition=kept.therapy,
        sessions=(kept,),
        plan=tuple(_plan(row)),
        origin=place.origin.model_copy(update={"chat": f"{name}/{counted}"}),
        names=(client,) if client else (),
    )


def _turns(place: Place, session: Row, number: int) -> Iterator[Turn]:
    """The lines, their skills by name where the session says what an id means."""
    names = {
        _word(one.get("skill_id")): _word(one.get("skill_name"))
        for group in _mappings(session.get("suggest_skills"))
        for one in _mappings(group.get("micro_skills"))
    }
    for turn in messages_in(place, session["session_dialogue"], f"session {number}, line"):
        text = _END.sub("", turn.text)
        if turn.speaker == "client" and _ANNOUNCED.match(text):
            continue
        heads = (re.split("[:：]", one, maxsplit=1)[0].strip() for one in turn.skills)
        skills = tuple(dict.fromkeys(names.get(one) or one for one in heads))
        yield turn.model_copy(update={"text": text, "skills": skills})


def _session(row: Row, session: Row, course: str, number: int) -> CourseSession:
    goals = _mapping(session, "session_goals")
    focus = _mapping(goals, "session_focus")
    after = _mapping(session, "session_summary")
    state = _mapping(after, "client_state_analysis")
    homework = after.get("homework")
    unresolved = _word(state.get("unresolved_points_or_tensions"))
    return CourseSession(
        course=course,
        number=number,
        first=1,
        therapy=_word(row.get("theoretical")) or None,
        stage=_word(goals.get("overall_stage")) or None,
        theme=_word(focus.get("stage_title")) or None,
        objective=_texts(focus.get("objective")),
        summary=_word(after.get("session_summary_abstract")) or None,
        client_state="\n".join(
            text
            for key, value in state.items()
            if key != "unresolved_points_or_tensions" and (text := _word(value))
        )
        or None,
        unresolved=(unresolved,) if unresolved else (),
        homework=_texts(homework if isinstance(homework, list) else [homework]),
    )


def _plan(row: Row) -> Iterator[str]:
    """A text for each session of the plan, else for each stage."""
    for stage in _mappings(row.get("global_plan")):
        content = _mapping(stage, "content")
        themes = [text for one in _mappings(content.values()) if (text := _word(one.get("theme")))]
        yield from themes or filter(None, [_word(stage.get("stage_name"))])


def _situation(info: Row, traits: Row) -> str:
    parts = [_word(traits.get(key)) for key in _TRAITS]
    parts += [_word(info.get(key)) for key in ("main_problem", "core_demands")]
    for key in ("core_beliefs", "growth_experiences"):
        parts += _texts(info.get(key))
    return "\n".join(part for part in parts if part)


def _mapping(row: Row, key: str) -> Row:
    found = row.get(key)
    return found if isinstance(found, Mapping) else {}


def _mappings(listed: Any) -> list[Row]:
    fit = isinstance(listed, Iterable) and not isinstance(listed, str | Mapping)
    return [one for one in listed if isinstance(one, Mapping)] if fit else []


def _texts(listed: Any) -> tuple[str, ...]:
    found = listed if isinstance(listed, list) else []
    return tuple(text for one in found if (text := _word(one)))


def _word(value: Any) -> str:
    """A text or number as text; '' for all else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    return text if is_unicode(text) else ""
