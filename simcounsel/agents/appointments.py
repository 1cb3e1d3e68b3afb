"""What a resident has agreed to: in words for a prompt, and as slots that no plan moves."""

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.clock import day_of, time_text
from simcounsel.events import Slot


def todays_appointments(scene: Scene) -> tuple[tuple[str, str], ...]:
    """What is still to come today: (time, 'meets NAME at PLACE')."""
    return tuple(
        (time_text(at), f"meets {other} at {place}")
        for at, place, other in scene.appointments
        if day_of(at) == day_of(scene.minute) and at >= scene.minute
    )


def appointments_text(resident: Resident, scene: Scene) -> str:
    """Today's appointments in a sentence, for a prompt."""
    pairs = todays_appointments(scene)
    if not pairs:
        return f"{resident.name} has no appointment today."
    return (
        f"{resident.name}'s appointments today: "
        + "; ".join(f"{at} {what}" for at, what in pairs)
        + "."
    )


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
