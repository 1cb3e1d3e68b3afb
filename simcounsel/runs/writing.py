"""The two files of a run that grow, held by one process at a time."""

import logging
import os
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock

from simcounsel.errors import RunError
from simcounsel.locks import taken
from simcounsel.runs.folder import complete_part
from simcounsel.runs.jsonl import end_line, json_bytes, without_secrets
from simcounsel.runs.manifest import Manifest

log = logging.getLogger(__name__)


class Writer:
    """Writes a run's events.jsonl, tick by tick, and its calls.jsonl, call by call."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.dropped: str | None = None
        """What stood after the last complete tick and was dropped; None when nothing did."""
        self._manifest = manifest
        self._events: BinaryIO | None = None
        self._calls: BinaryIO | None = None
        self._lock: FileLock | None = None

    def begin(self) -> int:
        """Take the folder for this process, drop what stands after the last complete tick, and
        return the number of complete ticks. RunError when the folder cannot be written, or another
        process writes it.
        """
        busy = "another process is writing this run; wait for it, or stop it first"
        self._lock = taken(self.folder / "run.lock", busy, RunError)
        keep, dropped, ticks = complete_part(self.folder / "events.jsonl")
        if dropped:
            unit, again = ("wave", "written") if self._manifest.synthesis else ("tick", "lived")
            self.dropped = (
                f"{dropped} bytes of an unfinished {unit} were dropped from events.jsonl; {unit}"
                f" {ticks} is {again} again"
            )
            log.warning("%s: %s", self.folder, self.dropped)
        try:
            self._events = (self.folder / "events.jsonl").open("ab")
            self._events.truncate(keep)
            self._calls = (self.folder / "calls.jsonl").open("ab")
            end_line(self.folder / "calls.jsonl", self._calls)
        except OSError as error:
            raise self._cannot_write(error) from None
        return ticks

    def append(self, lines: list[str]) -> None:
        """Write the lines of a complete tick and flush them to disk. RunError when the disk is
        full; the log then ends with the tick before.
        """
        assert self._events is not None
        end = self._events.tell()
        try:
            self._events.write("".join(lines).encode("utf-8", "surrogatepass"))
            self._events.flush()
            os.fsync(self._events.fileno())
        except OSError as error:
            self._undo(end)
            raise self._cannot_write(error) from None

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
        """Write one call at once, so that a reply that was paid for survives a crash."""
        assert self._calls is not None
        try:
            self._calls.write(json_bytes(without_secrets(call)) + b"\n")
            self._calls.flush()
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
