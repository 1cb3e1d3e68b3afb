"""Files of profiles: which form they have, their records as fields, and how records are written."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from simcounsel.borrowed.profiles.forms import FORMS, Form, said
from simcounsel.disk import as_written, csv_text
from simcounsel.errors import SpecError
from simcounsel.specs.file_text import Lines, line_of, read_json, read_text, write_text
from simcounsel.specs.load import refuse_existing

ENDINGS = {"ours": "yaml", "veramh": "tsv"}
"""Of files of a form; others are JSON."""
BY_KEY = {
    "profile": "eeyore",
    "situation of the client": "eeyore",
    "intake_form": "cactus",
    "AI_client": "cactus",
    "auto_thought": "patientpsi",
    "auto_thoughts": "patientpsi",
}
"""Which form a JSON record has that holds such a key."""
Record = dict[str, Any]


def form_of(file: Path) -> str:
    """The form of a file, by its shape. SpecError where it has none that is known."""
    if file.suffix in (".yaml", ".yml"):
        return "ours"
    if file.suffix in (".tsv", ".tab"):
        return "veramh"
    records, _ = _json(file)
    if found := next((form for key, form in BY_KEY.items() if key in records[0]), None):
        return found
    keys = ", ".join(records[0])[:200] or "nothing"
    known = ", ".join(FORMS)
    raise SpecError([f"{file}:1: no known form has the fields {keys}; say --from one of {known}"])


def records_of(file: Path, form: Form) -> Iterator[tuple[int, Record]]:
    """The records of a file as fields by name, each with its line. SpecError where it cannot be
    read as that form.
    """
    if form.name == "veramh":
        yield from _rows(file)
        return
    records, lines = _json(file)
    for number, raw in enumerate(records):
        record = raw
        if form.name == "eeyore":
            record = _opened(raw, "profile")
        elif form.name == "cactus":
            record = _opened(raw, "AI_client")
            record |= _intake(str(record.pop("intake_form", None) or ""))
        yield line_of(lines, (number,)), record


def _opened(raw: Record, key: str) -> Record:
    """A record with what it holds under a key beside its other fields."""
    inner = raw.get(key)
    beside = {field: value for field, value in raw.items() if field != key}
    return beside | inner if isinstance(inner, dict) else dict(raw)


def _json(file: Path) -> tuple[Sequence[Record], Lines]:
    data, lines = read_json(file)
    records = [data] if isinstance(data, dict) else data
    if not isinstance(records, list) or not records or not isinstance(records[0], dict):
        raise SpecError([f"{file}:1: expected a list of records; is it the right file?"])
    for number, one in enumerate(records):
        if not isinstance(one, dict):
            where = f"{file}:{line_of(lines, (number,))}: record {number + 1}"
            raise SpecError([f"{where}: {str(one)[:40]!r} is no record; take it out"])
    return records, lines


def _rows(file: Path) -> Iterator[tuple[int, Record]]:
    """The rows of a TSV with a head."""
    try:
        yield from _read_rows(file)
    except csv.Error as error:
        raise SpecError([f"{file}: no TSV that can be read ({error})"]) from None


def _read_rows(file: Path) -> Iterator[tuple[int, Record]]:
    reader = csv.reader(io.StringIO(read_text(file), newline=""), delimiter="\t")
    heads = [one.strip() for one in next(reader, [])]
    if "Name" not in heads or "Age" not in heads:
        there = ", ".join(filter(None, heads))[:200] or "nothing"
        raise SpecError([f"{file}:1: no columns 'Name' and 'Age'; is it a TSV? There is: {there}"])
    rows, line = [], reader.line_num + 1
    for cells in reader:
        if len(cells) > len(heads):
            what = f"{len(cells)} cells under {len(heads)} columns; take the tabs out of its texts"
            raise SpecError([f"{file}:{line}: {what}"])
        if any(cell.strip() for cell in cells):
            rows.append((line, dict(zip(heads, map(as_written, cells), strict=False))))
        line = reader.line_num + 1
    if not rows:
        raise SpecError([f"{file}:2: no row below the columns; is it the right file?"])
    yield from rows


def _intake(text: str) -> Record:
    """The parts of Cactus's intake form by their headings; what is before the first under
    `intake_form`.
    """
    headings = "|".join(re.escape(one) for one in FORMS["cactus"].fields if one[0].isupper())
    found = re.split(rf"^[ \t]*(?:\d+\.[ \t]*)?({headings})[ \t]*(?::|$)", text, flags=re.M)
    before = re.sub(r"^\d+\.[^\n]*$", "", found[0].strip()) if found[1:] else found[0]
    return {"intake_form": before} | dict(zip(found[1::2], found[2::2], strict=True))


def texts_of(record: Record) -> dict[str, str]:
    """The fields of a record that say something, each as one text."""
    texts = {field: _text(value) for field, value in record.items()}
    return {field: text for field, text in texts.items() if said(text)}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text(one)}" for key, one in value.items() if said(one))
    if isinstance(value, list):
        return "; ".join(_text(one) for one in value if said(one))
    return "" if value is None else " ".join(str(value).split())


def write_records(file: Path, form: str, records: Sequence[Record]) -> None:
    """Records of a form into a file. SpecError where there is one, or it cannot be written."""
    refuse_existing(file)
    if form != "veramh":
        write_text(file, json.dumps(list(records), ensure_ascii=False, indent=1) + "\n")
        return
    columns = list(records[0])
    rows = ([one.get(column, "") for column in columns] for one in records)
    write_text(file, csv_text(columns, rows, between="\t"))
