"""What a resident has agreed to: in words for a prompt, and as slots that no plan moves; and the
clock of a conversation.
"""

from collections.abc import Callable

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import TalkView
from simcounsel.agents.ties import relation_of
from simcounsel.clock import date_text, day_of, time_text
from simcounsel.events import Slot
from simcounsel.prompts import phrase
from simcounsel.specs.vocabulary import ActivityKind


def todays_appointments(scene: Scene) -> tuple[tuple[str, str], ...]:
    """What is still to come today: (time, 'meets NAME at PLACE')."""
    return tuple(
        (time_text(at), phrase("lived", "meets_at", scene.language, other=other, place=place))
        for at, place, other in scene.appointments
        if _still_today(at, scene)
    )


def appointments_text(resident: Resident, scene: Scene) -> str:
    """Today's appointments in a sentence, for a prompt."""

    def worded(key: str, **slots: object) -> str:
        return phrase("moment", key, scene.language, name=resident.name, **slots)

    ahead = [one for one in scene.appointments if _still_today(one[0], scene)]
    if not ahead:
        return worded("no_appointment")
    each = (
        worded(
            "appointment", at=time_text(at), other=_told(resident, scene, at, other), place=place
        )
        + _lasting(scene, at, other)
        for at, place, other in ahead
    )
    return worded("appointments", what=("；" if scene.language == "zh" else "; ").join(each))


def _told(resident: Resident, scene: Scene, at: int, other: str) -> str:
    """The other with what they are to the resident, by the file or by their role: 'Miriam
    (counselor)'; the name alone where there is nothing to say.
    """
    agreed = scene.agreed.get((at, other))
    who = relation_of(resident, other)
    if not who and agreed is not None and agreed.role != "layperson":
        who = phrase("lived", agreed.role, scene.language)
    return phrase("person", "person", scene.language, name=other, relation=who) if who else other


def _lasting(scene: Scene, at: int, other: str) -> str:
    agreed = scene.agreed.get((at, other))
    if agreed is None:
        return ""
    return phrase("moment", "lasting", scene.language, minutes=agreed.minutes)


def _still_today(minute: int, scene: Scene) -> bool:
    return day_of(minute) == day_of(scene.minute) and minute >= scene.minute


def kind_of(session: bool) -> ActivityKind:
    """What kind of activity an appointment is: counseling in a session, company otherwise."""
    return "counseling" if session else "social"


def next_with(scene: Scene, other: str) -> int | None:
    """When one meets somebody next, in minutes since day 0; None when nothing is agreed."""
    ahead = (at for at, _, who in scene.appointments if who == other and at > scene.minute)
    return min(ahead, default=None)


def clock_text(view: TalkView, *, on_a_plan: bool = True, closes: bool = False) -> str:
    """The time that is left, in own lines and minutes, what that means for a strong feeling that is
    open, and when the two meet next: what the one who keeps the time knows. on_a_plan: a session,
    which winds down and ends with a date or without, and that is said, too; friends meet as it
    comes. closes: whether the next line takes leave though there are lines left.
    """

    def worded(key: str, **slots: object) -> str:
        return phrase("moment", key, view.language, name=view.me, other=view.other, **slots)

    lines = view.own_lines_left
    key = "leaving" if view.parting else "last_line" if lines == 1 else "left"
    left = worded(key, lines=lines, minutes=view.clock.minutes_left)
    told = [left]
    if view.near_the_end or closes:
        told += [worded("winding")] if on_a_plan and lines > 1 and not closes else []
        told += [worded("stay_first")] if view.opened else []
    if on_a_plan or view.clock.next_meeting is not None:
        told.append(_next(view, worded, closes or lines == 1))
    return ("" if view.language == "zh" else " ").join(told)


def nearly_up(view: TalkView) -> str:
    """What the other one hears of the clock: nothing before the end is near, then that it is; but
    never with the first line.
    """
    if not view.near_the_end:
        return ""
    return phrase("moment", "nearly_up", view.language, name=view.me, other=view.other)


def at_the_end(view: TalkView, aim: str) -> tuple[str, ...]:
    """What a client is told of the end of a talk: that it is near, or, where its policy wants it to
    take leave (aim), when the two meet next, if it was a session.
    """
    return (aim, _next_date(view)) if aim else (nearly_up(view),)


def _next_date(view: TalkView) -> str:
    if not view.meeting.appointment or view.meeting.role != "counselor":
        return ""
    names = {"name": view.me, "other": view.other}
    if view.clock.next_meeting is None:
        return phrase("moment", "no_next", view.language, **names)
    date = date_text(view.clock.next_meeting, view.clock.start, view.language)
    return phrase("moment", "next", view.language, date=date, **names)


def _next(view: TalkView, worded: Callable[..., str], closes: bool) -> str:
    if view.clock.next_meeting is None:
        return worded("no_next_end" if closes else "no_next")
    return worded("next", date=date_text(view.clock.next_meeting, view.clock.start, view.language))


def appointed_slot(scene: Scene, minute: int) -> Slot | None:
    """The slot of the appointment that begins or goes on at that minute, which no plan moves; None
    if there is none. One that begins goes before one that goes on.
    """
    for at, place, other in reversed(scene.appointments):
        agreed = scene.agreed.get((at, other))
        lasts = agreed.minutes if agreed else scene.tick_minutes
        if at <= minute < at + lasts:
            return Slot(
                minute=minute,
                activity=phrase("lived", "meets", scene.language, other=other),
                seen=phrase("lived", "meets_seen", scene.language),
                activity_kind=kind_of(agreed is not None and agreed.session),
                place=place,
            )
    return None
