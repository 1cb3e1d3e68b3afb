"""The one exit for files of text: what is written through here leaves without keys and passwords.

Whatever writes otherwise is named, with its reason, in tests/test_exits.py.
"""

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from simcounsel.secret import scrub


@contextmanager
def writing(
    file: Path, *, append: bool = False, errors: str = "replace"
) -> Iterator[Callable[[str], None]]:
    """A function that writes texts into a file, each scrubbed by itself and in UTF-8; on the disk
    at the end. OSError when it cannot be written.

    append: go on from its end, on a line of its own. errors: what becomes of half a character, as
    `str.encode` has it.
    """
    with file.open("ab" if append else "wb") as out:
        if append:
            end_line(file, out)

        def put(text: str) -> None:
            out.write(scrub(text).encode("utf-8", errors))

        yield put
        out.flush()
        os.fsync(out.fileno())


def write_text(file: Path, text: str, *, errors: str = "replace") -> None:
    """A text as a file. See `writing`."""
    with writing(file, errors=errors) as put:
        put(text)


def append_text(file: Path, text: str) -> None:
    """A text behind what a file holds; it is made if need be. See `writing`."""
    with writing(file, append=True) as put:
        put(text)


def write_whole(file: Path, text: str) -> None:
    """A text as a file: whoever reads it sees what was there before, or all of it."""
    part = file.with_name(f".{file.name}.part")
    write_text(part, text)
    os.replace(part, file)


def write_data(file: Path, data: bytes) -> None:
    """Data that hold no text, such as a PNG or tensors, as a file, on the disk when this returns.
    OSError when it cannot be written.
    """
    with file.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def end_line(file: Path, handle: BinaryIO) -> None:
    """End a line that a crash cut short, so that what is written next is on its own."""
    with file.open("rb") as reading:
        if reading.seek(0, os.SEEK_END):
            reading.seek(-1, os.SEEK_END)
            if reading.read(1) != b"\n":
                handle.write(b"\n")


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a formula begins in a spreadsheet."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]], between: str = ",") -> str:
    """A table as CSV; an empty field is a missing value, and no text begins like a formula.
    between: what parts columns.
    """
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n", delimiter=between)
    table.writerow(map(no_formula, columns))
    table.writerows([no_formula(value) for value in row] for row in rows)
    return text.getvalue()


def no_formula(value: object) -> object:
    """A cell as it is; a text that a spreadsheet would take for a formula has an apostrophe before
    it.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def as_written(value: object) -> object:
    """What a cell was before `no_formula`."""
    guarded = isinstance(value, str) and value[:1] == "'" and value[1:].startswith(FORMULA)
    return value[1:] if guarded else value  # type: ignore[index]
