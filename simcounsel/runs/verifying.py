"""What holds of a run as it is on disk, and what does not: its manifest, the hashes and numbers
of its log, and the calls and vectors that its events rest on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from simcounsel.errors import RunError
from simcounsel.intake import file_bytes, json_data
from simcounsel.record_kinds import is_record, records_in
from simcounsel.runs import rating_lines
from simcounsel.runs.call_chain import damaged_calls
from simcounsel.runs.chain import LogCheck, manifest_damage, other_version, tick_of, ticks_in
from simcounsel.runs.folder import complete_part, ways_on
from simcounsel.runs.jsonl import parsed_line
from simcounsel.runs.log import Log
from simcounsel.runs.rating_lines import MEASUREMENTS, RatingCheck, is_ratings, rating_files
from simcounsel.runs.record import Record, open_record
from simcounsel.runs.run import Run
from simcounsel.runs.sources import recordings, vectors_lost


@dataclass(frozen=True, kw_only=True)
class RatingsVerdict:
    """What was found in a folder of ratings."""

    folder: Path
    files: int
    measurements: int
    """That can be read."""
    damages: tuple[str, ...]
    """What does not hold, each with its file and line."""
    notes: tuple[str, ...]
    """What is no damage, but should be known."""

    def lines(self) -> Iterator[str]:
        """For people: a line on the whole, then one for each thing found."""
        places = f"{len(self.damages)} place{'s' if len(self.damages) > 1 else ''}"
        state = f"damaged in {places}" if self.damages else "holds"
        yield f"{self.folder}  {state}: {self.measurements} measurements in {self.files} files"
        yield from (f"  {damage}" for damage in self.damages)
        yield from self.remedies()
        yield from (f"  note: {note}" for note in self.notes)

    def remedies(self) -> Iterator[str]:
        """What can be done about its damages."""
        if self.damages:
            yield f"  remedy: {rating_lines.ways_on(self.folder)}"


@dataclass
class Verdict:
    """What was found in one run."""

    folder: Path
    checked: bool = True
    """Whether its log has this version; else that is what `damages` says, and nothing more."""
    damages: list[str] = field(default_factory=list)
    """What does not hold, each with its file and line."""
    notes: list[str] = field(default_factory=list)
    """What is no damage, but should be known."""
    ticks: int = 0
    """That are complete."""
    sound_ticks: int = 0
    """That hold, from the beginning, before the first damage of the log."""
    log_damaged: bool = False
    """Whether the log itself is not as it was written."""
    events: int = 0
    calls: int = 0
    """In its own calls.jsonl."""
    memories: int = 0
    rated: RatingsVerdict | None = None
    """On what was measured afterwards; None where that was not looked at."""

    def lines(self) -> Iterator[str]:
        """For people: a line on the whole, then one for each thing found."""
        counts = (
            f"{self.ticks} ticks, {self.events} events, {self.calls} calls, {self.memories}"
            " memories"
        )
        if self.rated and self.rated.files:
            counts += f", {self.rated.measurements} measurements made afterwards"
        if not self.checked:
            yield f"{self.folder}  cannot be checked"
        elif not self.damages:
            yield f"{self.folder}  holds: {counts}"
        else:
            places = f"{len(self.damages)} place{'s' if len(self.damages) > 1 else ''}"
            yield f"{self.folder}  damaged in {places}: {counts}"
        yield from (f"  {damage}" for damage in self.damages)
        if self.log_damaged:
            yield f"  remedy: {ways_on(self.folder, self.sound_ticks)}"
        if self.rated:
            yield from self.rated.remedies()
        yield from (f"  note: {note}" for note in self.notes)


R = TypeVar("R", bound=Record[Any])


@dataclass
class _Rests:
    """What the events of complete ticks rest on."""

    calls: dict[str, int] = field(default_factory=dict)
    """Keys of calls, each with the first line that names it."""
    memories: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Texts that were laid down, each with the memory's id and line."""
    forked: tuple[str | None, int] | None = None
    """The last fork's mark of what decides it, and its line."""


def open_checked(folder: str | Path, *, damaged: bool = False) -> Run:
    """A run of which manifest and log hold. RunError names the first place that does not, unless it
    may be `damaged`: then `Run.damages` says where.
    """
    return checked(Run.open(folder, damaged=damaged))


