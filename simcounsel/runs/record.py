"""A record: a folder, written once, read often. A run of a world is one; packages keep others.

manifest.json   what it is about, in full; versions, models, seed, parentage; written once
events.jsonl    all that happened, one event a line; the same bytes for the same world and replies
calls.jsonl     all that was asked of models, with replies, tokens, cost, latency
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

from pydantic import ValidationError

from simcounsel.errors import RunError
from simcounsel.events import Entry, parse_entry
from simcounsel.gallery import located
from simcounsel.record_kinds import About, RecordKind, kind_of
from simcounsel.runs.call_chain import CallCheck
from simcounsel.runs.calls import recorded
from simcounsel.runs.chain import LogCheck, parents_start, start_hash, tick_of, ticks_in
from simcounsel.runs.folder import complete_ticks, damage_text, fresh_folder
from simcounsel.runs.jsonl import parsed_line
from simcounsel.runs.manifest import (
    M,
    Parent,
    Written,
    begin_manifest,
    new_name,
    read_manifest,
    with_stop,
)
from simcounsel.runs.writing import Writer
from simcounsel.specs.timeouts import Timeouts


class Record(ABC, Generic[M]):
    """A record's folder."""

    kind: ClassVar[RecordKind]
    manifest_class: ClassVar[Any]
    """M: what its manifest holds."""

    def __init__(self, folder: Path, found: Written[M], damaged: bool) -> None:
        """found: its manifest. damaged: see `open`."""
        self.folder = folder
        self.manifest: M = found.manifest
        self.own_hash = start_hash(found.fields, self.kind.about)
        """Of what decides it."""
        self.start_hash = parents_start(found.fields) or self.own_hash
        """From which its first tick's hash begins: in a fork the parent's."""
        self.damaged = damaged
        """Whether it is read as far as it can be, should it be damaged."""
        self.damages: tuple[str, ...] = ()
        """Where it is not as it was written, in words; () too where nobody looked (see
        `runs.verifying`)."""
        self._writer = Writer(folder, self.kind, self.start_hash)

    @classmethod
    def create(
        cls,
        about: About,
        out: Path,
        *,
        models: dict[str, str],
        prompts: dict[str, str],
        versions: dict[str, str],
        parent: Parent | None = None,
        name: str | None = None,
    ) -> Self:
        """Begin a record in a new folder under `out`. Keys and passwords in `about` are hidden, in
        that of the record too. RunError when it cannot be written.
        """
        folder = fresh_folder(out, name or new_name(about, parent))
        fields = {"models": models, "prompts": prompts, "versions": versions, "parent": parent}
        found = begin_manifest(folder, cls.kind, cls.manifest_class, about, fields)
        return cls(folder, found, False)

    @classmethod
    def open(cls, folder: str | Path, *, damaged: bool = False) -> Self:
        """A record that exists, or `gallery:NAME`. RunError says what is wrong with the folder.
        damaged: read it as far as it can be; else a manifest or a log that is not as it was written
        is a RunError, here or where it is read.
        """
        folder = Path(located(str(folder)))
        found = read_manifest(folder, cls.kind, cls.manifest_class, damaged=damaged)
        return cls(folder, found, damaged)

    @property
    def name(self) -> str:
        """Its id: the name of its folder."""
        return self.manifest.run

    @property
    @abstractmethod
    def about(self) -> About:
        """What it is about, as it was when it began."""

    @property
    @abstractmethod
    def length(self) -> int:
        """How many ticks there will be."""

    @property
    def timeouts(self) -> Mapping[str, Timeouts]:
        """How long models are waited for, by model or provider; others wait as usual."""
        return {}

    def next_tick(self, tick: int) -> int:
        """The first tick that is not skipped, from `tick` on."""
        return tick

    def code_names(self) -> Sequence[str]:
        """The code that it names and runs."""
        return ()

    @property
    def dropped(self) -> str | None:
        """What was dropped of an unfinished tick when writing began; None when nothing was."""
        return self._writer.dropped

    @property
    def whole(self) -> bool:
        """Whether it has all it needs to be gone on with: false for a fork that a crash ended while
        its past was copied.
        """
        if self.manifest.parent is None:
            return True
        done = complete_ticks(self.folder)
        return (self.next_tick(done) if done else 0) >= self.manifest.parent.at_tick

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
            self.check(),
            strict=not self.damaged,
            until_tick=until_tick,
        )

    def check(self) -> LogCheck:
        """What its log must pass, from the beginning."""
        return LogCheck(self.start_hash)

    def calls(self) -> Iterator[dict[str, Any]]:
        """All recorded calls; one that is cut short is left out. RunError names a line that is not
        as it was written, unless the record was opened as damaged."""
        check = CallCheck(chained=self.manifest.chained_calls and not self.damaged)
        return recorded(self.folder / "calls.jsonl", check)

    def ticks_done(self) -> int:
        """How many ticks are complete in the log, which is not checked."""
        return complete_ticks(self.folder)

    # looking

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from simcounsel.runs import frames
        from simcounsel.runs.history import History

        rows = {
            "folder": str(self.folder),
            "of": f"{self.about.name}, {self.about.condition}, seed {self.about.seed}",
            self.kind.done: f"{self.ticks_done()} of {self.length}",
            "models": ", ".join(f"{role} {name}" for role, name in self.manifest.models.items()),
        }
        history = History.of(self)
        rows |= {"damaged": "; ".join(found)} if (found := history.log.all_damages()) else {}
        rows |= {kind.replace("_", " "): str(count) for kind, count in history.kinds().items()}
        return frames.html_table(self.name, rows.items())

    # writing

    def begin_writing(self) -> int:
        """Take the folder for this process, drop what stands after the last complete tick, and
        return the number of complete ticks. `dropped` says what was dropped. RunError when its log
        is damaged, or its past was not copied whole from the run that it is a fork of."""
        if (parent := self.manifest.parent) is not None and not self.whole:
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
        """Say in the manifest, as it is on disk, that a tick was given up for its fallbacks."""
        file = self.kind.manifest_in(self.folder)
        self.manifest = with_stop(file, self.manifest, tick, why)

    def end_writing(self) -> None:
        """Close the files and let go of the folder."""
        self._writer.end()


