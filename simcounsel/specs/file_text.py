"""The text of a file, and JSON with the lines of its entries; what cannot be read or written is
told with file, line and remedy.
"""

import difflib
import json
from pathlib import Path
from typing import Any

from simcounsel import disk
from simcounsel.errors import SpecError
from simcounsel.intake import MOST_MB, file_bytes, json_data
from simcounsel.specs import shipped

Lines = dict[tuple[str | int, ...], int]


def line_of(lines: Lines, at: tuple[str | int, ...]) -> int:
    """The line of a path, or of its nearest ancestor that is in the file."""
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at, 1)


def read_text(path: Path, most_mb: int = MOST_MB) -> str:
    """The text of a UTF-8 file, without a byte order mark. SpecError when it cannot be read, is no
    plain file or is larger than that.
    """
    try:
        data = file_bytes(path, most_mb)
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise SpecError([f"{path}: no such file{_nearby(path)}"]) from None
    except IsADirectoryError:
        raise SpecError([f"{path}: a folder, not a file; name one of the files in it"]) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SpecError(
            [f"{path}:{line}: not UTF-8 text (byte {error.start}); save it as UTF-8"]
        ) from None
    except OSError as error:
        raise SpecError(
            [f"{path}: cannot be read ({error.strerror}); look at its name and its permissions"]
        ) from None
    except ValueError as error:
        raise SpecError(
            [f"{str(path)!r}: not the name of a file ({error}); take that out of the name"]
        ) from None


def _nearby(path: Path) -> str:
    """What else may have been meant: a file of nearly that name beside it, or, where the name has
    no ending, the YAML file of that name there or one folder below (`tiny`: `worlds/tiny.yaml`);
    then what is included under that name; where there is none, that a file is wanted.
    """
    try:
        if not path.suffix:
            named = f"{path.name}.yaml"
            for file in (path.parent / named, *sorted(path.parent.glob(f"*/{named}"))):
                if file.is_file():
                    return f"; did you mean {file}?"
        if name := shipped.of_that_name(path):
            return f"; did you mean {name}? It is included, and its name without a folder is enough"
        names = [one.name for one in path.parent.iterdir() if one.is_file()]
    except (OSError, ValueError):
        return ""
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if near:
        return f"; did you mean {path.parent / near[0]}?"
    included = [*shipped.names("worlds"), *shipped.names("experiments")]
    if close := difflib.get_close_matches(path.name.lower(), included, n=1, cutoff=0.75):
        return f"; did you mean {close[0]}?"
    if path.suffix:
        return ""
    return (
        f"; give the name of the file, such as {path}.yaml, or one of those that are included"
        " (`simcounsel list` lists them); `simcounsel init FOLDER` writes a world to begin with"
    )


def read_json(path: Path) -> tuple[Any, Lines]:
    """The data of a JSON file; the line (from 1) where each entry stands if it is a list. SpecError
    when it cannot be read.
    """
    text = read_text(path)
    if not text.strip():
        raise SpecError([f"{path}:1: the file is empty; JSON is needed"])
    try:
        data = json_data(text)
    except json.JSONDecodeError as error:
        raise SpecError(
            [
                f"{path}:{error.lineno}: not JSON: {error.msg} (column {error.colno}); correct it"
                " there"
            ]
        ) from None
    except ValueError as error:
        raise SpecError([f"{path}: {error}; shorten it"]) from None
    return data, _entry_lines(text) if isinstance(data, list) else {(): 1}


def _entry_lines(text: str) -> Lines:
    """Of a list that is known to be JSON."""
    lines: Lines = {(): 1}
    decoder = json.JSONDecoder()
    at, counted, line = text.index("[") + 1, 0, 1
    while True:
        at = _past(text, at, " \t\r\n,")
        if text[at] == "]":
            return lines
        line += text.count("\n", counted, at)
        counted = at
        lines[(len(lines) - 1,)] = line
        _, at = decoder.raw_decode(text, at)


def _past(text: str, at: int, blanks: str) -> int:
    while text[at] in blanks:
        at += 1
    return at


def write_text(path: Path, text: str) -> None:
    """A text into a file, whose folder is made if need be. SpecError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.write_text(path, text, errors="strict")
    except OSError as error:
        raise SpecError(
            [f"{path}: cannot be written ({error.strerror}); choose another file to write"]
        ) from None
    except UnicodeEncodeError as error:
        raise SpecError(
            [
                f"{path}: cannot be written: the text holds {error.object[error.start]!r}, half a"
                " character; take it out"
            ]
        ) from None
