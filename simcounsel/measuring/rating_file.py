"""The file of one rating: begun, written as answers come, gone on with after it was broken off.

RUN/measurements/INSTRUMENT-TIMESTAMP.jsonl
    a head; calls and `measured` lines as they come, `stopped` where too many answers were of no
    use; `finished` at last
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.events import Measured
from simcounsel.locks import taken
from simcounsel.runs.jsonl import append_line, json_lines
from simcounsel.runs.measurements import FOLDER, measurements_in

LOCK = "rate.lock"
OF_THE_FILE = ("round", "created")
"""What a head says of its file; all else is what is measured, and how."""
Fields = dict[str, Any]
Point = tuple[str, int, str]
"""Of a measurement: who, tick, and what the moment is called."""


class RatingFile:
    """Where a rating is kept. One that was begun in the same way and is not finished is gone on
    with: what was measured stays, and replies that came are not asked for again.

    about: what is measured, and how, as its head says it. round: how many files of this instrument
    there were before; it goes into every seed, so that a second rating is a retest. finished: how
    many files there are of what is measured in the same way to the end.
    """

    def __init__(self, run: Path, about: Fields) -> None:
        self.folder = run / FOLDER
        self.path: Path | None = None
        self.round = self.finished = 0
        self._about = about
        self._held = False
        self._look()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else measures this run meanwhile. RunError when somebody does, or nothing can be
        written.
        """
        if self._held:
            yield
            return
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None
        busy = "another process measures this run; wait for it, or stop it first"
        lock = taken(self.folder / LOCK, busy, RunError, "copy the run to where you may write")
        self._held = True
        try:
            self._look()
            yield
        finally:
            self._held = False
            lock.release()

    def begin(self) -> None:
        """Begin it, if it is not gone on with."""
        if self.path is not None:
            return
        now = datetime.now()
        self.path = self.folder / f"{self._about['instrument']}-{now:%Y%m%d-%H%M%S-%f}.jsonl"
        head = {"kind": "measurement"} | self._about
        self.append(head | {"round": self.round, "created": f"{now:%Y-%m-%d %H:%M:%S}"})

    def measured(self) -> dict[Point, Measured]:
        """What is measured already. What rests on an answer of no use is asked anew."""
        found = measurements_in(self.path) if self.path else ()
        return {
            (one.measured.who, one.tick, one.measured.point): one.measured
            for one in found
            if not one.measured.fallback
        }

    def answered(self) -> dict[str, Fields]:
        """Replies that came, by key."""
        return {
            str(line["key"]): line
            for line in (json_lines(self.path) if self.path else ())
            if line.get("kind") == "call"
            and (line.get("reply") is not None or line.get("vectors"))
            and not line.get("problem")
        }

    def append(self, line: Fields) -> None:
        """Write a line at once. RunError when the disk is full, or it cannot be written."""
        assert self.path is not None
        try:
            append_line(self.path, line)
        except OSError as error:
            if not self.path.exists():
                raise self._unwritable(error) from None
            raise RunError(
                f"{self.path}: cannot be written ({error.strerror}); free some space"
            ) from None

    def stop(self, why: str) -> None:
        """Mark that it was given up because too many answers were of no use."""
        self.append({"kind": "stopped", "why": why, "at": f"{datetime.now():%Y-%m-%d %H:%M:%S}"})

    def finish(self) -> None:
        """All is measured: the same command is a retest from now on."""
        self.append({"kind": "finished"})

    def _look(self) -> None:
        """Which file is gone on with, if there is one."""
        files = sorted(self.folder.glob(f"{self._about['instrument']}-*.jsonl"))
        self.path, self.round, self.finished = None, len(files), 0
        for file in files:
            head = next(json_lines(file), {})
            if not self._same(head):
                continue
            if any(line.get("kind") == "finished" for line in json_lines(file)):
                self.finished += 1
            else:  # the last of them, if there are several
                self.path, self.round = file, int(head["round"])

    def _same(self, head: Fields) -> bool:
        about = {key: value for key, value in head.items() if key not in ("kind", *OF_THE_FILE)}
        return head.get("kind") == "measurement" and about == self._about

    def _unwritable(self, error: OSError) -> RunError:
        return RunError(
            f"{self.folder}: cannot be written ({error.strerror}); copy the run to where you may"
            " write"
        )
