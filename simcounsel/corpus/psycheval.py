"""Courses as PsychEval publishes them: a JSON object for each client, with its sessions.

    {"theoretical": "cbt", "client_id": 1, "client_info": {...}, "global_plan": [...],
     "sessions": [{"session_number": 1, "session_goals": {...}, "suggest_skills": [...],
                   "session_dialogue": [{"role": "Counselor", "text": "<think>...</think>..."}],
                   "session_summary": {"session_summary_abstract": ..., "homework": [...]}}]}

The shape is that of data/THERAPY/NUMBER.json in its repository, and of the paper's figures 42 to 53
(2026). Each session is a dialogue; what was thought before a line is in elements within
`<think>` (see `markup`). The client's file and the plan are in `psycheval_file`. Of a skill the
name is kept; what else is said of it is for `skills import`. What is known of neither is named in
the dialogue's `note`.

The client's file and the plan of a course as PsychEval writes them (figures 42 to 49): traits,
what each therapy works on, and for each session its theme, the parts of the file that are planned
to come up (`persona_links`), tasks and points (`case_material`), and why (`rationale`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from simcounsel.corpus.courses import with_earlier
from simcounsel.corpus.dialogues import CourseSession, Dialogue, Turn
from simcounsel.corpus.messages import Place, Row, messages_in
from simcounsel.therapies.specs.psycheval import SECTS
from simcounsel.therapies.specs.psycheval_rows import (
    basics,
    joined,
    mapping,
    mappings,
    said_in,
    stages_of,
    texts,
    word,
)

_PLAIN = (
    "static_traits.age",
    "static_traits.gender",
    "static_traits.occupation",
    "static_traits.educational_background",
    "static_traits.family_status",
    "main_problem",
    "core_demands",
    "core_beliefs",
    "growth_experiences",
)
"""What says by itself what it is, in this order; all else is behind its name."""
_ELSEWHERE = ("static_traits.name", "topic")
"""Kept in fields of their own."""


def file_text(row: Row) -> str:
    """The client's file, a line for each thing that it says."""
    info = {key: value for key, value in basics(row).items() if key != "basic_info"}
    theory = mapping(info, "theory")
    said = list(said_in({**{k: v for k, v in info.items() if k != "theory"}, **theory}))
    plain = [text for key in _PLAIN for name, text in said if name == key]
    rest = [f"{name}: {text}" for name, text in said if name not in (*_PLAIN, *_ELSEWHERE)]
    return "\n".join([*plain, *rest])


def plan_texts(row: Row) -> tuple[str, ...]:
    """A text for each session of the plan, else for each stage."""
    found: list[str] = []
    for stage in stages_of(row):
        content = mapping(stage, "content")
        themes = [text for one in mappings(content.values()) if (text := word(one.get("theme")))]
        found += themes or filter(None, [word(stage.get("stage_name"))])
    return tuple(found)


def planned(row: Row, number: int) -> dict[str, Any]:
    """What the plan says of a session, as fields of a `CourseSession`."""
    one = next(
        (
            session
            for stage in stages_of(row)
            for key, session in mapping(stage, "content").items()
            if isinstance(session, Mapping) and re.findall(r"\d+", str(key))[:1] == [str(number)]
        ),
        {},
    )
    return {
        "schools": tuple(SECTS.get(name, name) for name in texts(one.get("theory_select"))),
        "links": texts(one.get("persona_links")),
        "material": texts(one.get("case_material")),
        "reason": "\n".join(texts(one.get("rationale"))) or None,
    }


_END = re.compile(r"\s*</?end>\s*\Z", re.IGNORECASE)
_ANNOUNCED = re.compile(r"\A\s*这是第\s*\d+\s*次会话\s*\Z")
"""What the published dialogues send in the client's name before some sessions."""
_NUMBERED = re.compile(r"([\w-]*\d[\w-]*)\s*[:：]\s*(.*)", re.DOTALL)
_MET = re.compile(r"(?<!未)(?:完全达成|(?<!not )(?<!partially )completed\b)", re.IGNORECASE)
_TAKEN = {
    "row": frozenset("theoretical client_id client_info global_plan plan sessions".split()),
    "session": frozenset(
        "session_number session_goals suggest_skills session_dialogue session_summary".split()
    ),
    "summary": frozenset(
        "session_summary_abstract goal_assessment client_state_analysis homework".split()
    ),
}


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
    name = f"{PurePath(place.file).stem}:{word(row.get('client_id')) or place.number}"
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
    info = basics(row)
    kept = _session(row, session, name, counted)
    client = word(mapping(info, "static_traits").get("name"))
    left = ", ".join(_left(row, session))
    return Dialogue(
        id=f"{name}/{counted}",
        client=name,
        turns=tuple(_turns(place, session, counted)),
        theme=word(info.get("topic")) or None,
        situation=file_text(row) or None,
        objectives=kept.objective,
        condition=kept.therapy,
        sessions=(kept,),
        plan=plan_texts(row),
        origin=place.origin.model_copy(update={"chat": f"{name}/{counted}"}),
        names=(client,) if client else (),
        note=f"not taken from the file: {left}" if left else None,
    )


