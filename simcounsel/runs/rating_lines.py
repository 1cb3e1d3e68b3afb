"""Files of ratings: what `rate` keeps beside a run, and `corpus rate` beside a corpus.

INSTRUMENT-TIMESTAMP.unfinished.jsonl    until all of it is measured
INSTRUMENT-TIMESTAMP.jsonl               afterwards

Each holds a head, then calls and measurements as they come, and `finished` at last. Its lines carry
digests (see `call_chain`), and its name says whether the end has to be there: so what was cut off
later is told from what was never written. Files of earlier versions have neither.
"""

import os
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from simcounsel.runs.call_chain import CHAIN, EDITED, MISPLACED, CallCheck, ChainedFile, is_chained
from simcounsel.runs.jsonl import json_lines, parsed_line

MEASUREMENTS = "measurements"
"""Where they are kept in a run's folder."""
HEADS = ("measurement", "rating")
"""What the head of a run's file is, and of a corpus's."""
SUFFIX = ".jsonl"
UNFINISHED = f".unfinished{SUFFIX}"
UNREADABLE = "this line cannot be read"
WHICH = ("dialogue", "who", "tick", "point")
"""What tells a measurement from the others of its file."""
Fields = dict[str, Any]


class RatingLines:
    """A file of a rating, while it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = ChainedFile(path)

    @classmethod
    def fresh(cls, folder: Path, instrument: str) -> "RatingLines":
        """A new one, named after the instrument and now."""
        return cls(folder / f"{instrument}-{datetime.now():%Y%m%d-%H%M%S-%f}{UNFINISHED}")

    def append(self, line: Mapping[str, Any]) -> None:
        """Write a line, on the disk when this returns. OSError when it cannot be written."""
        self._lines.append(line)

    def finish(self) -> None:
        """Say that all is measured, and give it its lasting name. OSError as for `append`."""
        self.append({"kind": "finished"})
        self.settle()

    def settle(self) -> None:
        """Give a finished file its lasting name, if it has not got it. OSError as for `append`."""
        if self.path.name.endswith(UNFINISHED):
            lasting = self.path.with_name(_stem(self.path) + SUFFIX)
            os.replace(self.path, lasting)
            self.path = lasting


def _stem(path: Path) -> str:
    return path.name.removesuffix(UNFINISHED).removesuffix(SUFFIX)


def rating_files(folder: Path) -> list[Path]:
    """The files of ratings in a folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=age)


def age(file: Path) -> tuple[str, str]:
    """By the time in its name, then by name."""
    return _stem(file)[-22:], _stem(file)


def ways_on(folder: Path) -> str:
    """What can be done about a damaged file of ratings."""
    return f"put the file back as it was, or move it out of {folder} and measure again"


