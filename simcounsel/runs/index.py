"""Where each line of a log begins, what it is and whom it is about, so that parts of a large log
can be read without the rest.
"""

import json
import re
import threading
from array import array
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simcounsel.runs.chain import Damage, LogCheck, seq_of
from simcounsel.runs.jsonl import parsed_line

Fields = dict[str, Any]
EVENT = re.compile(
    rb'\{"seq":\d+,"tick":(\d+),"minute":-?\d+,"kind":"((?:[^"\\]|\\.)*)"(?:,"(?:who|chat|session)":"((?:[^"\\]|\\.)*)")?'
)
CALL = re.compile(rb'\{"key": ?"[^"]*", ?"tick": ?(\d+|null)(, ?)"who": ?"((?:[^"\\]|\\.)*)"')
"""How a line of events.jsonl, or of calls.jsonl, begins: tick, kind (calls have none) and subject,
enough to know whether to read the rest.
"""
TICK_DIGITS = 10
"""A tick of more digits is no tick."""


class Index:
    """Where each line of a log begins, its tick, its kind (or purpose) and its subject."""

    def __init__(
        self, file: Path, head: re.Pattern[bytes], check: Callable[[], LogCheck] | None = None
    ) -> None:
        """check: makes what the log must pass from its beginning; None where it is none."""
        self.file = file
        self._head = head
        self._new_check = check
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._bad: set[int] = set()
        self._check: LogCheck | None = None
        self._unchecked: list[bytes] = []
        self.end = 0
        self._last = (0, b"")
        self._at = array("Q")
        self._tick = array("i")
        self._kind = array("H")
        self._subject = array("i")
        self._kinds: dict[bytes, int] = {}
        self._subjects: dict[bytes, int] = {}
        self._ended = 0
        self._last_seq = -1

    def refresh(self) -> None:
        """Index what was appended; all again when the file became shorter (a resume dropped a
        tick).
        """
        with self._lock:
            if not self._goes_on():
                self._begin()
            if self._check is None and self._new_check:
                self._check = self._new_check()
            if self.file.is_file():
                self._read_on()

    def _goes_on(self) -> bool:
        """Whether what was indexed still is there: a resume may have cut a tick off and written
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
    def left_out(self) -> int:
        """How many lines cannot be read, or are not where they belong."""
        return len(self._bad)

    def damages(self) -> list[Damage]:
        """Where the log is not as it was written."""
        with self._lock:
            if self._check is None:
                return []
            rest = self._check.rest(self._unchecked)
            return [*self._check.damages, *([rest] if rest else [])]

    @property
    def sound_ticks(self) -> int:
        """How many ticks hold before the first damage."""
        return self._check.sound_ticks if self._check else 0

    def _read_on(self) -> None:
        """One pass over what is new. Written out, since it runs over every line of a large log."""
        match, at, last, checked = self._head.match, self.end, self._last, self._check is not None
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
                if checked:
                    self._unchecked.append(line)
                found = match(line)
                if found and len(found.group(1)) < TICK_DIGITS:
                    tick, kind, subject = found.groups()
                    add_at(at)
                    add_tick(-1 if tick == b"null" else int(tick))
                    add_kind(kinds.setdefault(kind, len(kinds)))
                    add_subject(
                        -1 if subject is None else subjects.setdefault(subject, len(subjects))
                    )
                    if checked and kind == b"tick_ended":
                        self._ended = max(self._ended, int(tick) + 1)
                        self._tick_read(at + len(line))
                elif checked:
                    self._bad.add(at)
                last = at, line
                at += len(line)
        self.end, self._last = at, last

    def _tick_read(self, end: int) -> None:
        """Check the tick that ends there. In a damaged one, what does not go on in order is left
        out.
        """
        assert self._check is not None
        if self._check.tick(self._unchecked):
            at, last_seq = end - sum(map(len, self._unchecked)), self._last_seq
            for line in self._unchecked:
                seq = seq_of(line)
                if seq <= last_seq:
                    self._bad.add(at)
                last_seq = max(seq, last_seq)
                at += len(line)
        self._last_seq = seq_of(self._unchecked[-1])
        self._unchecked.clear()

    def kinds(self) -> frozenset[str]:
        """The kinds of lines that were found so far."""
        with self._lock:
            return frozenset(json.loads(b'"' + kind + b'"') for kind in self._kinds)

    def complete_ticks(self) -> int:
        """How many ticks have ended."""
        return self._ended

    def beyond(self, tick: int) -> int:
        """How many lines there are from that tick on."""
        with self._lock:
            return int((np.array(self._tick) >= tick).sum())

    def lines(
        self, kinds: Collection[str] | None, subject: str | None, since: int, until: int
    ) -> Iterator[tuple[int, Fields | None]]:
        """The lines of ticks in [since, until) that are of these kinds and this subject, each with
        where it begins; None for one that is not JSON.
        """
        found = self._found(kinds, subject, since, until)
        if not found or not self.file.is_file():
            return
        with self.file.open("rb") as lines:
            for at in found:
                if at in self._bad:
                    continue
                lines.seek(at)
                yield at, parsed_line(lines.readline())

    def leave_out(self, at: int) -> None:
        """Count the line that begins there among the damaged."""
        self._bad.add(at)

    def number_of(self, at: int) -> int:
        """The number of the line that begins there, from 1."""
        with self.file.open("rb") as file:
            return file.read(at).count(b"\n") + 1

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
                    [self._kinds[kind] for kind in map(_written, kinds) if kind in self._kinds],
                )
            if subject is not None:
                here &= np.array(self._subject) == self._subjects.get(_written(subject), -2)
            return np.array(self._at)[here].tolist() if len(tick) else []


def _written(text: str) -> bytes:
    """A text as it is between its quotes in a line."""
    return json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
