"""Reading a run that may still grow, be cut short or be half deleted: an index of its log, and
parts of it.
"""

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
from simcounsel.runs.upgrades import event_of_today, manifest_of_today, readable

Fields = dict[str, Any]
_HEAD = re.compile(
    rb'\{"seq":\d+,"tick":(\d+),"minute":-?\d+,"kind":"([a-z_]+)"(?:,"(?:who|chat|session)":"((?:[^"\\]|\\.)*)")?'
)
_CALL = re.compile(rb'\{"key": "[^"]*", "tick": (\d+|null)(, )"who": "((?:[^"\\]|\\.)*)"')
"""How a line of events.jsonl, or of calls.jsonl, begins: tick, kind (calls have none) and subject,
enough to know whether to read the rest.
"""


TICK_DIGITS = 10
"""A tick of more digits is no tick."""


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
        self._stamp: tuple[int, int] | None = None
        self._replayed: list[Log] | None = None
        self._index = _Index(folder / "events.jsonl", _HEAD)
        self._calls = _Index(folder / "calls.jsonl", _CALL)

    @property
    def manifest(self) -> Fields:
        """The manifest as it was written; empty when it is missing or damaged."""
        file = self.folder / "manifest.json"
        if self._manifest is None or _stamp(file) != self._stamp:
            self._stamp = _stamp(file)
            self._manifest, self._manifest_problem = _read_manifest(file)
        return self._manifest

    @property
    def size(self) -> int:
        """Of the log in bytes, as far as it was taken in by `refresh`."""
        return self._index.end

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
        missing = self._index.missing()
        if missing:
            found.append(
                f"{missing} events are missing from events.jsonl: its beginning, or lines in"
                " between, are gone"
            )
        if self._index.damaged:
            first = (
                f", the first is line {self._index.first_damaged}"
                if self._index.first_damaged
                else ""
            )
            found.append(
                f"{self._index.damaged} lines of events.jsonl cannot be read and are left"
                f" out{first}"
            )
        beyond = self._index.beyond(self.ticks)
        if beyond:
            found.append(
                f"the last {beyond} events belong to a tick that was not finished; `simcounsel"
                " resume` lives it again"
            )
        if not (self.folder / "calls.jsonl").is_file():
            found.append("calls.jsonl is missing: prompts and replies cannot be shown")
        return found

    def entries(
        self,
        kinds: Collection[str] | None = None,
        *,
        subject: str | None = None,
        since_tick: int = 0,
        until_tick: int | None = None,
    ) -> Iterator[Fields]:
        """Events of complete ticks in order, as dictionaries.

        subject: only those that begin with this `who` or `chat`. until_tick: the first tick not
        wanted.
        """
        last = self.ticks if until_tick is None else min(self.ticks, until_tick)
        version = self.manifest.get("log_version", SCHEMA_VERSION)
        for fields in self._index.lines(kinds, subject, since_tick, last):
            if fields.get("kind"):
                yield event_of_today(fields, version) if version != SCHEMA_VERSION else fields

    def calls(self, tick: int, who: str | None = None) -> Iterator[Fields]:
        """The recorded requests of a tick, vectors left out, those of the runs it replays
        included.
        """
        if self._replayed is None:
            self._replayed = list(self._sources(set()))
        for log in self._replayed:
            log._calls.refresh()
            for fields in log._calls.lines(None, who, tick, tick + 1):
                fields.pop("vectors", None)
                yield fields

    def _sources(self, seen: set[Path]) -> Iterator["Log"]:
        """The runs that this one replays, and itself."""
        seen.add(self.folder.resolve())
        models = self.manifest.get("models") or {}
        source = next(
            (str(model) for model in models.values() if str(model).startswith("recorded:")), None
        )
        if source is not None:
            folder = Path(source.removeprefix("recorded:"))
            if (folder / "calls.jsonl").is_file() and folder.resolve() not in seen:
                yield from Log(folder)._sources(seen)
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
        self._bad: set[int] = set()
        self.first_damaged: int | None = None
        self._lines = 0
        self.end = 0
        self._last = (0, b"")
        self._at = array("Q")
        self._tick = array("i")
        self._kind = array("H")
        self._subject = array("i")
        self._kinds: dict[bytes, int] = {}
        self._subjects: dict[bytes, int] = {}
        self._ended = 0

    def refresh(self) -> None:
        """Index what was appended; all anew when the file became shorter (a resume dropped a
        tick).
        """
        with self._lock:
            if not self._goes_on():
                self._begin()
            if self.file.is_file():
                self._read_on()

    def _goes_on(self) -> bool:
        """Whether what was indexed still stands there: a resume may have cut a tick off and written
        another.
        """
        at, line = self._last
        if not line:
            return True
        try:
            with self.file.open("rb") as lines:
                lines.seek(at)
                return lines.read(len(line)) == line
        except OSError:
            return False

    @property
    def damaged(self) -> int:
        """How many lines cannot be read."""
        return len(self._bad)

    def missing(self) -> int:
        """How many events are not there, by the number of the last one."""
        found = re.match(rb'\{"seq":(\d{1,12}),', self._last[1]) if self._events else None
        return max(0, int(found.group(1)) + 1 - self._lines) if found else 0

    def _read_on(self) -> None:
        """One pass over what is new. Written out, since it runs over every line of a large log."""
        match, at, number, last = self._head.match, self.end, self._lines, self._last
        add_at, add_tick, add_kind, add_subject = (
            self._at.append,
            self._tick.append,
            self._kind.append,
            self._subject.append,
        )
        kinds, subjects = self._kinds, self._subjects
        with self.file.open("rb", buffering=1 << 20) as lines:
            lines.seek(at)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                number += 1
                found = match(line)
                if found and len(found.group(1)) < TICK_DIGITS:
                    tick, kind, subject = found.groups()
                    add_at(at)
                    add_tick(-1 if tick == b"null" else int(tick))
                    add_kind(kinds.setdefault(kind, len(kinds)))
                    add_subject(
                        -1 if subject is None else subjects.setdefault(subject, len(subjects))
                    )
                    if kind == b"tick_ended":
                        self._ended = max(self._ended, int(tick) + 1)
                elif self._events:
                    self._bad.add(at)
                    self.first_damaged = self.first_damaged or number
                last = at, line
                at += len(line)
        self.end, self._lines, self._last = at, number, last

    def complete_ticks(self) -> int:
        """How many ticks have ended."""
        return self._ended

    def beyond(self, tick: int) -> int:
        """How many lines there are from that tick on."""
        with self._lock:
            return int((np.array(self._tick) >= tick).sum())

    def lines(
        self, kinds: Collection[str] | None, subject: str | None, since: int, until: int
    ) -> Iterator[Fields]:
        """The lines of ticks in [since, until) that are of these kinds and this subject."""
        found = self._found(kinds, subject, since, until)
        if not found or not self.file.is_file():
            return
        with self.file.open("rb") as lines:
            for at in found:
                lines.seek(at)
                fields = _parsed(lines.readline())
                if fields is None:
                    self._bad.add(at)
                else:
                    yield fields

    def _found(
        self, kinds: Collection[str] | None, subject: str | None, since: int, until: int
    ) -> list[int]:
        """Where those lines begin. A copy is searched, since the run may grow meanwhile."""
        with self._lock:
            tick = np.array(self._tick)
            here = (tick >= since) & (tick < until)
            if kinds is not None:
                here &= np.isin(
                    np.array(self._kind),
                    [self._kinds[kind.encode()] for kind in kinds if kind.encode() in self._kinds],
                )
            if subject is not None:
                name = json.dumps(subject, ensure_ascii=False)[1:-1].encode(
                    "utf-8", "surrogatepass"
                )
                here &= np.array(self._subject) == self._subjects.get(name, -2)
            return np.array(self._at)[here].tolist() if len(tick) else []


