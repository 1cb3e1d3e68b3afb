"""The two files of a run that grow, held by one process at a time."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock

from simcounsel.disk import end_line
from simcounsel.errors import RunError
from simcounsel.events import Entry
from simcounsel.locks import taken
from simcounsel.record_kinds import RecordKind
from simcounsel.runs.call_chain import CallChain, last_digest
from simcounsel.runs.chain import Chain, LogCheck
from simcounsel.runs.folder import complete_part

log = logging.getLogger(__name__)


class Writer:
    """Writes a run's events.jsonl, tick by tick, and its calls.jsonl, call by call."""

    def __init__(self, folder: Path, kind: RecordKind, start: str) -> None:
        """start: the hash from which the first tick's begins."""
        self.folder = folder
        self.dropped: str | None = None
        """What stood after the last complete tick and was dropped; None when nothing did."""
        self._kind = kind
        self._events: BinaryIO | None = None
        self._calls: BinaryIO | None = None
        self._lock: FileLock | None = None
        self._chain = Chain(start)
        self._call_chain = CallChain()
        self._unsynced_calls = True  # also what an earlier process wrote

    def begin(self) -> int:
        """Take the folder for this process, drop what stands after the last complete tick, and
        return the number of complete ticks. RunError when the log is damaged, the folder cannot be
        written, or another process writes it.
        """
        busy = "another process is writing this run; wait for it, or stop it first"
        self._lock = taken(self.folder / "run.lock", busy, RunError)
        check = LogCheck(self._chain.last)
        keep, dropped, ticks = complete_part(self.folder / "events.jsonl", check)
        self._chain = Chain(check.last_hash or self._chain.last)
        if dropped:
            unit = self._kind.unit
            self.dropped = (
                f"{dropped} bytes of an unfinished {unit} were dropped from events.jsonl;"
                f" {unit} {ticks} is {self._kind.done} again"
            )
            log.warning("%s: %s", self.folder, self.dropped)
        try:
            self._events = (self.folder / "events.jsonl").open("ab")
            self._events.truncate(keep)
            self._calls = (self.folder / "calls.jsonl").open("ab")
            end_line(self.folder / "calls.jsonl", self._calls)
            self._call_chain = CallChain(last_digest(self.folder / "calls.jsonl"))
        except OSError as error:
            raise self._cannot_write(error) from None
        return ticks

    def append(self, tick: Sequence[Entry]) -> list[Entry]:
        """Write a complete tick, its `tick_ended` last, and return it as it was written, with its
        hash. The calls that it rests on are on the disk before it is. RunError when the disk is
        full; the log then ends with the tick before.
        """
        assert self._events is not None and self._calls is not None
        end, before = self._events.tell(), self._chain.last
        closed, lines = self._chain.close(tick)
        try:
            # two waits for the disk: without the first, a power cut could leave events whose calls
            # are gone; without the second, a hole between ticks, which is no end to go on from
            if self._unsynced_calls:
                os.fsync(self._calls.fileno())
                self._unsynced_calls = False
            self._events.write(lines)
            self._events.flush()
            os.fsync(self._events.fileno())
        except OSError as error:
            self._chain = Chain(before)
            self._undo(end)
            raise self._cannot_write(error) from None
        return closed

    def _undo(self, end: int) -> None:
        try:
            if self._events is not None:
                self._events.truncate(end)
        except OSError:
            log.warning(
                "%s: the unfinished tick could not be removed; it is dropped on the next open",
                self.folder,
            )

    def append_call(self, call: dict[str, Any]) -> None:
        """Write one call at once, so that a reply that was paid for survives a crash of the
        process.
        """
        assert self._calls is not None
        try:
            self._calls.write(self._call_chain.line(call))
            self._calls.flush()
            self._unsynced_calls = True
        except OSError as error:
            raise self._cannot_write(error) from None

    def _cannot_write(self, error: OSError) -> RunError:
        return RunError(
            f"{self.folder}: cannot be written ({error.strerror}); free some space, then"
            f" `simcounsel resume {self.folder}`"
        )

    def end(self) -> None:
        """Close the files and let go of the folder."""
        for file in (self._events, self._calls):
            if file is not None:
                try:
                    file.close()
                except OSError as error:
                    log.warning("%s: %s", self.folder, error.strerror)
        self._events = self._calls = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None
