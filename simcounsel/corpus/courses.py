"""Courses of therapy in a corpus: what was planned and kept of each session, sessions with what
came before them, and all sessions as one long conversation.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

from simcounsel.corpus.dialogues import CourseSession, Dialogue
from simcounsel.events import SessionPlanned, SessionReviewed
from simcounsel.runs.conversation import CourseEvent

By = Literal["session", "whole"]
"""An example for each session, or one for all sessions of a course."""


def session_of(
    course: str, events: Iterable[CourseEvent], therapy: str | None
) -> CourseSession | None:
    """What a counselor planned and kept of one conversation; None where it is no session of a
    course.
    """
    kept = list(events)
    planned = next((one for one in kept if isinstance(one, SessionPlanned)), None)
    if planned is None:
        return None
    reviewed = next((one for one in reversed(kept) if isinstance(one, SessionReviewed)), None)
    found = CourseSession(
        course=course,
        number=planned.session,
        first=1,
        therapy=therapy,
        stage=planned.stage,
        theme=planned.theme,
        objective=planned.objective,
        reason=planned.reason or None,
    )
    if reviewed is None:
        return found
    return found.model_copy(
        update={
            "summary": reviewed.summary or None,
            "client_state": reviewed.client_state or None,
            "goals_met": tuple(one.goal for one in reviewed.goals if one.met),
            "unresolved": reviewed.unresolved,
            "homework": (reviewed.homework,) if reviewed.homework else (),
        }
    )


def with_earlier(dialogues: Iterable[Dialogue]) -> tuple[Dialogue, ...]:
    """Each session of a course with what was kept of those before it; other dialogues as they
    are.
    """
    held: dict[str, list[CourseSession]] = {}
    made = []
    for dialogue in dialogues:
        for own in dialogue.sessions:
            before = held.setdefault(own.course, [])
            earlier = tuple(one.model_copy(update={"first": None}) for one in before)
            dialogue = dialogue.model_copy(update={"sessions": (*earlier, own)})
            before.append(own)
        made.append(dialogue)
    return tuple(made)


def whole(dialogues: Sequence[Dialogue]) -> tuple[Dialogue, ...]:
    """The sessions of each course as one dialogue, in order, where its first one stood; others as
    they are. A session that is not among them stays as what was kept of it.
    """
    listed = sorted(enumerate(dialogues), key=lambda one: _course(one[1]) or f"\0{one[0]}")
    made = []
    for course, group in groupby(listed, key=lambda one: _course(one[1]) or f"\0{one[0]}"):
        members = list(group)
        first = min(number for number, _ in members)
        several = sorted((one for _, one in members), key=_number)
        made.append((first, _joined(course, several) if len(several) > 1 else several[0]))
    return tuple(dialogue for _, dialogue in sorted(made, key=lambda one: one[0]))


def _course(dialogue: Dialogue) -> str | None:
    return dialogue.sessions[-1].course if dialogue.sessions else None


def _number(dialogue: Dialogue) -> int:
    return dialogue.sessions[-1].number


def _joined(course: str, sessions: Sequence[Dialogue]) -> Dialogue:
    """One dialogue; what is known of the whole is the first one's, ratings are of none."""
    at, begins = 1, {}
    for one in sessions:
        begins[_number(one)] = at
        at += len(one.turns)
    kept = {known.number: known for one in sessions for known in one.sessions}
    return sessions[0].model_copy(
        update={
            "id": course,
            "turns": tuple(turn for one in sessions for turn in one.turns),
            "objectives": tuple(point for one in sessions for point in one.objectives),
            "undisclosed": sessions[-1].undisclosed,
            "ratings": {},
            "sessions": tuple(
                kept[number].model_copy(update={"first": begins.get(number)})
                for number in sorted(kept)
            ),
        }
    )
