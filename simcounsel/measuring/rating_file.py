"""The file of one rating of a run (see `runs.rating_lines`): begun, written as answers come, gone
on with after it was broken off. `stopped` is in it where too many answers were unusable.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.events import Measured
from simcounsel.locks import taken
from simcounsel.runs.measurements import FOLDER, measurements_in
from simcounsel.runs.rating_lines import RatingCheck, RatingLines, rating_files, ways_on

LOCK = "rate.lock"
OF_THE_FILE = ("round", "created")
"""What a head says of its file; all else is what is measured, and how."""
Fields = dict[str, Any]
Point = tuple[str, int, str]
"""Of a measurement: who, tick, and what the moment is called."""


class RatingFile:
    """Where a rating is kept. One that was begun in the same way and is not finished is gone on
    with: what was measured stays, and replies that came are not asked for again.

    about: what is measured, and how, as its head says it. round: the first number from 0 that no
    other file of this instrument has; it goes into every seed, so that a second rating is a retest.
    finished: the files of what is measured in the same way to the end. RunError when a file of this
    instrument is not as it was written.
    """

    def __init__(self, run: Path, about: Fields) -> None:
        self.folder = run / FOLDER
        self.round = 0
        self.finished: tuple[Path, ...] = ()
        self._about = about
        self._lines: RatingLines | None = None
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
        if self._lines is not None:
            return
        self._lines = RatingLines.fresh(self.folder, self._about["instrument"])
        head = {"kind": "measurement"} | self._about
        created = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
        self.append(head | {"round": self.round, "created": created})

    @property
    def path(self) -> Path | None:
        """Where it is kept; None before it is begun."""
        return self._lines.path if self._lines else None

    def measured(self) -> dict[Point, Measured]:
        """What is measured already. What rests on an answer unusable is asked again."""
        found = measured_in(self.path) if self.path else {}
        return {point: one for point, one in found.items() if not one.fallback}

    def answered(self) -> dict[str, Fields]:
        """Replies that came, by key."""
        return {
            str(line["key"]): line
            for line in (RatingCheck(self.path).lines() if self.path else ())
            if line.get("kind") == "call"
            and (line.get("reply") is not None or line.get("vectors"))
            and not line.get("problem")
        }

    def append(self, line: Fields) -> None:
        """Write a line at once. RunError when the disk is full, or it cannot be written."""
        with self._writing() as lines:
            lines.append(line)

    def stop(self, why: str) -> None:
        """Mark that it was given up because too many answers were unusable."""
        self.append({"kind": "stopped", "why": why, "at": f"{datetime.now():%Y-%m-%d %H:%M:%S}"})

    def finish(self) -> None:
        """All is measured. RunError as for `append`."""
        with self._writing() as lines:
            lines.finish()

    @contextmanager
    def _writing(self) -> Iterator[RatingLines]:
        assert self._lines is not None
        try:
            yield self._lines
        except OSError as error:
            if not self._lines.path.exists():
                raise self._unwritable(error) from None
            raise RunError(
                f"{self.path}: cannot be written ({error.strerror}); free some space"
            ) from None

    def _look(self) -> None:
        """Which file is gone on with, if there is one."""
        name = f"{self._about['instrument']}-"
        files = [one for one in rating_files(self.folder) if one.name.startswith(name)]
        self._lines, self.finished = None, ()
        rounds: set[int] = set()
        begun: int | None = None
        for file in files:
            check = RatingCheck.of(file)
            if damages := check.damages():
                raise RunError(f"{self.folder}/{damages[0]}; {ways_on(self.folder)}")
            if check.head is None:
                continue
            rounds.add(number := int(check.head.get("round", 0)))
            if not self._same(check.head):
                continue
            if check.finished:
                self.finished += (self._settled(file),)
            else:  # the last of them, if there are several
                self._lines, begun = RatingLines(file), number
        free = next(one for one in count() if one not in rounds)
        self.round = free if begun is None else begun

    def _settled(self, file: Path) -> Path:
        """A finished file; one that a kill kept from its lasting name has got it now."""
        lines = RatingLines(file)
        if self._held:
            lines.settle()
        return lines.path

    def _same(self, head: Fields) -> bool:
        about = {key: value for key, value in head.items() if key not in ("kind", *OF_THE_FILE)}
        return head.get("kind") == "measurement" and about == self._about

    def _unwritable(self, error: OSError) -> RunError:
        return RunError(
            f"{self.folder}: cannot be written ({error.strerror}); copy the run to where you may"
            " write"
        )


def measured_in(file: Path) -> dict[Point, Measured]:
    """The measurements of a file."""
    return {
        (one.measured.who, one.tick, one.measured.point): one.measured
        for one in measurements_in(file)
    }
