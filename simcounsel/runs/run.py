"""A run: a folder, written once, read often.

manifest.json   the world with its personas, or the synthesis with its situations; versions, models,
                seed, parentage; written once
events.jsonl    all that happened, one event a line; the same bytes for the same world and replies
calls.jsonl     all that was asked of models, with replies, tokens, cost, latency
memory/         the memories with their vectors, in Chroma; made from the log when somebody asks
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcounsel.errors import RunError
from simcounsel.events import SCHEMA_VERSION, Entry
from simcounsel.intake import file_bytes, json_data
from simcounsel.runs import frames
from simcounsel.runs.calls import usable
from simcounsel.runs.chain import HASHED, LogCheck, manifest_damage, parents_start, start_hash
from simcounsel.runs.entries import entries_in
from simcounsel.runs.folder import complete_ticks, fresh_folder, runs_nearby, ways_on
from simcounsel.runs.jsonl import json_lines
from simcounsel.runs.manifest import Manifest, Parent, Stop, write_manifest
from simcounsel.runs.upgrades import manifest_of_today, readable
from simcounsel.runs.writing import Writer
from simcounsel.secret import scrub, scrub_data
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World

if TYPE_CHECKING:  # pandas is of the extra `analysis`, and slow to import
    from pandas import DataFrame


class Run:
    """A run's folder. `Run.create` begins one, `Run.open` reads or goes on with one."""

    def __init__(self, folder: Path, manifest: Manifest, written: Mapping[str, Any]) -> None:
        """written: the manifest as it stands on disk."""
        self.folder = folder
        self.manifest = manifest
        self.log_version = SCHEMA_VERSION
        self.own_hash = start_hash(written)
        """Of what decides it."""
        self.start_hash = parents_start(written) or self.own_hash
        """From which its first tick's hash begins: in a fork the parent's."""
        self.damaged = False
        """Whether it is read as far as it can be, should it be damaged."""
        self.damages: tuple[str, ...] = ()
        """Where it is not as it was written, in words; () too where nobody looked (see
        `runs.verifying`)."""
        self._writer = Writer(folder, manifest, self.start_hash)

    @property
    def name(self) -> str:
        """The run's id: the name of its folder."""
        return self.manifest.run

    @property
    def about(self) -> World | Synthesis:
        """What is lived, or written, as it was when the run began."""
        return self.manifest.about

    @property
    def is_synthesis(self) -> bool:
        """Whether dialogues are written in it, and nobody lives."""
        return self.manifest.synthesis is not None

    @property
    def world(self) -> World:
        """The world as it was when the run began. RunError when it is a synthesis, which has
        none.
        """
        if self.manifest.world is None:
            raise RunError(
                f"{self.folder}: a synthesis of dialogues, in which nobody lives; look at it with"
                f" `simcounsel view {self.folder}`, make training data of it with `simcounsel"
                f" export {self.folder}`"
            )
        return self.manifest.world

    @property
    def synthesis(self) -> Synthesis:
        """The settings of a synthesis as they were when it began. RunError when it is a world's
        run.
        """
        if self.manifest.synthesis is None:
            raise RunError(
                f"{self.folder}: a run of a world, not a synthesis; `simcounsel synthesize`"
                " makes one"
            )
        return self.manifest.synthesis

    @property
    def dropped(self) -> str | None:
        """What was dropped of an unfinished tick when writing began; None when nothing was."""
        return self._writer.dropped

    @property
    def length(self) -> int:
        """How many ticks, or waves of a synthesis, there will be."""
        return self.about.length

    @property
    def whole(self) -> bool:
        """Whether it has all it needs to be lived: false for a fork that a crash ended while its
        past was copied.
        """
        if self.manifest.parent is None:
            return True
        done = complete_ticks(self.folder)
        return (self.about.next_tick(done) if done else 0) >= self.manifest.parent.at_tick

    @classmethod
    def create(
        cls,
        about: World | Synthesis,
        out: Path,
        *,
        models: dict[str, str],
        prompts: dict[str, str],
        versions: dict[str, str],
        parent: Parent | None = None,
        name: str | None = None,
    ) -> "Run":
        """Begin a run in a new folder under `out`. Keys and passwords in `about` are hidden, in
        `Run.about` too. RunError when it cannot be written.
        """
        slug = re.sub(r"[^a-z0-9]+", "-", scrub(about.name).lower()).strip("-") or "world"
        begun = f"{datetime.now():%Y%m%d-%H%M%S}" + (
            f"-at{parent.at_tick}" if parent else ""
        )  # never its parent's name, however soon and wherever
        stem = name or f"{slug}-{about.condition.replace('_', '-')}-s{about.seed}-{begun}"
        folder = fresh_folder(out, stem)
        manifest, written = Manifest.without_secrets(
            schema_version=SCHEMA_VERSION,
            run=folder.name,
            created=f"{datetime.now():%Y-%m-%d %H:%M:%S}",
            world=about if isinstance(about, World) else None,
            synthesis=about if isinstance(about, Synthesis) else None,
            models=models,
            prompts=prompts,
            versions=versions,
            parent=parent,
        )
        try:
            write_manifest(folder, written)
        except OSError as error:
            raise RunError(
                f"{folder}: cannot be written ({error.strerror}); free some space or choose another"
                " --out"
            ) from None
        return cls(folder, manifest.model_copy(update={"digest": written["digest"]}), written)

    @classmethod
    def open(cls, folder: str | Path, *, damaged: bool = False) -> "Run":
        """A run that exists. RunError says what is wrong with the folder. damaged: read it as far
        as it can be; else a manifest or a log that is not as it was written is a RunError, here or
        where it is read.
        """
        folder = Path(folder)
        file = folder / "manifest.json"
        if not file.is_file():
            raise RunError(f"{folder}: no run there (no manifest.json){runs_nearby(folder)}")
        try:
            written = json_data(file_bytes(file).decode("utf-8"))
            data = scrub_data(written)
            version = data.get("schema_version")
            if not readable(version):
                raise RunError(
                    f"{folder}: written with log version {version}, this simcounsel reads"
                    f" {SCHEMA_VERSION}; install the simcounsel that wrote it"
                    f" ({data.get('versions', {}).get('simcounsel', 'unknown')})"
                )
            manifest = Manifest.model_validate(manifest_of_today(data))
            run = cls(folder, manifest, written)
            run.log_version, run.damaged = version, damaged
            changed = None if damaged else manifest_damage(written)
        except (OSError, ValueError, AttributeError) as error:
            raise RunError(
                f"{file}: damaged ({str(error).splitlines()[0]}); the run cannot be opened"
            ) from None
        if changed:
            raise RunError(f"{file}: {changed}; {ways_on(folder, 0)}")
        return run

    def damage_mark(self) -> dict[str, list[str]]:
        """What marks whatever comes of it, if it was found to be damaged."""
        return {"damaged": list(self.damages)} if self.damages else {}

    # reading

    def entries(self, *, until_tick: int | None = None) -> Iterator[Entry]:
        """All events in order, of ticks before `until_tick` if given. RunError names a damaged
        line, unless it was opened as damaged: that is left out then.
        """
        return entries_in(
            self.folder / "events.jsonl",
            self.log_version,
            self.check(),
            strict=not self.damaged,
            until_tick=until_tick,
        )

    def check(self) -> LogCheck:
        """What its log must pass, from the beginning."""
        return LogCheck(self.start_hash, hashed=self.log_version >= HASHED)

    def calls(self) -> Iterator[dict[str, Any]]:
        """All recorded calls; a line that is cut short or damaged is left out."""
        return (call for call in json_lines(self.folder / "calls.jsonl") if usable(call))

    def ticks_done(self) -> int:
        """How many ticks are complete in the log, which is not checked."""
        return complete_ticks(self.folder)

    # as tables

    def lines(self) -> "DataFrame":
        """Each line that was said, as a pandas frame. RunError where pandas is missing."""
        return frames.frame(frames.lines(self.entries()), frames.LINES)

    def days(self) -> "DataFrame":
        """Each resident's days, likewise."""
        return frames.frame(frames.days(self.entries()), frames.DAYS)

    def measurements(self) -> "DataFrame":
        """Each score that was measured, as the run went on and afterwards, likewise."""
        found = frames.measurements(self.entries(), self.folder)
        return frames.frame(found, frames.MEASUREMENTS)

    def recalls(self) -> "DataFrame":
        """Each memory that came to mind, with its score and the terms of it, likewise."""
        return frames.frame(frames.recalls(self.entries()), frames.RECALLS)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        rows = [
            ("folder", str(self.folder)),
            ("of", f"{self.about.name}, {self.about.condition}, seed {self.about.seed}"),
            ("lived", f"{self.ticks_done()} of {self.length}"),
            ("models", ", ".join(f"{role} {name}" for role, name in self.manifest.models.items())),
            *(
                (kind.replace("_", " "), str(count))
                for kind, count in Counter(entry.event.kind for entry in self.entries()).items()
            ),
        ]
        return frames.html_table(self.name, rows)

    # writing

    def begin_writing(self) -> int:
        """Take the folder for this process, drop what stands after the last complete tick, and
        return the number of complete ticks. `dropped` says what was dropped. RunError when its log
        is damaged, or of an older version."""
        if self.log_version != SCHEMA_VERSION:
            raise RunError(
                f"{self.folder}: written with log version {self.log_version}; it can be looked at"
                " and forked, but not gone on with by this simcounsel, which writes"
                f" {SCHEMA_VERSION}"
            )
        parent = self.manifest.parent
        if parent is not None and not self.whole:
            raise RunError(
                f"{self.folder}: a fork of {parent.run} that was broken off before its past was"
                f" copied; remove it and fork again, --at {parent.at_tick}"
            )
        return self._writer.begin()

    def append(self, tick: Sequence[Entry]) -> list[Entry]:
        """Write a complete tick, its `tick_ended` last, and return it as it was written, with its
        hash. RunError when the disk is full; the log then ends with the tick before.
        """
        return self._writer.append(tick)

    def append_call(self, call: dict[str, Any]) -> None:
        """Write one call at once, so that a reply that was paid for survives a crash."""
        self._writer.append_call(call)

    def mark_stop(self, tick: int, why: str) -> None:
        """Say in the manifest, as it stands on disk, that a tick was given up for its fallbacks."""
        stop = Stop(tick=tick, why=scrub(why), at=f"{datetime.now():%Y-%m-%d %H:%M:%S}")
        self.manifest = self.manifest.model_copy(update={"stops": (*self.manifest.stops, stop)})
        written = json_data(file_bytes(self.folder / "manifest.json").decode("utf-8"))
        written["stops"] = [one.model_dump() for one in self.manifest.stops]
        try:
            write_manifest(self.folder, written)
        except OSError as error:
            raise RunError(f"{self.folder}: cannot be written ({error.strerror})") from None

    def end_writing(self) -> None:
        """Close the files and let go of the folder."""
        self._writer.end()


def load_run(folder: str | Path) -> Run:
    """A run from its folder. RunError says what is wrong with it."""
    return Run.open(folder)
