"""Dialogues out of whatever holds them: corpora, samples, runs, syntheses, exports, other people's
files.

    samples, samples:faulted        the dialogues that come with simcounsel; those with planted faults
    FOLDER                          a run, a synthesis, a folder of them (a sweep), or what `export` wrote
    FILE.jsonl, .json, .parquet     a corpus, or rows as trainers use them (see `foreign`)
    FILE.yaml, .txt                 dialogues written by hand (see `handwritten`), transcripts with a speaker before each line

Dialogues of a file called train, validation or test that say nothing of their split are in that
one.
"""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.corpus.dialogues import Dialogue, Origin
from simcounsel.corpus.foreign import SPEAKERS, Place, dialogues_of_rows, is_unicode
from simcounsel.corpus.handwritten import read_samples, read_written
from simcounsel.corpus.split import SPLITS
from simcounsel.corpus.transcripts import dialogues_of_run, hash_of
from simcounsel.errors import CorpusError
from simcounsel.runs.run import Run
from simcounsel.specs.load import explain
from simcounsel.specs.vocabulary import Role

SAMPLES, FAULTED = "samples", "samples:faulted"
CORPUS, CARD = "corpus.jsonl", "card.json"
FILES = (".jsonl", ".json", ".parquet", ".yaml", ".yml", ".txt")
_BOM = b"\xef\xbb\xbf"
_LABEL = re.compile(r"\A([^\s:：]{1,12})\s?[:：] ?")


def read_dialogues(path: Path | str) -> tuple[Dialogue, ...]:
    """All dialogues of a source, in its order; never none. CorpusError names file, line and what is
    wrong; RunError a damaged run.
    """
    path = Path(path)
    if str(path) in (SAMPLES, FAULTED):
        return read_samples(faulted=str(path) == FAULTED)
    if path.is_dir():
        found = _folder(path)
    elif path.is_file():
        found = _file(path)
    else:
        raise CorpusError(
            f"{path}: no such file or folder; name a corpus file, a run's folder, or the word"
            f" `{SAMPLES}`"
        )
    if not found:
        raise CorpusError(f"{path}: no dialogue in it")
    return found


def _folder(folder: Path) -> tuple[Dialogue, ...]:
    if (folder / "manifest.json").is_file():
        return _run(folder)
    if (folder / CARD).is_file():
        return _export(folder)
    if (folder / CORPUS).is_file():
        return _file(folder / CORPUS)
    inner = sorted(file.parent for file in folder.glob("*/manifest.json"))
    if not inner:
        raise CorpusError(
            f"{folder}: no run, no runs and no {CORPUS} in it; name a file, a run's folder, or a"
            " folder of runs"
        )
    arms = _arms(folder)
    return tuple(dialogue for run in inner for dialogue in _run(run, arms.get(run.name)))


def _run(folder: Path, arm: str | None = None) -> tuple[Dialogue, ...]:
    """Of a run of a world, or of a synthesis."""
    run = Run.open(folder)
    if run.manifest.synthesis is not None:
        from simcounsel.corpus.synthesis import dialogues_of

        return tuple(_traced(dialogue, run, arm) for dialogue in dialogues_of(run))
    return dialogues_of_run(run, arm=arm)


def _traced(dialogue: Dialogue, run: Run, arm: str | None) -> Dialogue:
    """A synthesis's dialogue with the hash of the log that it stands in, and the sweep's name of
    its condition.
    """
    origin = (dialogue.origin or Origin(file=run.name)).model_copy(update={"hash": hash_of(run)})
    return dialogue.model_copy(update={"origin": origin, "condition": arm or dialogue.condition})


def _arms(folder: Path) -> dict[str, str]:
    """What a sweep calls the condition of each of its runs; empty where there is no plan."""
    try:
        listed = json.loads((folder / "experiment.json").read_bytes()).get("runs", [])
        return {one["run"]: one["arm"] for one in listed if one.get("arm")}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        raise CorpusError(
            f"{folder / 'experiment.json'}: not a sweep's plan; let the sweep write it again, or"
            " name its runs one by one"
        ) from None


