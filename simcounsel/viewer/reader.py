"""Reading a run that may still grow, be cut short or be half deleted: an index of its log, and parts of it."""

import json
import re
import threading
from array import array
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from simcounsel.events import SCHEMA_VERSION

Fields = dict[str, Any]
_HEAD = re.compile(rb'\{"seq":\d+,"tick":(\d+),"minute":-?\d+,"kind":"([a-z_]+)"(?:,"(?:who|chat)":"((?:[^"\\]|\\.)*)")?')
_CALL = re.compile(rb'\{"key": "[^"]*", "tick": (\d+|null)(, )"who": "((?:[^"\\]|\\.)*)"')
"""How a line of events.jsonl, or of calls.jsonl, begins: tick, kind (calls have none) and subject, enough
to know whether to read the rest."""


class Log:
    """A run's folder as far as it can be read.

    Only complete ticks are shown: what a crash left of a tick is lived again by `resume`.
    `problems` says in words what is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.ticks = 0
        self._manifest: Fields | None = None
        self._manifest_problem: str | None = None
        self._index = _Index(folder / "events.jsonl", _HEAD)
        self._calls = _Index(folder / "calls.jsonl", _CALL)

    @property
    def manifest(self) -> Fields:
        """The manifest as it was written; empty when it is missing or damaged."""
        if self._manifest is None:
            self._manifest, self._manifest_problem = _read_manifest(self.folder / "manifest.json")
        return self._manifest

    @property
    def size(self) -> int:
        """Of the log in bytes, as it is on disk now; 0 when there is none."""
        return _size(self.folder / "events.jsonl")

    def refresh(self) -> None:
        """Take in what was written since the last time."""
        self._index.refresh()
        self.ticks = self._index.complete_ticks()

    def problems(self) -> list[str]:
        """What is missing or damaged, in words."""
        _ = self.manifest
        found = [self._manifest_problem] if self._manifest_problem else []
        if not (self.folder / "events.jsonl").is_file():
            found.append("events.jsonl is missing: nothing that happened can be shown")
        if self._index.damaged:
            first = f", the first is line {self._index.first_damaged}" if self._index.first_damaged else ""
            found.append(f"{self._index.damaged} lines of events.jsonl cannot be read and are left out{first}")
        beyond = self._index.beyond(self.ticks)
        if beyond:
            found.append(f"the last {beyond} events belong to a tick that was not finished; `simcounsel resume` lives it again")
        if not (self.folder / "calls.jsonl").is_file():
            found.append("calls.jsonl is missing: prompts and replies cannot be shown")
        return found

    def entries(
        self, kinds: Collection[str] | None = None, *, subject: str | None = None, since_tick: int = 0, until_tick: int | None = None,
    ) -> Iterator[Fields]:
        """Events of complete ticks in order, as dictionaries.

        subject: only those that begin with this `who` or `chat`. until_tick: the first tick not wanted.
        """
        last = self.ticks if until_tick is None else min(self.ticks, until_tick)
        for fields in self._index.lines(kinds, subject, since_tick, last):
            if fields.get("kind"):
                yield fields

    def calls(self, tick: int, who: str | None = None) -> Iterator[Fields]:
        """The recorded requests of a tick, vectors left out, those of the runs it replays included."""
        for log in self._sources():
            log._calls.refresh()
            for fields in log._calls.lines(None, who, tick, tick + 1):
                fields.pop("vectors", None)
                yield fields

    def _sources(self) -> Iterator["Log"]:
        source = next((m for m in self.manifest.get("models", {}).values() if str(m).startswith("recorded:")), None)
        if source is not None:
            folder = Path(source.removeprefix("recorded:"))
            if (folder / "calls.jsonl").is_file() and folder.resolve() != self.folder.resolve():
                yield from Log(folder)._sources()
        yield self


class _Index:
    """Where each line of a log begins, its tick, its kind (or purpose) and its subject."""

    def __init__(self, file: Path, head: re.Pattern[bytes]) -> None:
        self.file = file
        self._head = head
        self._events = head is _HEAD
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self.damaged = 0
        self.first_damaged: int | None = None
        self._lines = 0
        self._end = 0
        self._at = array("Q")
        self._tick = array("i")
        self._kind = array("H")
        self._subject = array("i")
        self._kinds: dict[bytes, int] = {}
        self._subjects: dict[bytes, int] = {}
        self._ended = 0

    def refresh(self) -> None:
        """Index what was appended; all anew when the file became shorter (a resume dropped a tick)."""
        with self._lock:
            if _size(self.file) < self._end:
                self._begin()
            if self.file.is_file():
                self._read_on()

    def _read_on(self) -> None:
        """One pass over what is new. Written out, since it runs over every line of a large log."""
        match, at, number = self._head.match, self._end, self._lines
        add_at, add_tick, add_kind, add_subject = self._at.append, self._tick.append, self._kind.append, self._subject.append
        kinds, subjects = self._kinds, self._subjects
        with self.file.open("rb", buffering=1 << 20) as lines:
            lines.seek(at)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                number += 1
                found = match(line)
                if found:
                    tick, kind, subject = found.groups()
                    add_at(at)
                    add_tick(-1 if tick == b"null" else int(tick))
                    add_kind(kinds.setdefault(kind, len(kinds)))
                    add_subject(-1 if subject is None else subjects.setdefault(subject, len(subjects)))
                    if kind == b"tick_ended":
                        self._ended = max(self._ended, int(tick) + 1)
                elif self._events:
                    self.damaged += 1
                    self.first_damaged = self.first_damaged or number
                at += len(line)
        self._end, self._lines = at, number

    def complete_ticks(self) -> int:
        """How many ticks have ended."""
        return self._ended

    def beyond(self, tick: int) -> int:
        """How many lines there are from that tick on."""
        with self._lock:
            return int((np.array(self._tick) >= tick).sum())

    def lines(self, kinds: Collection[str] | None, subject: str | None, since: int, until: int) -> Iterator[Fields]:
        """The lines of ticks in [since, until) that are of these kinds and this subject."""
        found = self._found(kinds, subject, since, until)
        if not found or not self.file.is_file():
            return
        with self.file.open("rb") as lines:
            for at in found:
                lines.seek(at)
                fields = _parsed(lines.readline())
                if fields is None:
                    self.damaged += 1
                else:
                    yield fields

    def _found(self, kinds: Collection[str] | None, subject: str | None, since: int, until: int) -> list[int]:
        """Where those lines begin. A copy is searched, since the run may grow meanwhile."""
        with self._lock:
            tick = np.array(self._tick)
            here = (tick >= since) & (tick < until)
            if kinds is not None:
                here &= np.isin(np.array(self._kind), [self._kinds[kind.encode()] for kind in kinds if kind.encode() in self._kinds])
            if subject is not None:
                name = json.dumps(subject, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
                here &= np.array(self._subject) == self._subjects.get(name, -2)
            return np.array(self._at)[here].tolist() if len(tick) else []


def _parsed(line: bytes) -> Fields | None:
    """A line as JSON. Half a character (a lone surrogate, which orjson refuses) is read by the slower parser."""
    try:
        fields = orjson.loads(line)
    except ValueError:
        try:
            fields = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            return None
    return fields if isinstance(fields, dict) else None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _read_manifest(file: Path) -> tuple[Fields, str | None]:
    """The manifest and what is wrong with it."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not isinstance(data.get("world"), dict):
            raise ValueError("it is not a manifest")
    except FileNotFoundError:
        return {}, "manifest.json is missing: the world, its places and its people are taken from what happened"
    except (ValueError, OSError) as error:
        return {}, f"manifest.json cannot be read ({str(error).splitlines()[0]}): places and people are taken from what happened"
    version = data.get("schema_version")
    if version != SCHEMA_VERSION:
        wrote = data.get("versions", {}).get("simcounsel", "unknown")
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        way = "install a newer simcounsel" if newer else f"install the simcounsel that wrote it ({wrote})"
        return data, f"the log has version {version}, this simcounsel reads {SCHEMA_VERSION}: some of it may be missing; {way}"
    return data, None
