"""What two people are to each other, in words for a prompt: by the world, by a persona's file, and
by what they have talked in this run.
"""

from collections.abc import Callable

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.sightings import STRANGERS
from simcounsel.agents.talk import TalkView
from simcounsel.clock import date_text, minute_of_tick
from simcounsel.prompts import phrase

Worded = Callable[..., str]
TENSED = frozenset({"strangers", "nameless", "first_session", "session", "again", "close"})
"""What is told otherwise once the talk has ended."""


def together(resident: Resident, scene: Scene, view: TalkView, *, remembers: bool = True) -> str:
    """What the two are to each other, since when, and, where the speaker remembers, when they last
    talked before this talk; after it, told as what was.
    """
    over = view.clock.ended is not None

    def worded(key: str, **slots: object) -> str:
        key = f"{key}_then" if over and key in TENSED else key
        return phrase("moment", key, scene.language, me=view.me, other=view.other, **slots)

    talked = _talked(resident, scene, view, worded) if remembers else ()
    parts = [_tie(resident, view, worded), *talked]
    if resident.spec.role != "counselor":
        parts.append(worded("close", score=f"{view.meeting.closeness:g}"))
    return ("" if scene.language == "zh" else " ").join(part for part in parts if part)


def _talked(resident: Resident, scene: Scene, view: TalkView, worded: Worded) -> tuple[str, ...]:
    """Which session it is, where it is one, and when the last one was; when they last talked, where
    that was no session.
    """
    last = resident.last_talk.get(view.other)
    again = () if last is None else (worded("again", last=_date(last, scene)),)
    if not view.meeting.appointment or "counselor" not in (resident.spec.role, view.meeting.role):
        return again
    sessions = resident.sessions.get(view.other, [])
    if not sessions:
        tie = resident.ties.get(view.other)
        long = tie is not None and bool(tie.how and tie.since)
        return again if long else (worded("first_session"), *again)
    at = _date(sessions[-1], scene)
    number = worded("session", number=len(sessions) + 1, last=at)
    return (number,) if last == sessions[-1] else (number, *again)


def _tie(resident: Resident, view: TalkView, worded: Worded) -> str:
    """What one is to the other, as the world says or the persona's file; of two who meet only in
    this run, whether they talk for the first time and know each other's names.
    """
    said = _said_of(resident, view.other, worded)
    if said:
        return said
    tie = resident.ties.get(view.other)
    counselor = worded("counselor") if view.meeting.role == "counselor" else ""
    if tie is not None and tie.score > STRANGERS:
        return counselor or worded("know")
    gap = "" if view.language == "zh" else " "
    strangers = worded("strangers") if view.other not in resident.meetings else ""
    nameless = "" if resident.knows(view.other) else worded("nameless")
    return gap.join(part for part in (strangers, nameless, counselor) if part)


def acquaintance(resident: Resident, other: str) -> str:
    """What somebody whom a resident knows is to it, and how close it feels to them."""

    def worded(key: str, **slots: object) -> str:
        slots = {"me": resident.name, "other": other} | slots
        return phrase("moment", key, resident.language, **slots)

    close = worded("close", score=f"{resident.close_to(other):g}")
    gap = "" if resident.language == "zh" else " "
    return gap.join(part for part in (_said_of(resident, other, worded), close) if part)


def _said_of(resident: Resident, other: str, worded: Worded) -> str:
    """What the world or the persona's file says of the two; '' where it says nothing."""
    tie = resident.ties.get(other)
    if tie is not None and tie.how:
        return worded("are_since" if tie.since else "are", how=tie.how, since=tie.since)
    relation = relation_of(resident, other)
    return worded("relation", relation=relation) if relation else ""


def relation_of(resident: Resident, other: str) -> str:
    """What somebody is to a resident by the resident's file: 'neighbour and friend'; '' when it
    does not say.
    """
    people = resident.persona.people
    names = ((one, (one.name, one.name.split(maxsplit=1)[0])) for one in people)
    return next((one.relation for one, known_as in names if other in known_as), "")


def _date(tick: int, scene: Scene) -> str:
    minute = minute_of_tick(tick, scene.start, scene.tick_minutes)
    return date_text(minute, scene.start, scene.language)