def checked(run: R) -> R:
    """A record of any kind of which manifest and log hold; else as `open_checked`."""
    if run.damaged:
        log = Log(run.folder)
        log.refresh()
        run.damages = tuple(f"{run.folder}/{damage}" for damage in log.all_damages())
    else:
        check_log(run)
    return run


def check_log(run: Record[Any]) -> None:
    """RunError names the first place of its log or calls that is not as it was written."""
    complete_part(run.folder / "events.jsonl", run.check())
    for _ in run.calls():  # which looks at each
        pass


def verdicts_in(place: Path) -> Iterator[Verdict | RatingsVerdict]:
    """Of the record in that folder, or of all records and ratings of corpora in it, or of the
    ratings that it holds. RunError when there is none.
    """
    if is_record(place):
        yield verify(place)
        return
    if is_ratings(place):
        yield verify_ratings(place)
        return
    inner = sorted(place.iterdir()) if place.is_dir() else []
    runs = records_in(place)
    if not runs:
        raise RunError(f"{place}: no run there, and no folder of runs")
    yield from map(verify, runs)
    yield from (verify_ratings(one) for one in inner if one not in runs and is_ratings(one))


def verify(folder: Path) -> Verdict:
    """What holds of a record. Nothing is written; one that still grows may be asked too."""
    manifest = Log(folder).manifest
    if manifest and (other := other_version(manifest)):
        return Verdict(folder, checked=False, damages=[other])
    found = Verdict(folder)
    calls_then = _size(folder / "calls.jsonl")  # a run that is under way goes on meanwhile
    run = _opened(found)
    rests = _log(found, run)
    found.rated = verify_ratings(folder / MEASUREMENTS)
    found.damages += found.rated.damages
    found.notes += found.rated.notes
    if run is None:
        return found
    if run.manifest.parent is not None and run.manifest.parent.start_hash:
        mark = rests.forked
        if mark is None or mark[0] != run.own_hash:
            found.damages.append(
                f"{folder / 'events.jsonl'}:{mark[1] if mark else 1}: the mark of the fork does not"
                f" fit {run.kind.manifest_in(folder).name}"
            )
    _calls(found, run, rests, calls_then)
    return found


def verify_ratings(folder: Path) -> RatingsVerdict:
    """What holds of the ratings in a folder. Nothing is written."""
    found = [RatingCheck.of(file) for file in rating_files(folder)]
    notes = [f"{folder}/{note}" for one in found for note in one.notes()]
    if plain := sum(not one.chained for one in found):
        notes.append(
            f"{folder}: {plain} of {len(found)} files have no digests, since an earlier version"
            " wrote them: edits of them are not found"
        )
    return RatingsVerdict(
        folder=folder,
        files=len(found),
        measurements=sum(one.measured for one in found),
        damages=tuple(f"{folder}/{damage}" for one in found for damage in one.damages()),
        notes=tuple(notes),
    )


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def _opened(found: Verdict) -> Record[Any] | None:
    """The run; None, and what is wrong, when its manifest cannot be read."""
    try:
        run = open_record(found.folder, damaged=True)
    except RunError as error:
        found.damages.append(str(error))
        return None
    file = run.kind.manifest_in(found.folder)
    if damage := manifest_damage(json_data(file_bytes(file))):
        found.damages.append(f"{file}: {damage}")
    return run


def _log(found: Verdict, run: Record[Any] | None) -> _Rests:
    """Go through the log."""
    rests, file = _Rests(), found.folder / "events.jsonl"
    check = run.check() if run else LogCheck(None)
    if not file.is_file():
        found.damages.append(f"{file}: missing")
        return rests
    number = 1
    with file.open("rb") as lines:
        for tick, complete in ticks_in(lines):
            if damage := check.tick(tick) if complete else check.rest(tick):
                found.damages.append(f"{file}:{damage.line}: {damage.what}")
                found.log_damaged = True
            if not complete:
                size = sum(map(len, tick))
                found.notes.append(
                    f"{size} bytes at the end belong to a tick that was not finished; `simcounsel"
                    " resume` drops them and runs it again"
                )
                break
            for line in tick:
                _rest(rests, parsed_line(line) or {}, number)
                number += 1
            found.ticks = tick_of(tick[-1]) + 1
    found.events, found.memories = number - 1, len(rests.memories)
    found.sound_ticks = check.sound_ticks
    return rests


