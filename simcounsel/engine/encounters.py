"""Who meets whom in a tick: appointments, and draws on how close people are."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from simcounsel.agents.resident import Resident
from simcounsel.chance import chance
from simcounsel.events import ConversationStarted
from simcounsel.specs.residents import Appointment
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World

ASLEEP = frozenset({"sleep"})
SESSION_MINUTES = 50
"""How long an appointment with a counselor lasts where it does not say: the therapeutic hour."""


class Encounter(NamedTuple):
    """A conversation that takes place."""

    started: ConversationStarted
    most: int
    """Lines that it may have."""
    minutes: int
    """How long it lasts for the two, if all its lines are said."""


def together(residents: Sequence[Resident]) -> dict[str, list[str]]:
    """Who is at each place, by name, in the order of `residents`."""
    found: dict[str, list[str]] = {}
    for resident in residents:
        found.setdefault(resident.place, []).append(resident.name)
    return found


def encounters(
    world: World, tick: int, minute: int, residents: Sequence[Resident]
) -> Iterator[Encounter]:
    """The conversations of this tick: appointments first, then draws; nobody in two at once.
    residents: everybody, in name order.
    """
    here = {resident.name: resident for resident in residents}
    busy: set[str] = set()
    for appointment in world.appointments:
        if minute in appointment.begins() and all(who in here for who in appointment.who):
            a, b = (here[name] for name in sorted(appointment.who))
            if not busy & {a.name, b.name} and a.place == b.place == appointment.place:
                busy |= {a.name, b.name}
                yield Encounter(
                    _started(world, tick, a, b, "appointment", 1.0),
                    appointment.max_turns or world.conversation.max_turns,
                    minutes_of(appointment, world, a.spec.role, b.spec.role),
                )
    at = together(residents)
    for a, b in ((one, here[two]) for one in residents for two in at[one.place] if two > one.name):
        if a.name in busy or b.name in busy or not _may_talk(world, tick, a, b):
            continue
        probability = round(world.conversation.chance * _closeness(a, b) / 10, 4)
        if chance(world.seed, tick, a.name, b.name, "talk").random() < probability:
            busy |= {a.name, b.name}
            yield Encounter(
                _started(world, tick, a, b, "draw", probability),
                world.conversation.max_turns,
                world.tick_minutes,
            )


def minutes_of(appointment: Appointment | None, world: World, *roles: Role) -> int:
    """How long an appointment of two with these roles lasts; None: a talk without one."""
    if appointment is not None and appointment.minutes is not None:
        return appointment.minutes
    session = appointment is not None and "counselor" in roles
    return SESSION_MINUTES if session else world.tick_minutes


def _may_talk(world: World, tick: int, a: Resident, b: Resident) -> bool:
    if any(r.activity_kind in ASLEEP or not r.activity for r in (a, b)):
        return False
    last = a.last_talk.get(b.name)
    return last is None or tick - last > world.conversation.cool_down_ticks


def _started(
    world: World, tick: int, a: Resident, b: Resident, cause: Any, probability: float
) -> ConversationStarted:
    """The counselor opens an appointment; otherwise chance says who speaks first."""
    counselor = next((r for r in (a, b) if r.spec.role == "counselor"), None)
    first = (
        counselor
        if cause == "appointment" and counselor
        else (a, b)[chance(world.seed, tick, a.name, b.name, "opens").randrange(2)]
    )
    return ConversationStarted(
        chat=f"{tick}:{a.name}+{b.name}",
        who=(first.name, b.name if first is a else a.name),
        place=a.place,
        cause=cause,
        closeness=_closeness(a, b),
        probability=probability,
    )


def _closeness(a: Resident, b: Resident) -> float:
    return round((a.close_to(b.name) + b.close_to(a.name)) / 2, 4)
