"""Dialogues out of rows that trainers and other people's corpora use, each a JSON object:

    OpenAI      {"messages": [{"role": "user", "content": ...}]}; also with `turns`, `dialog`,
                `lines`, and speakers by name
    ShareGPT    {"conversations": [{"from": "human", "value": ...}]}; with `chosen` and `rejected` a
                preference pair
    Alpaca      {"instruction": ..., "input": ..., "output": ..., "history": [[user, reply]]}
    TRL         {"prompt": [messages], "completion": [messages]}; with `chosen` and `rejected` a
                preference pair
    SMILECHAT   [{"role": "client", "content": ...}]: a bare list
    ExTES       {"scene": ..., "content": [{"User": ...}, {"AI Strategy": ..., "AI": ...}]}; also
                such a list bare

Who is `user` and who is `assistant` such a row does not say: the assistant is taken for the
counselor, unless the export that wrote it says otherwise. System messages are left out. Without a
`client` each dialogue counts as a client of its own; without an id it is called after its file and
its row, such as `train:3`.

The rows of a file, each with its line: values of JSON lines, elements of a JSON list,
transcripts with a speaker before each line.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from simcounsel.corpus.course_text import is_note_request
from simcounsel.corpus.dialogues import Dialogue, Draft, Turn, unknown_client
from simcounsel.corpus.messages import (
    LISTS,
    SPEAKERS,
    Place,
    Row,
    are_messages,
    first,
    messages_in,
    text_in,
)
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


SHAPES = (
    "`messages`, `conversations`, `turns`, `instruction` and `output`, or `prompt` and `completion`"
)


def dialogues_of_rows(rows: Iterable[tuple[Place, Any]]) -> Iterator[Dialogue]:
    """The dialogues of a file. TRL has one row for each reply: rows that go on where the one before
    ended are one dialogue. CorpusError names file, line and what is wrong.
    """
    before: Dialogue | None = None
    for place, row in rows:
        if isinstance(row, list) and are_messages(row):
            row = {"messages": row}
        if not isinstance(row, Mapping):
            raise place.wrong(
                f"expected a dialogue as a JSON object with {SHAPES}, found {type(row).__name__}"
            )
        if before is not None and _asks_note(row):
            continue
        found = _dialogue(place, row)
        if before is not None and "prompt" in row and (joined := _continued(before, found)):
            before = joined
            continue
        if before is not None:
            yield before
        before = found
    if before is not None:
        yield before


def _asks_note(row: Row) -> bool:
    """Whether a TRL row teaches a counselor's note, which is no line of the dialogue."""
    prompt = row.get("prompt")
    last = prompt[-1] if isinstance(prompt, list) and prompt else None
    return isinstance(last, Mapping) and is_note_request(str(last.get("content")))


def _dialogue(place: Place, row: Row) -> Dialogue:
    turns = tuple(_turns(place, row))
    name = first(row, "id", "dialogue_id", "conversation_id") or "-".join(
        str(row[key]) for key in ("topic", "case") if key in row
    )
    name = str(name) if name else None
    chat, origin = name or str(place.number), place.origin
    return Dialogue(
        id=name or f"{PurePath(origin.file).stem}:{chat}",
        turns=turns,
        client=str(first(row, "client", "client_id") or unknown_client(origin.file, chat)),
        theme=text_in(row, "theme", "topic", "problem_type", "scene"),
        language=text_in(row, "language", "lang"),
        situation=text_in(row, "situation", *(["description"] if "scene" in row else [])),
        condition=text_in(row, "condition"),
        licence=text_in(row, "licence", "license"),
        origin=origin.model_copy(update={"chat": chat}),
    )


def _turns(place: Place, row: Row) -> Iterator[Turn]:
    if "prompt" in row and ("completion" in row or "chosen" in row):
        yield from messages_in(place, row["prompt"], "prompt")
        yield from _answer(place, row, "completion")
    elif "instruction" in row and "output" in row:
        yield from _alpaca(place, row)
    else:
        key = next((key for key in LISTS if isinstance(row.get(key), list | tuple)), None)
        if key is None:
            raise place.wrong(
                f"no dialogue in it: expected {SHAPES}, found"
                f" {', '.join(map(str, row)) or 'nothing'}"
            )
        yield from messages_in(place, row[key], key)
        if "chosen" in row and "rejected" in row:
            yield from _answer(place, row, "chosen")


def _answer(place: Place, row: Row, key: str) -> Iterator[Turn]:
    """The completion; of a pair the chosen line, with the rejected one as its draft."""
    if "chosen" not in row:
        yield from messages_in(place, row[key], key)
        return
    sides = [
        row[name] if isinstance(row[name], list | tuple) else [row[name]]
        for name in ("chosen", "rejected")
        if row.get(name)
    ]
    if len(sides) != 2:
        raise place.wrong("a preference pair needs both `chosen` and `rejected`")
    chosen, rejected = (list(messages_in(place, side, "chosen")) for side in sides)
    if not chosen or not rejected:
        raise place.wrong("a side of the preference pair is empty")
    yield from chosen[:-1]
    yield chosen[-1].model_copy(update={"draft": Draft(text=rejected[-1].text, reason="")})


def _alpaca(place: Place, row: Row) -> Iterator[Turn]:
    for pair in row.get("history") or ():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise place.wrong(
                f"history: expected pairs of a message and its reply, found {str(pair)[:60]!r}"
            )
        yield from _exchange(place, pair[0], pair[1])
    asked = "\n".join(
        part for part in (str(row["instruction"] or ""), str(row.get("input") or "")) if part
    )
    yield from _exchange(place, asked, row["output"])


def _exchange(place: Place, message: Any, reply: Any) -> Iterator[Turn]:
    return messages_in(
        place,
        [{"role": "user", "content": message}, {"role": "assistant", "content": reply}],
        "history",
    )


def _continued(before: Dialogue, after: Dialogue) -> Dialogue | None:
    """Both as one, if the later begins with all of the earlier; what is known of the earlier's
    turns stays.
    """
    count = len(before.turns)
    if not 0 < count < len(after.turns):
        return None
    if [(turn.speaker, turn.text) for turn in after.turns[:count]] != [
        (turn.speaker, turn.text) for turn in before.turns
    ]:
        return None
    return before.model_copy(update={"turns": (*before.turns, *after.turns[count:])})