def _rest(rests: _Rests, event: dict[str, Any], number: int) -> None:
    """What one event rests on."""
    memory = event.get("memory") if event.get("kind") == "remembered" else None
    for key in (*event.get("calls", ()), *(memory or {}).get("calls", ())):
        rests.calls.setdefault(key, number)
    if memory:
        rests.memories.setdefault(memory.get("text"), (memory.get("id"), number))
    elif event.get("kind") == "forked":
        rests.forked = event.get("start_hash"), number


def _calls(found: Verdict, run: Record[Any], rests: _Rests, calls_then: int) -> None:
    """Go through the calls that the run rests on."""
    keys: set[str] = set()
    texts: set[str] = set()
    last_tick = -1
    try:
        *sources, _ = recordings(run)
    except RunError as error:
        found.damages.append(f"{run.kind.manifest_in(found.folder)}: it replays a run: {error}")
        return
    for recorded in (call for source in sources for call in source.calls()):
        _take(recorded, keys, texts)
    file = found.folder / "calls.jsonl"
    found.damages.extend(
        f"{file}:{number}: {damage}"
        for number, damage in damaged_calls(file, chained=run.manifest.chained_calls)
    )
    unreadable: list[int] = []
    for number, end, call in _numbered(file):
        if call is None:
            unreadable.append(number)
            continue
        _take(call, keys, texts)
        found.calls += 1
        own = not call.get("copied") and not call.get("spare") and call.get("verb") != "embed"
        if own and end <= calls_then:
            last_tick = max(last_tick, call.get("tick") or 0)
    _missing(found, rests, keys, texts, unreadable)
    coming = run.next_tick(found.ticks) if found.ticks else 0
    if last_tick > coming:
        found.damages.append(
            f"{found.folder / 'events.jsonl'}: ends before tick {coming}, but calls.jsonl holds"
            f" calls of tick {last_tick}: its end is gone; `simcounsel resume {found.folder}` runs"
            " it again with the replies that are there"
        )


def _take(call: dict[str, Any], keys: set[str], texts: set[str]) -> None:
    """Note a call's key, and the texts whose vectors it brought."""
    if call.get("given_up"):
        return
    keys.add(str(call.get("key")))
    if call.get("purpose") == "remember" and not vectors_lost(call):
        texts.update(call.get("texts") or ())


def _numbered(file: Path) -> Iterator[tuple[int, int, dict[str, Any] | None]]:
    """Each line's number, where it ends, and what it holds; None when it cannot be read."""
    if not file.is_file():
        return
    end = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            end += len(line)
            fields = parsed_line(line)
            yield number, end, fields if fields and "key" in fields else None


def _missing(
    found: Verdict, rests: _Rests, keys: set[str], texts: set[str], unreadable: list[int]
) -> None:
    """Say which calls and vectors are not there."""
    calls, events = found.folder / "calls.jsonl", found.folder / "events.jsonl"
    lost = [(key, line) for key, line in rests.calls.items() if key not in keys]
    if lost:
        key, line = lost[0]
        found.damages.append(
            f"{events}:{line}: comes from call {key}, which is not in calls.jsonl"
            + (f", and {len(lost) - 1} more calls are not" if len(lost) > 1 else "")
            + "; put back the file as it was, else the run cannot be replayed"
        )
    vectors = [told for text, told in rests.memories.items() if text not in texts]
    if vectors:
        id, line = vectors[0]
        found.damages.append(
            f"{events}:{line}: the vector of {id} is not in calls.jsonl"
            + (f", and {len(vectors) - 1} more are not" if len(vectors) > 1 else "")
            + "; `simcounsel resume` computes them again"
        )
    if not calls.is_file():
        found.notes.append(f"{calls}: missing")
    for number in unreadable:
        if lost or vectors:
            found.damages.append(f"{calls}:{number}: this line cannot be read")
        else:
            found.notes.append(
                f"{calls}:{number}: this line was cut short, as by a crash; nothing rests on it"
            )
