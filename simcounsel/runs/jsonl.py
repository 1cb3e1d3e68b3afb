"""Files of JSON lines: read as far as they are whole, and written on."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from simcounsel.disk import end_line
from simcounsel.errors import RunError
from simcounsel.intake import MOST_DEPTH, deeper, json_data, perhaps_deep
from simcounsel.secret import scrub_data


def json_bytes(value: object) -> bytes:
    """JSON as UTF-8, without spaces. Halves of characters (lone surrogates), which orjson refuses,
    are escaped.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def indented_json_bytes(value: object) -> bytes:
    """The same for people to read, each field on a line of its own."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:
        return json.dumps(value, indent=2).encode()


def without_secrets(line: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a call, with each key and password hidden. Vectors are numbers, and long."""
    told = [one for name, one in line.items() if name != "vectors"]
    if scrub_data(told) is told:
        return dict(line)
    return {name: one if name == "vectors" else scrub_data(one) for name, one in line.items()}


def append_line(file: Path, *lines: Mapping[str, Any]) -> None:
    """Write each object as a line of its own, on the disk when this returns: what was paid for
    survives a crash. Halves of characters stay as they are. OSError when it cannot be written.
    """
    texts = [json.dumps(without_secrets(line), ensure_ascii=False) for line in lines]
    append_bytes(file, "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogatepass"))


def append_bytes(file: Path, lines: bytes) -> None:
    """Write whole lines, without secrets already, at the end; on the disk when this returns."""
    with file.open("ab") as out:
        end_line(file, out)
        out.write(lines)
        out.flush()
        os.fsync(out.fileno())


def keep_line(file: Path, line: Mapping[str, Any]) -> None:
    """As `append_line`. RunError, in words, when it cannot be written."""
    try:
        append_line(file, line)
    except OSError as error:
        raise RunError(f"{file}: cannot be written ({error.strerror}); free some space") from None


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines; what is damaged or cut short is left out, and so is all
    if the file cannot be read.
    """
    try:
        with file.open("rb") as lines:
            for line in lines:
                try:
                    found = json_data(line)
                except ValueError:
                    continue
                if isinstance(found, dict):
                    yield found
    except OSError:
        return


def parsed_line(line: bytes) -> dict[str, Any] | None:
    """A line as JSON. Half a character (a lone surrogate, which orjson refuses) is read by the
    slower parser.
    """
    try:
        fields = orjson.loads(line)
        if perhaps_deep(line) and deeper(fields, MOST_DEPTH):
            return None
    except ValueError:
        try:
            fields = json_data(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            return None
    return fields if isinstance(fields, dict) else None
