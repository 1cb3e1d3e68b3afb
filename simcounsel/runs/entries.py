"""The events of a log in order, checked as they are read."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from simcounsel.errors import RunError
from simcounsel.events import Entry, parse_entry
from simcounsel.runs.chain import LogCheck, tick_of, ticks_in
from simcounsel.runs.folder import damage_text
from simcounsel.runs.jsonl import parsed_line


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
