"""What a resident has agreed to: in words for a prompt, and as slots that no plan moves."""

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.clock import day_of, time_text
from simcounsel.events import Slot
from simcounsel.prompts import phrase


def todays_appointments(scene: Scene) -> tuple[tuple[str, str], ...]:
    """What is still to come today: (time, 'meets NAME at PLACE')."""
    return tuple(
        (time_text(at), f"meets {other} at {place}")
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
        worded("appointment", at=time_text(at), other=other, place=place)
        for at, place, other in ahead
    )
    return worded("appointments", what=("；" if scene.language == "zh" else "; ").join(each))


def _still_today(minute: int, scene: Scene) -> bool:
    return day_of(minute) == day_of(scene.minute) and minute >= scene.minute


def appointed_slot(scene: Scene, minute: int) -> Slot | None:
    """The slot of the appointment at that minute, which no plan moves; None if there is none."""
    for at, place, other in scene.appointments:
        if at == minute:
            return Slot(
                minute=minute,
                activity=f"meets {other} as agreed",
                activity_kind="counseling",
                place=place,
            )
    return None
