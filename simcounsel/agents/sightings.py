"""Whom somebody comes upon unexpectedly: what asks to be appraised, and what does not."""

from collections.abc import Iterable
from functools import cached_property

from simcounsel.events import Sight
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.world import World

SAME_SIGHT_MINUTES = 60
"""Who was seen within so many minutes is not come upon anew."""


class Sightings:
    """Whom one resident has seen of late, and whose presence is nothing new to it."""

    def __init__(self, spec: ResidentSpec, world: World) -> None:
        self._spec = spec
        self._world = world
        self._last: dict[str, int] = {}
        """When each was seen last, in minutes since day 0."""

    def observe(
        self, before: Iterable[Sight], now: Iterable[Sight], minute: int, place: str
    ) -> tuple[Sight, ...]:
        """Take in who shares the place, until now and from now on: those who are come upon
        unexpectedly. Expected is who was seen within the hour, who lives here too, and who comes as
        agreed.
        """
        self._last |= {one.name: minute for one in before}
        found = tuple(one for one in now if not self._expected(one.name, minute, place))
        self._last |= {one.name: minute for one in now}
        return found

    def _expected(self, other: str, minute: int, place: str) -> bool:
        last = self._last.get(other)
        if last is not None and minute - last <= SAME_SIGHT_MINUTES:
            return True
        if other in self._household and place in self._rooms:
            return True
        return (other, minute) in self._agreed

    @cached_property
    def _household(self) -> frozenset[str]:
        """With whom one lives."""
        own = self._spec
        return frozenset(one.name for one in self._world.residents if one.home == own.home)

    @cached_property
    def _rooms(self) -> frozenset[str]:
        """The places of one's home, itself included."""
        homes = (place for _, place in self._world.every_place() if place.name == self._spec.home)
        return frozenset(place.name for home in homes for _, place in home.walk())

    @cached_property
    def _agreed(self) -> frozenset[tuple[str, int]]:
        """Whom one meets as agreed, and when, in minutes since day 0."""
        return frozenset(
            (other, minute)
            for one in self._world.appointments
            if self._spec.name in one.who
            for other in one.who
            for minute in one.begins()
        )
