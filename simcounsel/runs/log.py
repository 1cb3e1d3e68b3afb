"""Reading a run that may still grow, be cut short or be half deleted: an index of its log, and
parts of it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from simcounsel.errors import RunError
from simcounsel.events import KINDS, Entry, parse_entry
from simcounsel.intake import file_bytes, json_data
from simcounsel.record_kinds import RecordKind, kind_of
from simcounsel.runs.call_chain import CallCheck, FollowedCalls
from simcounsel.runs.calls import Call, recorded
from simcounsel.runs.chain import LogCheck, chain_start, manifest_damage, other_version
from simcounsel.runs.folder import damage_text
from simcounsel.runs.index import CALL, EVENT, Index
from simcounsel.runs.rating_lines import MEASUREMENTS, RatingFolder

Fields = dict[str, Any]
T = TypeVar("T")
OBJECTS = ("models", "prompts", "versions", "parent")
"""Parts of a manifest that hold others; what else is there is left out."""


class Log:
    """A run's folder as far as it can be read.

    Only complete ticks are shown: what a crash left of a tick is run again by `resume`.
    `problems` says in words what is missing or damaged.
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        """strict: a damaged line is a RunError that names it, and is not left out."""
        self.folder = folder
        self.kind = kind_of(folder)
        self.strict = strict
        self.name = folder.name
        self.ticks = 0
        self._manifest: Fields | None = None
        self._manifest_problem: str | None = None
        self._stamp: tuple[int, int] | None = None
        self._replayed: list[Log] | None = None
        self._written: Fields = {}
        self._index = Index(folder / "events.jsonl", EVENT, self._new_check)
        self._calls = Index(folder / "calls.jsonl", CALL)
        self._followed = FollowedCalls(folder / "calls.jsonl")
        self._rated = RatingFolder(folder / MEASUREMENTS)

    @property
    def manifest(self) -> Fields:
        """The manifest as it was written; empty when it is missing or damaged."""
        file = self.kind.manifest_in(self.folder)
        if self._manifest is None or _stamp(file) != self._stamp:
            self._stamp = _stamp(file)
            found = _read_manifest(file, self.kind)
            self._written, self._manifest, self._manifest_problem = found
        return self._manifest

    @property
    def foreign_kinds(self) -> frozenset[str]:
        """Kinds of events in it that this version does not know: other packages' own."""
        return self._index.kinds() - KINDS

    @property
    def size(self) -> int:
        """Of the log in bytes, as far as it was taken in by `refresh`."""
        return self._index.end

    def refresh(self) -> None:
        """Take in what was written since the last time."""
        self._index.refresh()
        self.ticks = self._index.complete_ticks()
        if self.strict and (damages := self._index.damages()):
            file = self.folder / "events.jsonl"
            raise RunError(damage_text(file, damages[0], self.sound_ticks))

    def damages(self) -> list[str]:
        """Where manifest, log and calls are not as they were written, each with its file and line;
        of the log as far as it was taken in by `refresh`. [] of a log of another version, whose
        form is not known.
        """
        if self.manifest and other_version(self.manifest):
            return []
        changed = manifest_damage(self._written) if self.manifest else None
        return [
            *([f"{self.kind.manifest_in(self.folder).name}: {changed}"] if changed else []),
            *(f"events.jsonl:{one.line}: {one.what}" for one in self._index.damages()),
            *(f"calls.jsonl:{line}: {what}" for line, what in self._damaged_calls()),
        ]

    def damaged_measurements(self) -> list[str]:
        """Where what was measured afterwards is not as it was written, likewise."""
        return [f"{MEASUREMENTS}/{one}" for one in self._rated.damages()]

    def all_damages(self) -> list[str]:
        """Both."""
        return self.damages() + self.damaged_measurements()

    def _damaged_calls(self) -> list[tuple[int, str]]:
        return self._followed.damages() if self.manifest.get("chained_calls") else []

    @property
    def sound_ticks(self) -> int:
        """How many ticks hold before the first damage."""
        return self._index.sound_ticks

    def _new_check(self) -> LogCheck:
        start = chain_start(self._written, self.kind.about) if self.manifest else None
        return LogCheck(start)

    def problems(self) -> list[str]:
        """What is missing or damaged, in words."""
        found = [self._manifest_trouble()] if self._manifest_problem else []
        if not (self.folder / "events.jsonl").is_file():
            found.append("events.jsonl is missing: nothing that happened can be shown")
        if damages := self.all_damages():
            more = f"; {len(damages)} places in all" if len(damages) > 1 else ""
            found.append(damages[0] + more)
        if self._index.left_out:
            found.append(
                f"lines of events.jsonl that cannot be read or are out of order, and are left out:"
                f" {self._index.left_out}"
            )
        beyond = self._index.beyond(self.ticks)
        if beyond:
            found.append(
                f"the last {beyond} events belong to a {self.kind.unit} that was not finished;"
                f" `simcounsel resume` {self.kind.again} it again"
            )
        if not (self.folder / "calls.jsonl").is_file():
            found.append("calls.jsonl is missing: prompts and replies cannot be shown")
        return found

    def _manifest_trouble(self) -> str:
        """What is wrong with the manifest, and what follows for what is shown."""
        if self.manifest:
            return str(self._manifest_problem)
        there = self.kind.manifest_in(self.folder).is_file()
        return f"{self._manifest_problem}: {self.kind.lost[not there]}"

    def fields(
        self,
        kinds: Collection[str] | None = None,
        *,
        subject: str | None = None,
        since_tick: int = 0,
        until_tick: int | None = None,
    ) -> Iterator[Fields]:
        """Events of complete ticks in order, as dictionaries: for what reads most of a large log,
        since a typed event takes three times as long.

        subject: only those that begin with this `who`, `chat` or `session`. until_tick: the first
        tick not wanted.
        """
        found = self._lines(kinds, subject, since_tick, until_tick)
        return (fields for _, fields in found)

    def entries(
        self,
        kinds: Collection[str] | None = None,
        *,
        subject: str | None = None,
        since_tick: int = 0,
        until_tick: int | None = None,
        where: Callable[[Fields], bool] | None = None,
    ) -> Iterator[Entry]:
        """The same events, typed; what does not read as an event is left out and counted among the
        problems.

        where: only those of which this is true.
        """
        found = self._lines(kinds, subject, since_tick, until_tick)
        return self._read(parse_entry, ((at, one) for at, one in found if not where or where(one)))

    def read(
        self,
        event_of: Callable[[Fields], T],
        kinds: Collection[str] | None = None,
        *,
        subject: str | None = None,
        since_tick: int = 0,
        until_tick: int | None = None,
    ) -> Iterator[T]:
        """The same events as `event_of` makes them, which raises a ValueError for one that is
        damaged.
        """
        return self._read(event_of, self._lines(kinds, subject, since_tick, until_tick))

    def _read(
        self, event_of: Callable[[Fields], T], lines: Iterable[tuple[int, Fields]]
    ) -> Iterator[T]:
        for at, fields in lines:
            try:
                yield event_of(fields)
            except (ValueError, KeyError, TypeError) as error:
                self._leave_out(at, error)

    def _lines(
        self, kinds: Collection[str] | None, subject: str | None, since: int, until: int | None
    ) -> Iterator[tuple[int, Fields]]:
        last = self.ticks if until is None else min(self.ticks, until)
        for at, fields in self._index.lines(kinds, subject, since, last):
            if fields is None:
                self._leave_out(at, "it is not JSON")
            elif fields.get("kind"):
                yield at, fields

    def _leave_out(self, at: int, error: object) -> None:
        """Count a damaged line, or raise the error that names it."""
        if self.strict:
            file, number = self.folder / "events.jsonl", self._index.number_of(at)
            raise RunError(f"{file}:{number}: not an event ({str(error).splitlines()[0]})")
        self._index.leave_out(at)

    def all_calls(self) -> Iterator[Fields]:
        """All that its own calls.jsonl records, in its order; what cannot be read is left out."""
        return recorded(self.folder / "calls.jsonl", CallCheck(chained=False))

    def calls(self, tick: int, who: str | None = None) -> Iterator[Call]:
        """What was asked of models in a tick, in the runs that it replays first; of what was broken
        off and asked again the request that was answered.
        """
        if self._replayed is None:
            self._replayed = list(self._sources(set()))
        for log in self._replayed:
            log._calls.refresh()
            lines = log._calls.lines(None, who, tick, tick + 1)
            calls = [call for _, fields in lines if fields and (call := Call.read(fields))]
            answered = {call.key for call in calls if not call.given_up}
            yield from (call for call in calls if not (call.given_up and call.key in answered))

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


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        return file.stat().st_mtime_ns, file.stat().st_size
    except OSError:
        return None


def _read_manifest(file: Path, kind: RecordKind) -> tuple[Fields, Fields, str | None]:
    """The manifest as it is there, what of it is used, and why it cannot be read."""
    try:
        written = data = json_data(file_bytes(file))
        if not isinstance(data, dict) or not isinstance(data.get(kind.about), dict):
            raise ValueError("it is not a manifest")
        data = {
            key: value
            for key, value in data.items()
            if value is not None and (isinstance(value, dict) or key not in (kind.about, *OBJECTS))
        }
    except FileNotFoundError:
        return {}, {}, f"{file.name} is missing"
    except (ValueError, OSError) as error:
        return {}, {}, f"{file.name} cannot be read ({str(error).splitlines()[0]})"
    other = other_version(data)
    return written, data, f"some of it may be missing: {other}" if other else None
