"""A resident's body: a Mesa CellAgent that stands in one place at a time."""

from typing import TYPE_CHECKING

from mesa.discrete_space import CellAgent

from simcounsel.agents.mind import Mind
from simcounsel.agents.resident import Resident
from simcounsel.policies.policy import Policy

if TYPE_CHECKING:
    from simcounsel.engine.simulation import Simulation


class Body(CellAgent):
    """The body of a resident; its mind and policy go with it."""

    def __init__(self, model: "Simulation", mind: Mind, policy: Policy) -> None:
        super().__init__(model)
        self.mind = mind
        self.policy = policy
        self.cell = model.places.cell(mind.resident.place)

    @property
    def resident(self) -> Resident:
        """The state of the person."""
        return self.mind.resident

    @property
    def name(self) -> str:
        """The person's name."""
        return self.resident.name
