"""Who comes and who goes at the beginning of a tick, as the condition says (a fork may change it),
and whose plans that changes.
"""

from typing import NamedTuple

from simcounsel.clock import day_of
from simcounsel.engine.journal import Journal
from simcounsel.engine.population import Population
from simcounsel.events import Joined, Left, RelationChanged
from simcounsel.specs.world import World


class Arrived(NamedTuple):
    """What came of it, by name."""

    new: tuple[str, ...]
    """Who is here for the first time."""
    agree_anew: tuple[str, ...]
    """Who was here already, has planned the day, and had or has an appointment today with one of
    those who came or went.
    """


def arrive(world: World, population: Population, journal: Journal, minute: int) -> Arrived:
    """Those whom the condition brings come, those whom it does not go."""
    here = {spec.name: spec for spec in world.present()}
    before = set(population.bodies)
    for name in sorted(before - set(here)):
        journal.write(Left(who=name))
    coming = [spec for name, spec in here.items() if name not in before]
    new = tuple(spec.name for spec in coming if spec.name not in population.gone)
    for spec in coming:
        journal.write(Joined(who=spec.name, role=spec.role, home=spec.home, place=spec.starts_in))
    _relate(world, population, journal, set(here), set(new))
    others = before ^ set(here)
    affected = (name for name in sorted(before & set(here)) if others)
    return Arrived(
        new, tuple(name for name in affected if _agreed(name, others, population, minute))
    )


def _relate(
    world: World, population: Population, journal: Journal, here: set[str], new: set[str]
) -> None:
    """How close those who are new and the others are as the world begins."""
    for relationship in world.relationships:
        for who, other in (relationship.between, relationship.between[::-1]):
            if who in here and new.intersection(relationship.between):
                journal.write(
                    RelationChanged(
                        who=who,
                        other=other,
                        before=population.resident(who).close_to(other),
                        after=relationship.score,
                        why="as the world begins",
                    )
                )


def _agreed(name: str, others: set[str], population: Population, minute: int) -> bool:
    today = day_of(minute)
    return population.resident(name).planned_day == today and any(
        at >= minute and day_of(at) == today and other in others
        for at, _, other in population.appointments.get(name, ())
    )
