"""What is wrong in files that people write: each problem once, in the file where it is."""

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.file_text import Lines, line_of


def suggest(name: str, known: list[str]) -> str:
    """What to write in place of a name that is not known: the one most like it, or all there
    are.
    """
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"


At = tuple[str | int, ...]
_PLACED = re.compile(r"(?P<file>[^\n]+?\.\w+):\d+: ")


class Problem(str):
    """`file:line: what; remedy`, which still knows its place."""

    __slots__ = ("at", "file", "what")

    at: At
    file: Path
    what: str

    def __new__(cls, file: Path, lines: Lines, at: At, what: str) -> "Problem":
        made = super().__new__(cls, f"{file}:{line_of(lines, at)}: {what}")
        made.file, made.at, made.what = file, at, what
        return made


class Unread:
    """Stands in data for what could not be read as it should be. What is wrong with it is said
    already.
    """

    def __init__(self, data: object = None, name: str = "") -> None:
        """data: what its file holds. name: what it is called where the file does not say so."""
        self.fields = data if isinstance(data, dict) else {}
        self.name = str(self.fields.get("name") or name)


def in_its_file(path: Path, lines: Lines, at: At, error: SpecError) -> Iterator[str]:
    """The problems of a file that another names. path, lines, at: where it is named; said only of a
    file that cannot be had, since all other problems have lines of their own.
    """
    for one in error.problems:
        placed = _PLACED.match(one)
        yield one if placed else Problem(path, lines, at, f"{'.'.join(map(str, at))}: {one}")


def file_of(problem: str) -> Path | None:
    """The file that a problem is in; None where it names no line of one."""
    found = _PLACED.match(problem)
    return Path(found["file"]) if found else None


def each_once(problems: Iterable[str]) -> list[str]:
    """In their order, the same problem once, however its file was found."""
    found: dict[tuple[str, str], str] = {}
    for problem in problems:
        file = file_of(problem)
        key = (str(file.resolve()), problem[len(str(file)) :]) if file else ("", problem)
        found.setdefault(key, problem)
    return list(found.values())


def without(data: object, at: At) -> None:
    """Take a key or an item out of data, where there is one at that place."""
    for part in at[:-1]:
        try:
            data = data[part]  # type: ignore[index]
        except (TypeError, KeyError, IndexError):
            return
    there = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    if at and at[-1] in there:
        del data[at[-1]]  # type: ignore[attr-defined]


def unread_in(data: object, at: At = ()) -> Iterator[At]:
    """Where something could not be read."""
    if isinstance(data, Unread):
        yield at
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        yield from unread_in(data[key], (*at, key))  # type: ignore[index]
