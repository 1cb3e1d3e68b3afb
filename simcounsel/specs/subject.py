"""What a run is about: a world, or a synthesis."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, TypeVar

from simcounsel.specs.kinds import Kind
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.timeouts import Timeouts
from simcounsel.specs.world import World

T = TypeVar("T")


class Subject(Protocol):
    """What both have. Where they differ, `either` takes what is done with each; nobody asks which
    one it is.
    """

    kind: ClassVar[Kind]

    @property
    def name(self) -> str:
        """As its file calls it."""

    @property
    def seed(self) -> int:
        """Of all draws; 0 and more."""

    @property
    def condition(self) -> str:
        """Who takes part in it, or what is left out, in a word."""

    @property
    def unit(self) -> str:
        """What its length is counted in."""

    @property
    def length(self) -> int:
        """How many ticks, or waves of a synthesis, there will be."""

    @property
    def latest_fork(self) -> int:
        """The last tick before which it can be forked."""

    @property
    def timeouts(self) -> Mapping[str, Timeouts]:
        """How long models are waited for, by model or provider."""

    def either(self, *, world: Callable[[World], T], synthesis: Callable[[Synthesis], T]) -> T:
        """What the function for its kind returns of it."""

    def next_tick(self, tick: int) -> int:
        """The first tick that is lived, from `tick` on."""

    def amount(self, ticks: int) -> int:
        """How much is done in its first ticks: ticks of a world, sessions of a synthesis."""

    def pace(self) -> tuple[object, ...]:
        """What decides how much is asked in a tick: equal for two that ask alike."""

    def model_names(self) -> dict[str, str]:
        """The model of each role."""

    def with_models(self, name: Callable[[str], str]) -> Self:
        """With other names for all its models."""

    def model_dump(self, *, mode: str) -> dict[str, Any]:
        """As JSON has it, with mode `json`."""
