"""The digests by which calls.jsonl can be verified: each line ends with the beginning of the
digest of the line before (`after`) and a digest over all of itself, so that an edited line is
found, and one that was doubled, moved or taken out.

What a crash cut short cannot be read and is no damage by itself: the next line goes on from the
last whole one before it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simcounsel.runs.jsonl import append_bytes, json_bytes, parsed_line, without_secrets

EDITED = "this call is not as it was written"
MISPLACED = "this call does not follow the one before: calls were doubled, moved or taken out"
_SHORT = 16
"""So many digits of a digest name the line before."""
_END = re.compile(rb', ?"after": ?"([0-9a-f]{16}|)","digest":"([0-9a-f]{64})"\}\n?\Z')
"""With blanks, as lines with numbers beyond 64 bits were written before."""
_LENGTH = len(b', "after": "","digest":""}\n') + _SHORT + 64


class CallChain:
    """Makes lines of calls, one after the other."""

    def __init__(self, last: str = "") -> None:
        """last: the digest of the line before."""
        self.last = last

    def line(self, call: Mapping[str, Any]) -> bytes:
        """A call as its line, with its keys and passwords hidden."""
        told = {key: one for key, one in call.items() if key not in ("after", "digest")}
        begun = json_bytes(without_secrets(told) | {"after": self.last[:_SHORT]})[:-1]
        self.last = hashlib.sha256(begun).hexdigest()
        return b'%s,"digest":"%s"}\n' % (begun, self.last.encode())


def append_chained(file: Path, *lines: Mapping[str, Any]) -> None:
    """Write objects as chained lines at the end of a file, on the disk when this returns. OSError
    when it cannot be written.
    """
    chain = CallChain(last_digest(file))
    append_bytes(file, b"".join(chain.line(line) for line in lines))


class CallCheck:
    """Follows a calls.jsonl from its beginning and finds which lines are not as they were
    written.
    """

    def __init__(self, *, chained: bool) -> None:
        """chained: whether the run's lines carry digests; without, nothing is checked."""
        self._chained = chained
        self._last: bytes | None = b""
        """The digest of the line before; None where that one tells none."""

    def damage(self, line: bytes) -> str | None:
        """Take in a line; what is wrong with it, if anything is. Nothing with one that cannot be
        read: what rests on it is looked at elsewhere.
        """
        if not self._chained:
            return None
        end = _end_of(line)
        if end is None:
            self._last = None
            return None if parsed_line(line) is None else EDITED
        last, self._last = self._last, end[2]
        if hashlib.sha256(line[: end.end(1) + 1]).hexdigest().encode() != end[2]:
            return None if parsed_line(line) is None else EDITED
        return None if last is None or last[:_SHORT] == end[1] else MISPLACED


def _end_of(line: bytes) -> re.Match[bytes] | None:
    return _END.search(line, max(0, len(line) - _LENGTH))


def last_digest(file: Path) -> str:
    """Of the last whole line of a file; '' where there is none."""
    last = b""
    if file.is_file():
        with file.open("rb") as lines:
            for line in lines:
                if end := _end_of(line):
                    last = end[2]
    return last.decode()


def damaged_calls(file: Path, *, chained: bool) -> Iterator[tuple[int, str]]:
    """The number of each line of a calls.jsonl that is not as it was written, and what is wrong
    with it.
    """
    if not chained or not file.is_file():
        return
    check = CallCheck(chained=True)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if damage := check.damage(line):
                yield number, damage


class FollowedCalls:
    """A calls.jsonl that may still grow, checked as far as it was written."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._begin()

    def _begin(self) -> None:
        self._check = CallCheck(chained=True)
        self._end = self._lines = 0
        self._found: list[tuple[int, str]] = []

    def damages(self) -> list[tuple[int, str]]:
        """As `damaged_calls`, of the lines that are whole by now."""
        size = self._file.stat().st_size if self._file.is_file() else 0
        if size < self._end:
            self._begin()
        if size > self._end:
            with self._file.open("rb") as lines:
                lines.seek(self._end)
                for line in lines:
                    if not line.endswith(b"\n"):
                        break
                    self._lines += 1
                    self._end += len(line)
                    if damage := self._check.damage(line):
                        self._found.append((self._lines, damage))
        return self._found
