"""A run: a folder, written once, read often.

manifest.json   the world with its personas, or the synthesis with its situations; versions, models,
                seed, parentage; written once
events.jsonl    all that happened, one event a line; the same bytes for the same world and replies
calls.jsonl     all that was asked of models, with replies, tokens, cost, latency
memory/         the memories with their vectors, in Chroma; made from the log when somebody asks
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from simcounsel.errors import RunError
from simcounsel.events import Entry
from simcounsel.gallery import located
from simcounsel.runs.call_chain import CallCheck
from simcounsel.runs.calls import recorded
from simcounsel.runs.chain import HASHED, LogCheck, parents_start, start_hash
from simcounsel.runs.entries import entries_in
from simcounsel.runs.folder import complete_ticks, fresh_folder
from simcounsel.runs.manifest import (
    Manifest,
    Parent,
    Written,
    begin_manifest,
    new_name,
    read_manifest,
    with_stop,
)
from simcounsel.runs.shown import Shown
from simcounsel.runs.writing import Writer, check_writable
from simcounsel.specs.subject import Subject
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World

T = TypeVar("T")


class Run(Shown, ABC):
    """A run's folder. `create` begins a `WorldRun` or a `SynthesisRun`, `open` goes on with it."""

    def __init__(self, folder: Path, found: Written, damaged: bool) -> None:
        """found: its manifest. damaged: see `open`."""
        self.folder = folder
        self.manifest: Manifest = found.manifest
        self.log_version = found.version
        self.own_hash = start_hash(found.fields)
        """Of what decides it."""
        self.start_hash = parents_start(found.fields) or self.own_hash
        """From which its first tick's hash begins: in a fork the parent's."""
        self.damaged = damaged
        """Whether it is read as far as it can be, should it be damaged."""
        self.damages: tuple[str, ...] = ()
        """Where it is not as it was written, in words; () too where nobody looked (see
        `runs.verifying`)."""
        self._writer = Writer(folder, self.manifest, self.start_hash)

    @property
    def name(self) -> str:
        """The run's id: the name of its folder."""
        return self.manifest.run

    @property
    @abstractmethod
    def about(self) -> Subject:
        """What is lived, or written, as it was when the run began."""

    @property
    @abstractmethod
    def world(self) -> World:
        """The world as it was when the run began. RunError when it is a synthesis."""

    @property
    @abstractmethod
    def synthesis(self) -> Synthesis:
        """A synthesis' settings as they were when it began. RunError when it is a world's run."""

    @abstractmethod
    def either(
        self, *, world: "Callable[[WorldRun], T]", synthesis: "Callable[[SynthesisRun], T]"
    ) -> T:
        """What the function for its kind returns of it."""

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

    @staticmethod
    def create(
        about: Subject,
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
        folder = fresh_folder(out, name or new_name(about, parent))
        manifest = {"models": models, "prompts": prompts, "versions": versions, "parent": parent}
        return _of(folder, begin_manifest(folder, about, manifest), False)

    @staticmethod
    def open(folder: str | Path, *, damaged: bool = False) -> "Run":
        """A run that exists, or `gallery:NAME`. RunError says what is wrong with the folder.
        damaged: read it as far as it can be; else a manifest or a log that is not as it was written
        is a RunError, here or where it is read.
        """
        folder = Path(located(str(folder)))
        return _of(folder, read_manifest(folder, damaged=damaged), damaged)

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
        """All recorded calls; one that is cut short is left out. RunError names a line that is not
        as it was written, unless the run was opened as damaged."""
        check = CallCheck(chained=self.manifest.chained_calls and not self.damaged)
        return recorded(self.folder / "calls.jsonl", check)

    def ticks_done(self) -> int:
        """How many ticks are complete in the log, which is not checked."""
        return complete_ticks(self.folder)

    # writing

    def begin_writing(self) -> int:
        """Take the folder for this process, drop what stands after the last complete tick, and
        return the number of complete ticks. `dropped` says what was dropped. RunError when its log
        is damaged, or of an older version."""
        check_writable(self.folder, self.log_version, None if self.whole else self.manifest.parent)
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
        self.manifest = with_stop(self.folder, self.manifest, tick, why)

    def end_writing(self) -> None:
        """Close the files and let go of the folder."""
        self._writer.end()


class WorldRun(Run):
    """A run in which a world is lived."""

    def __init__(self, folder: Path, found: Written, damaged: bool, world: World) -> None:
        super().__init__(folder, found, damaged)
        self._world = world

    @property
    def about(self) -> World:
        """Its world."""
        return self._world

    world = about

    @property
    def synthesis(self) -> Synthesis:
        """RunError."""
        raise RunError(
            f"{self.folder}: a run of a world, not a synthesis; `simcounsel synthesize` makes one"
        )

    def either(self, *, world: "Callable[[WorldRun], T]", synthesis: object) -> T:
        """What `world` returns of it."""
        return world(self)


class SynthesisRun(Run):
    """A run in which dialogues are written, and nobody lives."""

    def __init__(self, folder: Path, found: Written, damaged: bool, settings: Synthesis) -> None:
        super().__init__(folder, found, damaged)
        self._settings = settings

    @property
    def about(self) -> Synthesis:
        """Its settings."""
        return self._settings

    synthesis = about

    @property
    def world(self) -> World:
        """RunError."""
        raise RunError(
            f"{self.folder}: a synthesis of dialogues, in which nobody lives; look at it with"
            f" `simcounsel view {self.folder}`, make training data of it with `simcounsel"
            f" export {self.folder}`"
        )

    def either(self, *, world: object, synthesis: "Callable[[SynthesisRun], T]") -> T:
        """What `synthesis` returns of it."""
        return synthesis(self)


def _of(folder: Path, found: Written, damaged: bool) -> Run:
    """The run of a manifest: here, and nowhere else, is decided what kind of run it is."""
    return found.manifest.about.either(
        world=lambda world: WorldRun(folder, found, damaged, world),
        synthesis=lambda settings: SynthesisRun(folder, found, damaged, settings),
    )


def load_run(folder: str | Path) -> Run:
    """A run from its folder. RunError says what is wrong with it."""
    return Run.open(folder)
