"""Patient-Psi's record format into persona files.

A record holds one situation; several records with one id are one person. The fields are those of
the public Patient-Psi-CM format and of its first sample. A record that cannot be used is refused by
name, and so is a person of whom too little is left; all others are written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.specs.file_text import read_json
from simcounsel.specs.load import write_yaml
from simcounsel.specs.patient_psi_persona import ImportChoices, persona_of
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.yaml_text import control_in

OF_A_RECORD = ("name", "id", "situation", "auto_thought", "emotion", "behavior")
"""What each record must hold."""
OF_A_PERSON = ("history", "intermediate_belief", "coping_strategies")
"""What one record of a person must hold at least."""
CORES = ("helpless_belief", "unlovable_belief", "worthless_belief")
"""One of them must be held."""
MORE = ("type", "intermediate_belief_depression", "intensity")
FIELDS = (*OF_A_RECORD, *OF_A_PERSON, *CORES, *MORE)
OTHER_NAMES = {
    **{f"{core}_current": core for core in CORES},
    "auto_thoughts": "auto_thought",
    "emotions": "emotion",
    "intermediate_beliefs": "intermediate_belief",
}
"""As other editions of the file call them."""
Record = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ImportedPeople:
    """What came of a file of records."""

    written: tuple[Path, ...]
    """A persona file for each person."""
    records: int
    """So many records are in them."""
    refused: tuple[str, ...]
    """Each record and each person that was left out, and why."""
    notes: tuple[str, ...]
    """What of a record was not taken, or was taken for something near."""


def import_records(file: Path, out: Path, wanted: ImportChoices | None = None) -> ImportedPeople:
    """Write a persona file for each person in a JSON file of records. SpecError when there are no
    records, or a file cannot be written.
    """
    refused: list[str] = []
    notes: list[str] = []
    people: dict[tuple[str, str], list[Record]] = {}
    for number, raw in enumerate(_read(file), 1):
        record, strange = _renamed(raw)
        who = f"{file}: record {number} ({_names(record) or 'no name'})"
        problems = [f"{who}: {problem}" for problem in _problems(record)]
        refused += problems
        if problems:
            continue
        notes += [f"{who}: the field {field!r} was not taken" for field in strange]
        key = str(record["id"]).split("-")[0], str(record["name"]).strip()
        people.setdefault(key, []).append(record)
    written: dict[Path, int] = {}
    for (person, name), own in people.items():
        path = out / (re.sub(r"[^a-z0-9]+", "_", f"{name}_{person}".lower()).strip("_") + ".yaml")
        try:
            data, head, more = _persona(own, path, wanted or ImportChoices())
        except SpecError as error:
            who = f"{file}: person {person!r} ({name}, {len(own)} records)"
            refused += [f"{who}: {problem}" for problem in error.problems]
            continue
        notes += [f"{file}: person {person!r} ({name}): {note}" for note in more]
        write_yaml(path, f"# Read from {file.name}.\n{head}", data)
        written[path] = len(own)
    return ImportedPeople(
        written=tuple(written),
        records=sum(written.values()),
        refused=tuple(refused),
        notes=tuple(notes),
    )


def _read(file: Path) -> list[Record]:
    records, _ = read_json(file)
    if isinstance(records, dict):
        records = [records]
    if (
        not isinstance(records, list)
        or not records
        or not all(isinstance(record, dict) for record in records)
    ):
        raise SpecError([f"{file}: expected a list of records, each with {', '.join(OF_A_RECORD)}"])
    return records


def _renamed(raw: Record) -> tuple[Record, list[str]]:
    """A record by the names of our fields, and the fields of others that hold something."""
    record: Record = {}
    strange = []
    for field, value in raw.items():
        known = field if field in FIELDS else OTHER_NAMES.get(field)
        if known is None:
            strange += [field] if words_of(value) else []
        else:
            record[known] = [*words_of(record.get(known)), *words_of(value)]
    return {field: _alone(field, value) for field, value in record.items()}, strange


def _alone(field: str, value: list[str]) -> Any:
    """A name and an id are one text each."""
    return " ".join(value) if field in ("name", "id") else value


def words_of(value: Any) -> list[str]:
    """Texts of a field that may be a text or a list of texts."""
    items = value if isinstance(value, list) else [value]
    return [str(item).strip() for item in items if item is not None and str(item).strip()]


def _names(record: Record) -> str:
    return ", ".join(str(record[field]) for field in ("name", "id") if record.get(field))


def _problems(record: Record) -> Iterator[str]:
    """Why a record cannot be used."""
    for field in OF_A_RECORD:
        if not record.get(field):
            yield f"the field {field!r} is missing or empty; fill it in"
    for field, value in record.items():
        found = (control_in(text) for text in words_of(value))
        if wrong := next((one for one in found if one), None):
            yield f"the field {field!r} {wrong}"


def _persona(
    own: Sequence[Record], path: Path, wanted: ImportChoices
) -> tuple[dict[str, Any], str, list[str]]:
    """A person's file, its head and what was not taken as it is. SpecError when it cannot be."""
    together = {
        field: list(dict.fromkeys(text for record in own for text in words_of(record.get(field))))
        for field in FIELDS
    }
    problems = [
        f"no record holds {field!r}; fill it in" for field in OF_A_PERSON if not together[field]
    ]
    if not any(together[core] for core in CORES):
        problems.append(f"no record holds a core belief; fill in {', '.join(CORES)}")
    if path.exists():
        problems.append(f"{path}: exists already; move it away, or choose another --out")
    if problems:
        raise SpecError(problems)
    data, head, notes = persona_of(own, together, wanted)
    parse_persona(data, path, {})
    return data, head, notes