def open_record(folder: str | Path, *, damaged: bool = False) -> Record[Any]:
    """A record of whatever kind, as by `open` of its own class."""
    folder = Path(located(str(folder)))
    found: Record[Any] = kind_of(folder).part("record").open(folder, damaged=damaged)
    return found


def entries_in(
    file: Path, check: LogCheck, *, strict: bool, until_tick: int | None = None
) -> Iterator[Entry]:
    """All events of ticks before `until_tick`, if given, a tick being checked before any of it is
    given. strict: damage is a RunError that names the line; otherwise lines that cannot be read, or
    do not go on in order, are left out.
    """
    if not file.is_file():
        return
    first, last_seq = 1, -1
    with file.open("rb") as lines:
        for tick, complete in ticks_in(lines):
            if until_tick is not None and until_tick <= max(check.sound_ticks, tick_of(tick[0])):
                return
            damage = check.tick(tick) if complete else check.rest(tick)
            if damage and strict:
                raise RunError(damage_text(file, damage, check.sound_ticks))
            for number, line in enumerate(tick, first):
                if not line.endswith(b"\n"):
                    return
                entry = _entry(line)
                if isinstance(entry, str):
                    if strict:
                        raise RunError(f"{file}:{number}: not an event ({entry})")
                elif entry.seq > last_seq or strict:
                    last_seq = entry.seq
                    yield entry
            first += len(tick)


def _entry(line: bytes) -> Entry | str:
    """A line's event, or what is wrong with it."""
    fields = parsed_line(line)
    if fields is None:
        return "it is not JSON"
    try:
        return parse_entry(fields)
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        return str(error).splitlines()[0]
