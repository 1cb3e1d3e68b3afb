"""Who meets whom in a tick: appointments, and draws on how close people are."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

from simcounsel.agents.resident import Resident
from simcounsel.agents.sightings import EARLY_MINUTES
from simcounsel.chance import chance
from simcounsel.clock import MINUTES_PER_DAY
from simcounsel.events import ConversationStarted
from simcounsel.specs.residents import Appointment
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World

ASLEEP = frozenset({"sleep"})
SESSION_MINUTES = 50
"""How long an appointment with a counselor lasts where it does not say: the therapeutic hour."""


LINES_A_TICK = 12
"""Lines of any other talk that fill a tick of the world."""


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


def occupied(residents: Sequence[Resident], minute: int) -> frozenset[str]:
    """Who is still in a conversation that began in an earlier tick, by name; the other has to be
    here, too.
    """
    here = {resident.name for resident in residents}
    return frozenset(
        resident.name
        for resident in residents
        if (doing := resident.talks.engaged_at(minute)) is not None and doing.other in here
    )


def encounters(
    world: World, tick: int, minute: int, residents: Sequence[Resident]
) -> Iterator[Encounter]:
    """The conversations of this tick: appointments first, then draws; nobody in two at once, nor
    drawn while an earlier one goes on. residents: everybody, in name order.
    """
    here = {resident.name: resident for resident in residents}
    busy: set[str] = set()
    for appointment in world.appointments:
        if minute in appointment.begins() and all(who in here for who in appointment.who):
            a, b = (here[name] for name in sorted(appointment.who))
            here_both = a.place == b.place == appointment.place
            if here_both and not busy & {a.name, b.name} and not _silent(tick, a, b):
                busy |= {a.name, b.name}
                yield Encounter(
                    _started(world, tick, a, b, "appointment", 1.0),
                    appointment.max_turns or world.conversation.max_turns,
                    min(
                        minutes_of(appointment, world, a.spec.role, b.spec.role),
                        _free(world, minute, {a.name, b.name}),
                    ),
                )
    busy |= occupied(residents, minute)
    at = together(residents)
    for a, b in ((one, here[two]) for one in residents for two in at[one.place] if two > one.name):
        if a.name in busy or b.name in busy or not _may_talk(world, tick, a, b):
            continue
        if _appointed_soon(world, minute, {a.name, b.name}):
            continue
        probability = round(world.conversation.chance * _closeness(a, b) / 10, 4)
        if chance(world.seed, tick, a.name, b.name, "talk").random() < probability:
            busy |= {a.name, b.name}
            yield Encounter(
                _started(world, tick, a, b, "draw", probability),
                world.conversation.max_turns,
                min(minutes_of(None, world), _free(world, minute, {a.name, b.name})),
            )


def minutes_of(appointment: Appointment | None, world: World, *roles: Role) -> int:
    """How long an appointment of two with these roles lasts, if all its lines are said; None:
    a talk without one.
    """
    if appointment is not None and appointment.minutes is not None:
        return appointment.minutes
    if appointment is not None and "counselor" in roles:
        return SESSION_MINUTES
    own = appointment.max_turns if appointment is not None else None
    return world.tick_minutes * ceil((own or world.conversation.max_turns) / LINES_A_TICK)


def _free(world: World, minute: int, two: set[str]) -> int:
    """Minutes until the next appointment of one of the two, which nothing makes them miss."""
    ahead = (at - minute for one in world.appointments if two & set(one.who) for at in one.begins())
    return min((left for left in ahead if left > 0), default=MINUTES_PER_DAY)


def _may_talk(world: World, tick: int, a: Resident, b: Resident) -> bool:
    if _silent(tick, a, b) or any(r.activity_kind in ASLEEP or not r.activity for r in (a, b)):
        return False
    last = a.last_talk.get(b.name)
    return last is None or tick - last > world.conversation.cool_down_ticks


def _silent(tick: int, *two: Resident) -> bool:
    """Whether one of them talks with nobody any more."""
    return any(one.silent_from is not None and one.silent_from <= tick for one in two)


def _appointed_soon(world: World, minute: int, two: set[str]) -> bool:
    """Whether the two have an appointment with each other within the hour: what they have to say
    waits for it.
    """
    return any(
        0 <= at - minute <= EARLY_MINUTES
        for one in world.appointments
        if set(one.who) == two
        for at in one.begins()
    )


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
