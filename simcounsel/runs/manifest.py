"""Where a run comes from: what is written to its manifest.json."""

import os
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, model_validator

from simcounsel.runs.chain import manifest_digest
from simcounsel.runs.jsonl import indented_json_bytes
from simcounsel.secret import scrub_data
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World

FILE = "manifest.json"


class Parent(BaseModel):
    """The run that another was forked from."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    run: str
    """Its id."""
    at_tick: int
    """The first tick (or wave) that is not shared with it."""
    changes: tuple[tuple[str, str], ...]
    """What the fork changed, as KEY and VALUE."""
    start_hash: str | None = None
    """From which the hashes of the shared past begin (see `runs.chain`); None in runs of versions 1
    and 2.
    """


class Stop(BaseModel):
    """That a run was stopped because too many answers were of no use. It may have gone on since."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tick: int
    """The one that was given up."""
    why: str
    at: str
    """Wall clock, `YYYY-MM-DD HH:MM:SS`."""


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
    stops: tuple[Stop, ...] = ()
    """When it was stopped for fallbacks; the only field that is written to later."""
    digest: str | None = None
    """SHA-256 over all the other fields; None in runs of versions 1 and 2."""

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

    @classmethod
    def without_secrets(cls, **fields: Any) -> tuple[Self, dict[str, Any]]:
        """A manifest of these fields, and what is to stand on disk, each key and password hidden
        in both. A large world takes long to search: this is the one time, so whoever lives in it
        takes it from here.
        """
        manifest = cls(**fields)
        told = manifest.model_dump(mode="json")
        written = scrub_data(told)
        if written is not told:
            manifest = cls.model_validate(written)
        return manifest, written


def write_manifest(folder: Path, written: dict[str, Any]) -> None:
    """Put the digest into a manifest's fields and write them, whole or not at all. OSError when
    they cannot be written.
    """
    written["digest"] = manifest_digest(written)
    part = folder / "manifest.json.part"
    with part.open("wb") as file:
        file.write(indented_json_bytes(written))
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, folder / FILE)
