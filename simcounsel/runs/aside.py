"""An earlier tick of a run, run again: what came after is moved aside, never deleted.

RUN/aside/N/events.jsonl, calls.jsonl      the ticks that were moved, in the order of the moves
RUN/aside/N/measurements, interviews       what was measured and asked in them
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.locks import taken
from simcounsel.runs.call_chain import CallChain
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.jsonl import json_lines, parsed_line
from simcounsel.runs.record import Record

FOLDER = "aside"
CALLS = "calls.jsonl"
GROWN = ("events.jsonl", CALLS)
BESIDE = ("measurements", "interviews")
INDEX = "memory"


def rewind(run: Record[Any], tick: int) -> Path:
    """Move the events and calls of a tick and of all after it aside, and what was
    measured or asked there; drop the index of memories, which is made again. Return where to.
    RunError when there is no such tick, or another process writes the run.
    """
    _check(run, tick)
    folder = run.folder
    busy = "another process is writing this run; wait for it, or stop it first"
    lock = taken(folder / "run.lock", busy, RunError)
    try:
        number = 1 + max((int(one.name) for one in (folder / FOLDER).glob("[0-9]*")), default=0)
        aside = folder / FOLDER / str(number)
        aside.mkdir(parents=True)
        # events first: calls that no event rests on do no harm, the contrary would
        for name in GROWN:
            if (folder / name).is_file():
                calls = CallChain() if name == CALLS and run.manifest.chained_calls else None
                _split(folder / name, aside / name, tick, calls)
        for name in BESIDE:
            for file in sorted((folder / name).glob("*.jsonl")):
                if any((line.get("tick") or 0) >= tick for line in json_lines(file)):
                    (aside / name).mkdir(exist_ok=True)
                    file.replace(aside / name / file.name)
        shutil.rmtree(folder / INDEX, ignore_errors=True)
        return aside
    except OSError as error:
        raise RunError(f"{folder}: cannot be written ({error.strerror}); free some space") from None
    finally:
        lock.release()


def calls_aside(run: Record[Any]) -> Iterator[dict[str, Any]]:
    """The recorded calls that were moved aside: they were paid for too."""
    for file in sorted((run.folder / FOLDER).glob("*/calls.jsonl")):
        yield from json_lines(file)


def _check(run: Record[Any], tick: int) -> None:
    done, parent = complete_ticks(run.folder), run.manifest.parent
    for _ in run.calls():  # which looks at each, before it is linked again
        pass
    unit = run.kind.unit
    if not 0 <= tick <= done:
        raise RunError(
            f"{run.folder}: no {unit} {tick} to begin again from; choose one from 0 to {done}"
        )
    if parent is not None and tick < parent.at_tick:
        raise RunError(
            f"{run.folder}: {unit} {tick} is of the past that it shares with {parent.run}; choose"
            f" one from {parent.at_tick}, or fork {parent.run} --at {max(tick, 1)}"
        )


def _split(file: Path, later: Path, tick: int, chain: CallChain | None) -> None:
    """The lines of that tick and later into another file, the others stay; both are on the disk
    before the first is replaced. chain: by which the calls that stay are linked again.
    """
    part = file.with_name(f"{file.name}.part")
    with file.open("rb") as lines, part.open("wb") as kept, later.open("wb") as moved:
        for line in lines:
            read = parsed_line(line) or {}
            if isinstance(at := read.get("tick"), int) and at >= tick:
                moved.write(line)
            else:
                kept.write(chain.line(read) if chain and read else line)
        for written in (kept, moved):
            written.flush()
            os.fsync(written.fileno())
    part.replace(file)
