"""A resident's body: a Mesa CellAgent that is in one place at a time."""

import mesa
from mesa.discrete_space import Cell, CellAgent

from simcounsel.agents.mind import Mind
from simcounsel.agents.resident import Resident
from simcounsel.policies.policy import Policy


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
