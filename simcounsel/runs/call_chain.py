"""The digests by which calls, files of ratings and answers of raters can be verified: each line
ends with the beginning of the digest of the line before (`after`) and a digest over all of itself,
so that an edited line is found, and one that was doubled, moved or taken out.

What a crash cut short cannot be read and is no damage by itself: the next line goes on from the
last whole one before it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from simcounsel.runs.jsonl import append_bytes, json_bytes, parsed_line, without_secrets

EDITED = "this line is not as it was written"
MISPLACED = "this line does not follow the one before: lines were doubled, moved or taken out"
CHAIN = ("after", "digest")
"""The fields of a line that chain it."""
_SHORT = 16
"""So many digits of a digest name the line before."""
_END = re.compile(rb', ?"after": ?"([0-9a-f]{16}|)","digest":"([0-9a-f]{64})"\}\n?\Z')
"""With blanks, as lines with numbers beyond 64 bits were written before."""
_LENGTH = len(b', "after": "","digest":""}\n') + _SHORT + 64


class CallChain:
    """Makes chained lines, one after the other."""

    def __init__(self, last: str = "") -> None:
        """last: the digest of the line before."""
        self.last = last

    def line(self, call: Mapping[str, Any]) -> bytes:
        """An object, such as a call, as its line, with its keys and passwords hidden."""
        told = {key: one for key, one in call.items() if key not in CHAIN}
        begun = json_bytes(without_secrets(told) | {"after": self.last[:_SHORT]})[:-1]
        self.last = hashlib.sha256(begun).hexdigest()
        return b'%s,"digest":"%s"}\n' % (begun, self.last.encode())


class ChainedFile:
    """A file of chained lines that one process writes on. One that an earlier version began without
    digests goes on without.
    """

    def __init__(self, file: Path, start: str = "") -> None:
        """start: a digest that the first line follows; '' for none."""
        self._file = file
        self._start = start
        self._line: Callable[[Mapping[str, Any]], bytes] | None = None
        """Makes the next line; None where the end of the file has to be looked up."""

    def append(self, *lines: Mapping[str, Any]) -> None:
        """Write objects as lines at the end, on the disk when this returns. OSError when they
        cannot be written.
        """
        make, self._line = self._line or self._next(), None
        append_bytes(self._file, b"".join(map(make, lines)))
        self._line = make

    def _next(self) -> Callable[[Mapping[str, Any]], bytes]:
        last = last_digest(self._file)
        return (
            CallChain(last or self._start).line if last or not _holds_a_line(self._file) else _plain
        )


def _plain(line: Mapping[str, Any]) -> bytes:
    return json_bytes(without_secrets(line)) + b"\n"


def _holds_a_line(file: Path) -> bool:
    """Whether any line of it is whole."""
    if not file.is_file():
        return False
    with file.open("rb") as lines:
        return any(parsed_line(line) is not None for line in lines)


class CallCheck:
    """Follows a file of chained lines from its beginning and finds which are not as they were
    written.
    """

    def __init__(self, *, chained: bool, start: str = "", whole: bool = False) -> None:
        """chained: whether the lines carry digests; without, nothing is checked. start: a digest
        that the first line follows. whole: a line that cannot be read is damage too, but for one
        that a crash cut short.
        """
        self._chained = chained
        self._whole = whole
        self._last: bytes | None = start.encode()
        """The digest of the line before; None where that one tells none."""

    def damage(self, line: bytes) -> str | None:
        """Take in a line; what is wrong with it, if anything is. Unless all is to be `whole`,
        nothing with one that cannot be read: what rests on it is looked at elsewhere.
        """
        if not self._chained:
            return None
        end = _end_of(line)
        if end is None:
            readable = parsed_line(line) is not None
            if readable or not self._whole:
                self._last = None
            return EDITED if readable else None
        last, self._last = self._last, end[2]
        if hashlib.sha256(line[: end.end(1) + 1]).hexdigest().encode() != end[2]:
            return EDITED if self._whole or parsed_line(line) is not None else None
        return None if last is None or last[:_SHORT] == end[1] else MISPLACED


def _end_of(line: bytes) -> re.Match[bytes] | None:
    return _END.search(line, max(0, len(line) - _LENGTH))


def is_chained(file: Path) -> bool:
    """Whether any line of a file carries a digest."""
    return bool(last_digest(file))


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
