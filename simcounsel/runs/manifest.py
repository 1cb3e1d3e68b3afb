"""Where a record comes from: what is written to its manifest."""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from simcounsel.errors import RunError, SpecError
from simcounsel.events import SCHEMA_VERSION
from simcounsel.intake import file_bytes, json_data
from simcounsel.record_kinds import About, RecordKind, kind_of
from simcounsel.runs.chain import fields_digest, manifest_damage, other_version
from simcounsel.runs.folder import runs_nearby, ways_on
from simcounsel.runs.jsonl import indented_json_bytes
from simcounsel.runs.spending import is_by_hand
from simcounsel.secret import HIDDEN, scrub, scrub_data
from simcounsel.specs.world import World


class Parent(BaseModel):
    """The run that another was forked from."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    run: str
    """Its id."""
    at_tick: int
    """The first tick that is not shared with it."""
    changes: tuple[tuple[str, str], ...]
    """What the fork changed, as KEY and VALUE."""
    start_hash: str | None = None
    """From which the hashes of the shared past begin (see `runs.chain`)."""

    @property
    def changed(self) -> str:
        """What was changed, in a line; `nothing` where only the seed of chance goes on."""
        return ", ".join(f"{key}={_plain(value)}" for key, value in self.changes) or "nothing"


def _plain(value: str) -> str:
    """A value without the quotes of JSON around a text."""
    while value.startswith('"'):
        try:
            value = json.loads(value)
        except ValueError:
            break
    return value


class Stop(BaseModel):
    """That a run was stopped because too many answers were unusable. It may have gone on since."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tick: int
    """The one that was given up."""
    why: str
    at: str
    """Wall clock, `YYYY-MM-DD HH:MM:SS`."""


BY_HAND = (
    "replies written by hand from the prompts, one by one, not by a model endpoint; they show what"
    " the engine does with good answers and are no evidence"
)
"""Said of a run that was made with the model `byhand:` wherever it appears."""


def label_of(models: Iterable[str]) -> str | None:
    """What has to be said of whatever was made with these models; None where nothing has."""
    return BY_HAND if any(map(is_by_hand, models)) else None


class Manifest(BaseModel):
    """Where a record of any kind comes from. Everything that must not be in the log, so that the
    log is the same for the same world.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_version: int
    """Of the log; see `simcounsel.events.SCHEMA_VERSION`."""
    run: str
    """The run's id: the name that its folder was given."""
    created: str
    """Wall clock, `YYYY-MM-DD HH:MM:SS`."""
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
    chained_calls: bool = False
    """Whether each line of calls.jsonl carries a digest over itself and the line before; not so in
    runs that began with an earlier version."""
    digest: str | None = None
    """SHA-256 over all the other fields; None until it is written."""

    def model_of(self, role: str, who: str) -> str:
        """The model that answers a resident's own questions."""
        return self.models.get(f"{role}:{who}", self.models[role])

    @property
    def label(self) -> str | None:
        """What has to be said of the run wherever it appears; None where nothing has."""
        return label_of(self.models.values())

    @classmethod
    def without_secrets(cls, fields: dict[str, Any]) -> tuple[Self, dict[str, Any]]:
        """A manifest of these fields, and what is to be on disk, each key and password hidden
        in both. A large world takes long to search: this is the one time, so whoever lives in it
        takes it from here.
        """
        manifest = cls.model_validate(fields)
        told = manifest.model_dump(mode="json")
        written = scrub_data(told)
        if written is not told:
            manifest = cls.model_validate(written)
        return manifest, written


class RunManifest(Manifest):
    """Where a run of a world comes from."""

    world: World
    """What is run."""


M = TypeVar("M", bound=Manifest)


@dataclass(frozen=True, kw_only=True)
class Written(Generic[M]):
    """A manifest as it is on disk."""

    manifest: M
    """As it is read."""
    fields: dict[str, Any]
    """As they are there."""


