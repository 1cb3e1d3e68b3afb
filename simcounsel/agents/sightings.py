"""Whom somebody comes upon unexpectedly: what asks to be appraised, and what does not; and whom
somebody knows.
"""

from collections.abc import Iterable
from functools import cached_property

from simcounsel.events import Sight
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.world import World

SAME_SIGHT_MINUTES = 60
"""Who was seen within so many minutes is not come upon again."""
EARLY_MINUTES = 60
"""Who has an appointment with one within so many minutes may be there already; nor do the two begin
to talk by chance before it.
"""


STRANGERS = 2.0
"""The relationship score, 0 to 10, of two of whom nothing is said."""
SEEN_AS = {"she/her": "stranger_woman", "he/him": "stranger_man"}
"""What is seen of a stranger, by their pronouns."""


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
        unexpectedly. Expected is who was seen within the hour, who lives or works here, who lives
        with one, and who comes as agreed, early too.
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
        if place in self._own_places.get(other, ()):
            return True
        ahead = (at - minute for at in self._agreed.get(other, ()))
        return any(0 <= left <= EARLY_MINUTES for left in ahead)

    def knows(self, other: str) -> bool:
        """Whether one knew somebody before the first talk in this run: by the world's
        relationships, the persona's people, a home that is shared, or an appointment.
        """
        return other in self._acquainted

    def stranger(self, other: str) -> str:
        """What one sees of somebody whom one does not know: the key of its words."""
        spec = next((one for one in self._world.residents if one.name == other), None)
        return SEEN_AS.get(spec.persona.pronouns, "stranger") if spec else "stranger"

    @cached_property
    def _acquainted(self) -> frozenset[str]:
        own = self._spec.name
        tied = (
            name
            for one in self._world.relationships
            if own in one.between and (one.how or one.score > STRANGERS)
            for name in one.between
        )
        people = {one.name for one in self._spec.persona.people}
        people |= {name.split(maxsplit=1)[0] for name in people}
        return frozenset((*tied, *people, *self._agreed, *self._household))

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
    def _own_places(self) -> dict[str, frozenset[str]]:
        """By name, the rooms of each other one's home and the public places of the kinds where they
        work by their habits.
        """
        houses = {one.home for one in self._world.residents}
        places = tuple(place for _, place in self._world.every_place())
        rooms = {
            place.name: {inner.name for _, inner in place.walk()}
            for place in places
            if place.name in houses
        }
        private = set().union(*rooms.values())
        found: dict[str, frozenset[str]] = {}
        for one in self._world.residents:
            kinds = {r.place for r in one.persona.routines if r.kind == "work"}
            work = {p.name for p in places if p.kind in kinds and p.name not in private}
            found[one.name] = frozenset(work | rooms.get(one.home, set()))
        return found

    @cached_property
    def _agreed(self) -> dict[str, tuple[int, ...]]:
        """Whom one meets as agreed, and when, in minutes since day 0."""
        found: dict[str, tuple[int, ...]] = {}
        for one in self._world.appointments:
            if self._spec.name in one.who:
                other = next(name for name in one.who if name != self._spec.name)
                found[other] = (*found.get(other, ()), *one.begins())
        return found
