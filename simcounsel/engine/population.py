"""Who lives in a world, where, and what each can tell of it: a fold over the world's events."""

from collections.abc import Callable, Iterator, Mapping

import mesa
import numpy as np

from simcounsel.agents.mind import Agreed, Mind, Reachable, Scene
from simcounsel.agents.resident import Resident
from simcounsel.engine.encounters import ASLEEP, minutes_of
from simcounsel.engine.observers import Observers
from simcounsel.engine.places import GUEST_CLOSENESS, Body, Places
from simcounsel.engine.talk import Side
from simcounsel.events import Acted, Entry, Joined, Left, Moved, RelationChanged
from simcounsel.policies import policy_for
from simcounsel.policies.listening import Hearing, guarded, listeners_for
from simcounsel.specs.world import World

Appointment = tuple[int, str, str]
"""When (minutes since day 0), at which place, with whom."""


class Population:
    """The bodies, minds and policies of those who live in the world now."""

    def __init__(
        self, world: World, model: mesa.Model, places: Places, minds: Callable[[Resident], Mind]
    ) -> None:
        self.bodies: dict[str, Body] = {}
        """By name, in the order in which they came."""
        self.gone: dict[str, Resident] = {}
        """Who lived here and left; they remember, should they come back."""
        self.vectors: dict[str, np.ndarray] = {}
        """Unit vectors of texts that are about to be remembered."""
        self.appointments = _appointments(world)
        self.agreed = _agreed(world)
        self._world = world
        self._model = model
        self._places = places
        self._minds = minds
        self._observers = Observers(world)
        self._welcome: dict[str, set[str]] = {}
        """By name, those who would let them in."""

    def __iter__(self) -> Iterator[tuple[str, Body]]:
        """Names and bodies in name order."""
        return iter(sorted(self.bodies.items()))

    def residents(self) -> tuple[Resident, ...]:
        """Everybody who lives here now, in name order."""
        return tuple(body.resident for _, body in self)

    def resident(self, name: str) -> Resident:
        """The resident of that name."""
        return self.bodies[name].resident

    def roles(self) -> dict[str, str]:
        """Role by name, in name order."""
        return {name: body.resident.spec.role for name, body in self}

    # what one of them can tell of the world

    def side(self, name: str, tick: int, minute: int, *, hears: str, embed: str) -> Side:
        """That resident as one who talks. hears: the name of the other. embed: of the model for
        vectors.
        """
        body, other = self.bodies[name], self.resident(hears)
        roles = body.resident.spec.role, other.spec.role
        hearing = Hearing(world=self._world, me=roles[0], other=roles[1], embed=embed)
        return Side(
            mind=body.mind,
            scene=self.scene(name, tick, minute),
            policy=body.policy,
            listeners=listeners_for(hearing),
        )

    def scene(self, name: str, tick: int, minute: int) -> Scene:
        """The world as far as that resident can tell."""
        world = self._world
        return Scene(
            seed=world.seed,
            tick=tick,
            minute=minute,
            start=world.start,
            tick_minutes=world.tick_minutes,
            plan_slots=world.plan_slots,
            places=self.reachable(name),
            appointments=tuple(
                one
                for one in self.appointments.get(name, ())
                if one[0] >= minute and one[2] in self.bodies
            ),
            agreed=self.agreed.get(name, {}),
            language=world.language,
            locale=world.safety.locale,
        )

    def reachable(self, name: str) -> tuple[Reachable, ...]:
        """Where that resident could go: public places, the own home, and homes of those who are
        there, awake, and would let them in.
        """
        hosts = frozenset(
            other
            for other in self._welcome.get(name, ())
            if other in self.bodies and self._at_home(self.resident(other))
        )
        return self._places.reachable(name, self.resident(name).place, hosts)

    def _at_home(self, host: Resident) -> bool:
        at_home = self._places.house_of(host.place) == host.spec.home
        return at_home and host.activity_kind not in ASLEEP

    # the fold

    def observe(self, entry: Entry) -> None:
        """Take in an event: residents come and go, and whoever it concerns observes it."""
        event = entry.event
        observers = self._observers.of(event)
        match event:
            case Joined():
                self._join(event.who)
            case Left():
                body = self.bodies.pop(event.who)
                self.gone[event.who] = body.resident
                body.remove()
        for name in observers:
            self.bodies[name].resident.observe(entry)
        match event:
            case RelationChanged():
                welcome = self._welcome.setdefault(event.other, set())
                (welcome.add if event.after >= GUEST_CLOSENESS else welcome.discard)(event.who)
            case Joined() | Moved() | Acted():
                body = self.bodies[event.who]
                cell = self._places.cell(body.resident.place)
                if body.cell is not cell:  # Mesa would take it out and put it in again
                    body.cell = cell

    def _join(self, name: str) -> None:
        for welcome in self._welcome.values():
            welcome.discard(name)
        world = self._world
        spec = next(spec for spec in world.residents if spec.name == name)
        resident = self.gone.pop(name, None) or Resident(spec, world, self.vectors)
        policy = policy_for(spec.role, spec.policy, world.language)
        cell = self._places.cell(resident.place)
        policy = guarded(policy, spec.role, world)
        self.bodies[name] = Body(self._model, cell, self._minds(resident), policy)


def _appointments(world: World) -> Mapping[str, list[Appointment]]:
    """Each one's appointments, in order."""
    found: dict[str, list[Appointment]] = {}
    for one in world.appointments:
        for who, other in (one.who, one.who[::-1]):
            found.setdefault(who, []).extend((at, one.place, other) for at in one.begins())
    return {name: sorted(own) for name, own in found.items()}


def _agreed(world: World) -> Mapping[str, dict[tuple[int, str], Agreed]]:
    """How long each one's appointments last and what the other's role is, by when and with whom."""
    roles = {one.name: one.role for one in world.residents}
    found: dict[str, dict[tuple[int, str], Agreed]] = {}
    for one in world.appointments:
        both = tuple(roles[who] for who in one.who)
        minutes = minutes_of(one, world, *both)
        for who, other in (one.who, one.who[::-1]):
            known = Agreed(minutes=minutes, role=roles[other], session="counselor" in both)
            found.setdefault(who, {}).update({(at, other): known for at in one.begins()})
    return found
