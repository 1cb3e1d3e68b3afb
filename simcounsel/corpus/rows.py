"""The rows of a file, each with its line: values of JSON lines, elements of a JSON list,
transcripts with a speaker before each line.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simcounsel.corpus.messages import SPEAKERS, are_messages
from simcounsel.errors import CorpusError
from simcounsel.intake import file_bytes, json_data

MOST_MB = 4096
"""Of a corpus in one file."""
_BOM = b"\xef\xbb\xbf"
_LABEL = re.compile(r"\A([^\s:：]{1,12})\s?[:：] ?")


def json_rows(file: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file of JSON lines, or the elements of a JSON list, each with its line (from
    1).
    """
    data = bytes_of(file)
    if file.suffix.lower() == ".json" and not _first_line_is_whole(data):
        yield from _elements(file, decoded(file, data))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield number, json_data(decoded(file, line, number))
            except ValueError as error:
                raise CorpusError(
                    f"{file}:{number}: not JSON ({error}); each line is one dialogue as a JSON"
                    " object"
                ) from None


def _first_line_is_whole(data: bytes) -> bool:
    """Whether a .json file is really one of JSON lines."""
    first = data.lstrip().split(b"\n", 1)[0]
    try:
        return (
            first.startswith(b"{")
            and isinstance(json_data(first), dict)
            and data.strip() != first.strip()
        )
    except ValueError:
        return False


def _elements(file: Path, text: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list, or of the list under one key of an object; an object with no
    such list is itself one, and so is a list of messages.
    """
    try:
        data = json_data(text)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{file}:{error.lineno}: not JSON ({error.msg})") from None
    except ValueError as error:
        raise CorpusError(f"{file}: not JSON ({error}); shorten it") from None
    if isinstance(data, dict):
        inner = next(
            (
                data[key]
                for key in ("dialogues", "transcripts", "data", "train")
                if isinstance(data.get(key), list)
            ),
            None,
        )
        yield from (
            (1, one)
            for one in (
                inner
                if inner is not None and all(isinstance(one, dict) for one in inner)
                else [data]
            )
        )
        return
    if are_messages(data):
        yield 1, data
        return
    if not isinstance(data, list):
        raise CorpusError(f"{file}:1: expected a list of dialogues, found {type(data).__name__}")
    yield from zip(_lines_of_elements(text, len(data)), data, strict=True)


def _lines_of_elements(text: str, count: int) -> Iterator[int]:
    """The line on which each element of a JSON list begins."""
    decoder, at, line = (
        json.JSONDecoder(),
        text.index("[") + 1,
        text.count("\n", 0, text.index("[") + 1) + 1,
    )
    gap = re.compile(r"[\s,]*")
    for _ in range(count):
        found = gap.match(text, at)
        begin = found.end() if found else at
        line += text.count("\n", at, begin)
        yield line
        _, at = decoder.raw_decode(text, begin)
        line += text.count("\n", begin, at)


def transcript_rows(file: Path) -> Iterator[tuple[int, Any]]:
    """Transcripts: paragraphs of `Client: ...` lines; a line that begins with two spaces goes on
    with the one before. Where every paragraph is one line (as CPsyCounD has it), all are one
    dialogue.
    """
    found = list(_paragraphs(file))
    if len(found) > 1 and all(len(row["turns"]) == 1 for _, row in found):
        yield found[0][0], {"turns": [row["turns"][0] for _, row in found]}
        return
    yield from found


def _paragraphs(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = decoded(file, bytes_of(file))
    lines = text.replace("\r\n", "\n").split("\n")
    messages: list[dict[str, str]] = []
    begin = 1
    for number, line in enumerate([*lines, ""], 1):
        label = _LABEL.match(line)
        if line == "":
            if messages:
                yield begin, {"turns": messages}
            messages, begin = [], number + 1
        elif line.startswith("  ") and messages:
            messages[-1]["content"] += "\n" + line[2:]
        elif label and label.group(1).lower() in SPEAKERS:
            messages.append({"role": label.group(1), "content": line[label.end() :]})
        else:
            raise CorpusError(
                f"{file}:{number}: {line[:40]!r} names no speaker; a line begins with `Client: ` or"
                " `Counselor: `, or goes on after two spaces"
            )


def bytes_of(file: Path) -> bytes:
    """Without a byte order mark. CorpusError when it cannot be read."""
    try:
        return file_bytes(file, MOST_MB).removeprefix(_BOM)
    except OSError as error:
        raise CorpusError(f"{file}: cannot be read ({error.strerror})") from None


def decoded(file: Path, data: bytes, line: int | None = None) -> str:
    """As UTF-8. line: on which it stands, if it is one; CorpusError names it."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{file}:{at}: not UTF-8 text; save it as UTF-8") from None
