"""Dialogues as a table (Parquet): one row each, all that is known of it in typed columns, and
`messages` as trainers read them.

A mapping becomes a list of pairs, since not every reader of Parquet knows mappings: ratings are
`[{"instrument": ..., "score": ..., "value": ...}]`, an origin's models `[{"role": ..., "model":
...}]`.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.corpus.dialogues import CourseSession, Dialogue, Turn
from simcounsel.errors import CorpusError
from simcounsel.secret import scrub_data

BATCH = 1000
Row = dict[str, Any]


def _arrow(name: str = "pyarrow") -> Any:
    """pyarrow, which comes with an extra of its own."""
    try:
        return import_module(name)
    except ImportError:
        raise CorpusError(
            "Parquet is read and written with pyarrow, which is missing: pip install"
            " 'simcounsel[corpus]'"
        ) from None


def _schema() -> Any:
    pa = _arrow()
    text, whole, real, yes = pa.string(), pa.int64(), pa.float64(), pa.bool_()

    def listed(**fields: Any) -> Any:
        return pa.list_(pa.struct(list(fields.items())))

    draft = pa.struct(
        [("text", text), ("reason", text), ("ratings", listed(quality=text, value=real))]
    )
    kinds = {
        "skills": pa.list_(text),
        "intensity": whole,
        "draft": draft,
        "merged": whole,
        "portable": yes,
    }
    turns = listed(**{name: kinds.get(name, text) for name in Turn.model_fields})
    origin = pa.struct(
        [("file", text), ("hash", text), ("chat", text), ("models", listed(role=text, model=text))]
    )
    return pa.schema(
        [
            ("id", text),
            ("client", text),
            ("theme", text),
            ("language", text),
            ("condition", text),
            ("split", text),
            ("licence", text),
            ("messages", listed(role=text, content=text, weight=whole)),
            ("turns", turns),
            ("situation", text),
            ("dangers", pa.list_(text)),
            ("undisclosed", pa.list_(text)),
            ("objectives", pa.list_(text)),
            ("sessions", _sessions(pa)),
            ("plan", pa.list_(text)),
            ("note", text),
            ("names", pa.list_(text)),
            ("places", pa.list_(text)),
            ("faults", listed(kind=text, turns=pa.list_(whole), quality=text, why=text)),
            ("ratings", listed(instrument=text, score=text, value=real)),
            ("origin", origin),
        ]
    )


def _sessions(pa: Any) -> Any:
    """The column of a course's sessions."""
    text, whole, texts = pa.string(), pa.int64(), pa.list_(pa.string())
    kinds: dict[Any, Any] = {int: whole, int | None: whole, tuple[str, ...]: texts}
    return pa.list_(
        pa.struct(
            [
                (name, kinds.get(field.annotation, text))
                for name, field in CourseSession.model_fields.items()
            ]
        )
    )


def write_parquet(file: Path, rows: Iterable[tuple[Dialogue, list[Row]]]) -> None:
    """One row a dialogue, with its messages. The same rows give the same bytes with the same
    pyarrow. OSError when it cannot be written.
    """
    pa, schema = _arrow(), _schema()
    waiting = iter(rows)
    with _arrow("pyarrow.parquet").ParquetWriter(file, schema, compression="zstd") as writer:
        while batch := [_row(dialogue, messages) for dialogue, messages in islice(waiting, BATCH)]:
            writer.write_table(pa.Table.from_pylist(scrub_data(batch), schema=schema))


def read_parquet(file: Path) -> tuple[Dialogue, ...]:
    """The dialogues of a file as `write_parquet` wrote it. CorpusError when it is another's."""
    parquet = _arrow("pyarrow.parquet")
    try:
        table = parquet.read_table(file)
    except (OSError, _arrow().ArrowException) as error:
        raise CorpusError(
            f"{file}: not a Parquet file that can be read ({str(error).splitlines()[0]})"
        ) from None
    missing = {"id", "client", "turns"} - set(table.column_names)
    if missing:
        raise CorpusError(
            f"{file}: no column {', '.join(sorted(missing))}; only Parquet as `simcounsel export`"
            " writes it is read. Save other tables as JSON lines"
        )
    return tuple(_dialogue(file, number, row) for number, row in enumerate(table.to_pylist(), 1))


def _row(dialogue: Dialogue, messages: list[Row]) -> Row:
    row = dialogue.model_dump(mode="json")
    row["ratings"] = [
        {"instrument": instrument, "score": score, "value": value}
        for instrument, scores in row["ratings"].items()
        for score, value in scores.items()
    ]
    if row["origin"]:
        row["origin"]["models"] = _pairs(row["origin"]["models"], "role", "model")
    for turn in row["turns"]:
        if turn["draft"]:
            turn["draft"]["ratings"] = _pairs(turn["draft"]["ratings"], "quality", "value")
    return scrub_data(row | {"messages": messages})


def _pairs(mapping: Mapping[str, Any], key: str, value: str) -> list[Row]:
    return [{key: one, value: other} for one, other in mapping.items()]


def _dialogue(file: Path, number: int, row: Row) -> Dialogue:
    ratings: dict[str, dict[str, float | None]] = {}
    for one in row.get("ratings") or ():
        ratings.setdefault(one["instrument"], {})[one["score"]] = one["value"]
    origin = row.get("origin")
    if origin:
        origin["models"] = {one["role"]: one["model"] for one in origin["models"]}
    for turn in row["turns"]:
        if turn.get("draft"):
            turn["draft"]["ratings"] = {
                one["quality"]: one["value"] for one in turn["draft"]["ratings"]
            }
    fields = {key: value for key, value in row.items() if key != "messages"}
    try:
        return Dialogue.model_validate(fields | {"ratings": ratings})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise CorpusError(
            f"{file}: row {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from None