def _left(row: Row, session: Row) -> Iterator[str]:
    """The keys that hold something and are known to nobody here."""
    own = {} if row is session else row
    for kind, held in (
        ("row", own),
        ("session", session),
        ("summary", mapping(session, "session_summary")),
    ):
        known = _TAKEN[kind] | (_TAKEN["row"] if kind == "session" else frozenset())
        yield from (str(key) for key, value in held.items() if key not in known and value)


def _skills(session: Row) -> dict[str, str]:
    """The skills that the counselor was offered, name by id."""
    return {
        word(one.get("skill_id")): word(one.get("skill_name"))
        for group in mappings(session.get("suggest_skills"))
        for key in ("micro_skills", "atomic_skills")
        for one in mappings(group.get(key))
    }


def _turns(place: Place, session: Row, number: int) -> Iterator[Turn]:
    """The lines, their skills by name where the session says what an id means, else by what stands
    behind the id.
    """
    names = _skills(session)
    for turn in messages_in(place, session["session_dialogue"], f"session {number}, line"):
        text = _END.sub("", turn.text)
        if turn.speaker == "client" and _ANNOUNCED.match(text):
            continue
        skills = dict.fromkeys(_named(one, names) for one in _whole(turn.skills))
        yield turn.model_copy(update={"text": text, "skills": tuple(skills)})


def _whole(skills: Iterable[str]) -> Iterator[str]:
    """Skills of a line, one of which may have a semicolon in its text: what begins with no id goes
    on with the one before.
    """
    waiting = ""
    for one in skills:
        if _NUMBERED.match(waiting) and not re.match(r"[\w-]*\d[\w-]*\s*([:：]|$)", one):
            waiting += f"; {one}"
            continue
        if waiting:
            yield waiting
        waiting = one
    if waiting:
        yield waiting


def _named(skill: str, names: Mapping[str, str]) -> str:
    """A skill by its name; else all that the line says of it."""
    found = _NUMBERED.fullmatch(skill)
    head, text = (found[1], found[2].strip()) if found else (skill, "")
    return names.get(head) or (f"{head}: {text}" if text else head)


def _session(row: Row, session: Row, course: str, number: int) -> CourseSession:
    goals = mapping(session, "session_goals")
    focus = mapping(goals, "session_focus")
    after = mapping(session, "session_summary")
    state = mapping(after, "client_state_analysis")
    homework = after.get("homework")
    unresolved = joined(state.get("unresolved_points_or_tensions"))
    assessed = mapping(after, "goal_assessment")
    return CourseSession(
        course=course,
        number=number,
        first=1,
        therapy=word(row.get("theoretical")) or None,
        stage=word(goals.get("overall_stage")) or None,
        theme=word(focus.get("stage_title")) or None,
        objective=texts(focus.get("objective")),
        **planned(row, number),
        skills=tuple(dict.fromkeys(filter(None, _skills(session).values()))),
        summary=word(after.get("session_summary_abstract")) or None,
        client_state="\n".join(
            text
            for key, value in state.items()
            if key != "unresolved_points_or_tensions" and (text := joined(value))
        )
        or None,
        goals_met=tuple(_met(joined(assessed.get("completion_status")))),
        goal_assessment="\n".join(filter(None, map(joined, assessed.values()))) or None,
        unresolved=(unresolved,) if unresolved else (),
        homework=texts(homework if isinstance(homework, list) else [homework]),
    )


def _met(status: str) -> Iterator[str]:
    """The goals of a numbered list that were reached in full."""
    for part in re.split(r"[;；\n]", status):
        goal, _, verdict = part.replace("：", ":").rpartition(":")
        if goal and _MET.search(verdict):
            yield re.sub(r"^\s*\(?\d+[).、]\s*", "", goal).strip()