def _export(folder: Path) -> tuple[Dialogue, ...]:
    """What `export` wrote: the files of the splits, each dialogue with its split."""
    found: list[Dialogue] = []
    for split in SPLITS:
        for file in sorted(file for file in folder.glob(f"{split}.*") if file.suffix in FILES):
            found += (one.model_copy(update={"split": split}) for one in _file(file))
    if not found:
        raise CorpusError(
            f"{folder}: a {CARD}, but no {', '.join(f'{split}.jsonl' for split in SPLITS)} beside"
            " it; export anew"
        )
    return tuple(found)


def _file(file: Path) -> tuple[Dialogue, ...]:
    """The dialogues of a file; its name tells their split, if they do not."""
    found = _read(file)
    split = next((split for split in SPLITS if file.stem == split), None)
    return (
        found
        if split is None
        else tuple(one if one.split else one.model_copy(update={"split": split}) for one in found)
    )


def _read(file: Path) -> tuple[Dialogue, ...]:
    match file.suffix.lower():
        case ".yaml" | ".yml":
            return read_written(file)
        case ".parquet":
            from simcounsel.corpus.parquet import read_parquet

            return read_parquet(file)
        case ".txt":
            return tuple(_objects(file, _paragraphs(file, _decoded(file, _bytes(file)))))
        case ".jsonl" | ".json" | ".ndjson":
            return tuple(_objects(file, _json(file)))
    raise CorpusError(f"{file}: no corpus that can be read; there are {', '.join(FILES)}")


def _objects(file: Path, rows: Iterator[tuple[int, Any]]) -> Iterator[Dialogue]:
    """Rows as dialogues: ours as they are, all others through `foreign`."""
    origin = Origin(file=file.name, hash=sha256(_bytes(file)).hexdigest())
    learner = _learner(file.parent / CARD)
    foreign: list[tuple[Place, Any]] = []
    for number, (line, row) in enumerate(rows, 1):
        if _is_ours(row):
            yield from dialogues_of_rows(foreign)
            foreign = []
            yield _ours(file, line, row, origin)
        else:
            foreign.append(
                (
                    Place(file=str(file), line=line, number=number, origin=origin, learner=learner),
                    row,
                )
            )
    yield from dialogues_of_rows(foreign)


def _is_ours(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and {"id", "client", "turns"} <= row.keys()
        and isinstance(row["turns"], list)
        and all(
            isinstance(turn, dict) and "speaker" in turn and "text" in turn for turn in row["turns"]
        )
    )


def _ours(file: Path, line: int, row: dict[str, Any], origin: Origin) -> Dialogue:
    try:
        if not is_unicode(json.dumps(row, ensure_ascii=False)):
            raise CorpusError(f"{file}:{line}: holds half a character; save the file as UTF-8")
        return Dialogue.model_validate(row | {"origin": row.get("origin") or origin.model_dump()})
    except ValidationError as error:
        raise CorpusError(
            explain(error.errors(include_url=False)[0], Dialogue, file, {(): line})
        ) from None


def _learner(card: Path) -> Role:
    """Which side `assistant` stands for: what the export's card says; the counselor where there is
    none.
    """
    try:
        side = json.loads(card.read_bytes())["options"]["side"]
    except (OSError, ValueError, KeyError, TypeError):
        return "counselor"
    return "client" if side == "client" else "counselor"


def _json(file: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file of JSON lines, or the elements of a JSON list, each with its line (from
    1).
    """
    data = _bytes(file)
    if file.suffix.lower() == ".json" and not _first_line_is_whole(data):
        yield from _elements(file, _decoded(file, data))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(_decoded(file, line, number))
            except (ValueError, RecursionError) as error:
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
            and isinstance(json.loads(first), dict)
            and data.strip() != first.strip()
        )
    except (ValueError, RecursionError):
        return False


def _elements(file: Path, text: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list, or of the list under one key of an object; an object with no
    such list is itself one.
    """
    try:
        data = json.loads(text)
    except RecursionError:
        raise CorpusError(f"{file}: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise CorpusError(f"{file}:{error.lineno}: not JSON ({error.msg})") from None
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


def _paragraphs(file: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Transcripts: paragraphs of `Client: ...` lines; a line that begins with two spaces goes on
    with the one before.
    """
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


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise CorpusError(f"{file}: cannot be read ({error.strerror})") from None


def _decoded(file: Path, data: bytes, line: int | None = None) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line or data.count(b"\n", 0, error.start) + 1
        raise CorpusError(f"{file}:{at}: not UTF-8 text; save it as UTF-8") from None