def _parsed(line: bytes) -> Fields | None:
    """A line as JSON. Half a character (a lone surrogate, which orjson refuses) is read by the
    slower parser.
    """
    try:
        fields = orjson.loads(line)
    except ValueError:
        try:
            fields = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            return None
    return fields if isinstance(fields, dict) else None


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        return file.stat().st_mtime_ns, file.stat().st_size
    except OSError:
        return None


def _read_manifest(file: Path) -> tuple[Fields, str | None]:
    """The manifest and what is wrong with it."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        version = data.get("schema_version") if isinstance(data, dict) else None
        data = manifest_of_today(data) | {"log_version": version} if readable(version) else data
        if not isinstance(data, dict) or not any(
            isinstance(data.get(kind), dict) for kind in ("world", "synthesis")
        ):
            raise ValueError("it is not a manifest")
        data = {key: value for key, value in data.items() if value is not None}
    except FileNotFoundError:
        return (
            {},
            (
                "manifest.json is missing: the world, its places and its people are taken from what"
                " happened"
            ),
        )
    except (ValueError, OSError) as error:
        return (
            {},
            (
                f"manifest.json cannot be read ({str(error).splitlines()[0]}): places and people"
                " are taken from what happened"
            ),
        )
    if not readable(version):
        wrote = (data.get("versions") or {}).get("simcounsel", "unknown")
        newer = isinstance(version, int) and version > SCHEMA_VERSION
        way = (
            "install a newer simcounsel"
            if newer
            else f"install the simcounsel that wrote it ({wrote})"
        )
        return (
            data,
            (
                f"the log has version {version}, this simcounsel reads {SCHEMA_VERSION}: some of it"
                f" may be missing; {way}"
            ),
        )
    return data, None