def new_name(about: About, parent: Parent | None) -> str:
    """For a new run: never its parent's, however soon it is made and wherever."""
    slug = re.sub(r"[^a-z0-9]+", "-", scrub(about.name).lower()).strip("-") or "world"
    begun = f"{datetime.now():%Y%m%d-%H%M%S}" + (f"-at{parent.at_tick}" if parent else "")
    return f"{slug}-{about.condition.replace('_', '-')}-s{about.seed}-{begun}"


def begin_manifest(
    folder: Path, kind: RecordKind, model: type[M], about: About, fields: dict[str, Any]
) -> Written[M]:
    """Write the manifest of a new record, whole or not at all. fields: its models, prompts,
    versions and parent. RunError when it cannot be written; SpecError when it makes no sense any
    more with its keys and passwords hidden, and the folder is taken away again.
    """
    try:
        manifest, written = model.without_secrets(
            {
                "schema_version": SCHEMA_VERSION,
                "run": folder.name,
                "created": f"{datetime.now():%Y-%m-%d %H:%M:%S}",
                "chained_calls": True,
                kind.about: about,
                **fields,
            }
        )
        write_manifest(folder / kind.file, written)
    except ValidationError as error:
        folder.rmdir()
        where = [".".join(map(str, one["loc"])) for one in error.errors(include_url=False)]
        raise SpecError(
            [
                f"{scrub(one)}: it is a key or password, or holds one, and makes no sense written"
                f" as {HIDDEN}; give another one"
                for one in where
            ]
        ) from None
    except OSError as error:
        raise RunError(
            f"{folder}: cannot be written ({error.strerror}); free some space or choose another"
            " --out"
        ) from None
    manifest = manifest.model_copy(update={"digest": written["digest"]})
    return Written(manifest=manifest, fields=written)


def read_manifest(folder: Path, kind: RecordKind, model: type[M], *, damaged: bool) -> Written[M]:
    """The manifest of a record. RunError says what is wrong with it, or of what other kind it is.
    damaged: it may be another than was written.
    """
    if (other := kind_of(folder)) is not kind and other.keeps(folder):
        raise RunError(f"{folder}: {other.says.format(folder=folder)}")
    file = kind.manifest_in(folder)
    if not file.is_file():
        raise RunError(f"{folder}: no {kind.noun} there (no {file.name}){runs_nearby(folder)}")
    try:
        fields = json_data(file_bytes(file).decode("utf-8"))
        data = scrub_data(fields)
        if another := other_version(data):
            raise RunError(f"{folder}: {another}")
        known = model.model_fields
        given = {name: one for name, one in data.items() if one is not None or name in known}
        manifest = model.model_validate(given)
        changed = None if damaged else manifest_damage(fields)
    except (OSError, ValueError, AttributeError) as error:
        raise RunError(
            f"{file}: damaged ({str(error).splitlines()[0]}); the {kind.noun} cannot be opened"
        ) from None
    if changed:
        raise RunError(f"{file}: {changed}; {ways_on(folder, 0)}")
    return Written(manifest=manifest, fields=fields)


def write_manifest(file: Path, written: dict[str, Any]) -> None:
    """Put the digest into a manifest's fields and write them, whole or not at all. OSError when
    they cannot be written.
    """
    written["digest"] = fields_digest(written)
    part = file.with_name(f"{file.name}.part")
    with part.open("wb") as lines:
        lines.write(indented_json_bytes(written))
        lines.flush()
        os.fsync(lines.fileno())
    os.replace(part, file)


def with_stop(file: Path, manifest: M, tick: int, why: str) -> M:
    """The manifest with one more stop, in its file as well. RunError when it cannot be written."""
    stop = Stop(tick=tick, why=scrub(why), at=f"{datetime.now():%Y-%m-%d %H:%M:%S}")
    stopped = manifest.model_copy(update={"stops": (*manifest.stops, stop)})
    written = json_data(file_bytes(file).decode("utf-8"))
    written["stops"] = [one.model_dump() for one in stopped.stops]
    try:
        write_manifest(file, written)
    except OSError as error:
        raise RunError(f"{file.parent}: cannot be written ({error.strerror})") from None
    return stopped
