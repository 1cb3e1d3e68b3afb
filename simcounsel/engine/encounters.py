"""Who meets whom in a tick: appointments, and draws on how close people are."""

from collections.abc import Iterator, Sequence
from typing import Any

from simcounsel.agents.resident import Resident
from simcounsel.chance import chance
from simcounsel.events import ConversationStarted
from simcounsel.specs.world import World

ASLEEP = frozenset({"sleep"})


def together(residents: Sequence[Resident]) -> dict[str, list[str]]:
    """Who is at each place, by name, in the order of `residents`."""
    found: dict[str, list[str]] = {}
    for resident in residents:
        found.setdefault(resident.place, []).append(resident.name)
    return found


def encounters(
    world: World, tick: int, minute: int, residents: Sequence[Resident]
) -> Iterator[tuple[ConversationStarted, int]]:
    """The conversations of this tick and how many lines each may have: appointments first, then
    draws; nobody in two at once. residents: everybody, in name order."""
    here = {resident.name: resident for resident in residents}
    busy: set[str] = set()
    for appointment in world.appointments:
        if minute in appointment.minutes() and all(who in here for who in appointment.who):
            a, b = (here[name] for name in sorted(appointment.who))
            if not busy & {a.name, b.name} and a.place == b.place == appointment.place:
                busy |= {a.name, b.name}
                yield (
                    _started(world, tick, a, b, "appointment", 1.0),
                    appointment.max_turns or world.conversation.max_turns,
                )
    at = together(residents)
    for a, b in ((one, here[two]) for one in residents for two in at[one.place] if two > one.name):
        if a.name in busy or b.name in busy or not _may_talk(world, tick, a, b):
            continue
        probability = round(world.conversation.chance * _closeness(a, b) / 10, 4)
        if chance(world.seed, tick, a.name, b.name, "talk").random() < probability:
            busy |= {a.name, b.name}
            yield _started(world, tick, a, b, "draw", probability), world.conversation.max_turns


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