class RatingCheck:
    """A file of a rating as it is read. What is wrong with it is known once all `lines` were."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.head: Fields | None = None
        """What is measured, and how; None where it cannot be read."""
        self.finished = False
        """Whether all was measured once."""
        self.chained = False
        """Whether its lines carry digests."""
        self._found: set[tuple[Any, ...]] = set()
        self._bad: list[tuple[int, str]] = []
        self._torn: list[int] = []
        self._count = 0

    @classmethod
    def of(cls, file: Path) -> "RatingCheck":
        """A file read to its end."""
        found = cls(file)
        deque(found.lines(), maxlen=0)
        return found

    def lines(self) -> Iterator[Fields]:
        """What it holds, the head first, without digests and without the lines that are not as they
        were written. Nothing where the head is not, or the file is gone meanwhile.
        """
        try:
            self.chained = is_chained(self.file)
            check = CallCheck(chained=self.chained, whole=True)
            with self.file.open("rb") as lines:
                for self._count, line in enumerate(lines, 1):
                    fields = self._sound(parsed_line(line), check.damage(line))
                    if fields is not None and self._is_of_it(fields):
                        yield fields
        except FileNotFoundError:
            return

    def _sound(self, fields: Fields | None, what: str | None) -> Fields | None:
        """A line that counts; of any other it is kept what is wrong with it."""
        if what == MISPLACED and self._torn:
            self._bad += ((number, UNREADABLE) for number in self._torn)
        elif what:
            self._bad.append((self._count, what))
        if fields is None and not what:
            self._torn.append(self._count)
        else:
            self._torn = []
        if fields is None or what == EDITED:
            return None
        return {key: one for key, one in fields.items() if key not in CHAIN}

    def _is_of_it(self, fields: Fields) -> bool:
        """Take note of a line; whether there is a head that it belongs to."""
        kind = fields.get("kind")
        if kind in HEADS and self.head is None:
            self.head = fields
        self.finished |= kind == "finished"
        if kind == "measured":
            self._found.add(tuple(fields.get(key) for key in WHICH))
        return self.head is not None

    def damages(self) -> list[str]:
        """Where it is not as it was written, each with its line, the first with how many of its
        measurements are missing. Edits of a file without digests are not found.
        """
        found = list(self._bad)
        if self.chained and self.finished:  # a crash leaves nothing behind that
            found += ((number, UNREADABLE) for number in self._torn)
        if not self._count or (self.chained and not self.finished):
            if not self._goes_on:
                found.append((max(1, self._count), "the end of this file is missing"))
        elif not found and (self._missing if self.finished else self.head is None and self._found):
            found.append((1 if self.head is None else self._count, "lines of it are missing"))
        if found:
            found[0] = found[0][0], f"{found[0][1]} ({self._counted()})"
        return [f"{self.file.name}:{number}: {what}" for number, what in found]

    def notes(self) -> list[str]:
        """What is no damage, but should be known."""
        known = self.finished or self.damages()
        return [] if known else [f"{self.file.name}: {self._counted()}"]

    @property
    def measured(self) -> int:
        """How many of its measurements can be read."""
        return len(self._found) if self.head else 0

    @property
    def _goes_on(self) -> bool:
        """Whether its name says that more of it may come."""
        return self.file.name.endswith(UNFINISHED)

    @property
    def _wanted(self) -> int:
        return len((self.head or {}).get("targets") or self._found)

    @property
    def _missing(self) -> int:
        return max(0, self._wanted - len(self._found))

    def _counted(self) -> str:
        """How many of its measurements are there, or missing, in words."""
        there, every = len(self._found), self._wanted
        if self.head is None:
            head = "its first line, which says what was measured, is not there"
            return f"{head}; {there} measurements are left out"
        if self._goes_on or not (self.chained or self.finished):
            return f"not finished: {there} of {every} measurements are there"
        return f"{self._missing} of {every} measurements are missing"


_Known = tuple[tuple[int, int], list[str]]
"""When and how large a file was that was read, and its damages."""


class RatingFolder:
    """The damages of all files of ratings in a folder; a file is read again when it was written
    to.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Path, _Known] = {}

    def damages(self) -> list[str]:
        """As `RatingCheck.damages`, of each file, the oldest first."""
        looked_at = ((file, self._looked_at(file)) for file in rating_files(self._folder))
        self._known = {file: found for file, found in looked_at if found}
        return [damage for _, damages in self._known.values() for damage in damages]

    def _looked_at(self, file: Path) -> _Known | None:
        """None of a file that was renamed just now."""
        try:
            stamp = file.stat().st_mtime_ns, file.stat().st_size
        except FileNotFoundError:
            return None
        known = self._known.get(file)
        return known if known and known[0] == stamp else (stamp, RatingCheck.of(file).damages())


def is_ratings(folder: Path) -> bool:
    """Whether files of ratings lie in a folder, as `corpus rate` leaves them beside a corpus."""
    lines = (line for file in rating_files(folder) for line in json_lines(file))
    return any(line.get("kind") in (*HEADS, "measured") for line in lines)
