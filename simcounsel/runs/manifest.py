"""Where a run comes from: what is written to its manifest.json."""

from pydantic import BaseModel, ConfigDict, model_validator

from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World


class Parent(BaseModel):
    """The run that another was forked from."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    run: str
    """Its id."""
    at_tick: int
    """The first tick (or wave) that is not shared with it."""
    changes: tuple[tuple[str, str], ...]
    """What the fork changed, as KEY and VALUE."""


class Manifest(BaseModel):
    """Where a run comes from. Everything that must not be in the log, so that the log is the same
    for the same world.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_version: int
    """Of the log; see `simcounsel.events.SCHEMA_VERSION`."""
    run: str
    """The run's id: the name that its folder was given."""
    created: str
    """Wall clock, `YYYY-MM-DD HH:MM:SS`."""
    world: World | None = None
    """What is lived; None in a synthesis."""
    synthesis: Synthesis | None = None
    """What is written; None in a world's run."""
    models: dict[str, str]
    """Each role's model, as it was resolved; as `reason:Ines` that of a resident who has one."""
    prompts: dict[str, str]
    """SHA-256 (16 hex digits) of each text that is sent to a model, by file name."""
    versions: dict[str, str]
    """Of simcounsel, Python and the libraries that can change a run."""
    parent: Parent | None = None
    """The run that this one was forked from; None when it began by itself."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "Manifest":
        if (self.world is None) == (self.synthesis is None):
            raise ValueError("a run has either a world or a synthesis")
        return self

    def model_of(self, role: str, who: str) -> str:
        """The model that answers a resident's own questions."""
        return self.models.get(f"{role}:{who}", self.models[role])

    @property
    def about(self) -> World | Synthesis:
        """What is lived, or written."""
        found = self.world or self.synthesis
        assert found is not None, "a manifest has one of the two"
        return found
