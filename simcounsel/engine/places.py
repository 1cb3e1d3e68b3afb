"""Places: a tree as a networkx graph under Mesa's Network; who may go where."""

import random

import mesa
import networkx as nx
from mesa.discrete_space import Cell, CellAgent, Network

from simcounsel.agents.mind import Mind, Reachable
from simcounsel.agents.resident import Resident
from simcounsel.policies.policy import Policy
from simcounsel.specs.residents import Place
from simcounsel.specs.world import World

WORLD = "\x00world"
GUEST_CLOSENESS = 6.0
"""From this relationship score (0 to 10) on somebody may visit the other at home."""
PRIVATE_ROOMS = frozenset({"bedroom", "bathroom"})


class Places:
    """The tree of a world's places. Each is a cell of a Mesa Network; people are in the
    leaves.
    """

    def __init__(self, world: World, rng: random.Random) -> None:
        self.spec: dict[str, Place] = {place.name: place for _, place in world.every_place()}
        self.tree: nx.Graph[str] = nx.Graph()
        self.tree.add_node(WORLD)
        self._within: dict[str, tuple[str, ...]] = {}
        for place in world.places:
            self._add(place, WORLD, ())
        self.homes = {resident.name: resident.home for resident in world.residents}
        houses = frozenset(self.homes.values())
        self._house = {
            name: next((above for above in reversed(within) if above in houses), None)
            for name, within in self._within.items()
        }
        self._rooms: dict[str | None, tuple[str, ...]] = {}
        for name in self.leaves():
            self._rooms[self._house[name]] = (*self._rooms.get(self._house[name], ()), name)
        self._order = {name: index for index, name in enumerate(self.leaves())}
        self.network = Network(self.tree, random=rng)
        self._cells: dict[str, Cell] = {
            str(cell.coordinate): cell for cell in self.network.all_cells
        }

    def _add(self, place: Place, parent: str, above: tuple[str, ...]) -> None:
        self.tree.add_edge(parent, place.name)
        self._within[place.name] = (*above, place.name)
        for inner in place.places:
            self._add(inner, place.name, self._within[place.name])

    def cell(self, name: str) -> Cell:
        """The cell of a place."""
        return self._cells[name]

    def leaves(self) -> tuple[str, ...]:
        """Where one can stand, in the order of the file."""
        return tuple(name for name, place in self.spec.items() if not place.places)

    def house_of(self, place: str) -> str | None:
        """The home in which a place lies; None in public."""
        return self._house[place]

    def reachable(self, who: str, at: str, hosts: frozenset[str]) -> tuple[Reachable, ...]:
        """Where `who` may go from `at`: every room at home, all public places, the rooms of the
        house one is in, and the shared rooms at a host's. Another's bedroom is for those who
        live there.

        hosts: people who are at home and close enough to be visited.
        """
        own = self.homes[who]
        open_houses = {self.homes[host] for host in hosts} | {self.house_of(at)}
        shared = (
            name
            for house in open_houses
            for name in self._rooms.get(house, ())
            if self.spec[name].kind not in PRIVATE_ROOMS
        )
        names = {
            *self._rooms.get(None, ()),
            *self._rooms.get(own, ()),
            *shared,
            at,
        } & self._order.keys()
        return tuple(
            Reachable(name=name, kind=self.spec[name].kind, own_home=self._house[name] == own)
            for name in sorted(names, key=self._order.__getitem__)
        )


class Body(CellAgent):
    """The body of a resident; its mind and policy go with it."""

    def __init__(self, model: mesa.Model, cell: Cell, mind: Mind, policy: Policy) -> None:
        super().__init__(model)
        self.mind = mind
        self.policy = policy
        self.cell = cell

    @property
    def resident(self) -> Resident:
        """The state of the person."""
        return self.mind.resident

    @property
    def name(self) -> str:
        """The person's name."""
        return self.resident.name
