"""Patient-Psi's record format into persona files.

A record holds one situation; several records with one id are one person. The fields are those of
the public Patient-Psi-CM format; what a persona needs besides (age, routines, a day) is not in
there, is filled in plainly and marked for the reader to complete.
"""

import re
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.specs.file_text import read_json
from simcounsel.specs.load import write_yaml
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.vocabulary import EMOTIONS, Emotion
from simcounsel.specs.yaml_text import control_in

FIELDS = (
    "name",
    "id",
    "type",
    "history",
    "helpless_belief",
    "unlovable_belief",
    "worthless_belief",
    "intermediate_belief",
    "coping_strategies",
    "situation",
    "auto_thought",
    "emotion",
    "behavior",
)
FEWEST_SITUATIONS = 4
_FEELING: dict[str, Emotion] = {
    "anxious": "fear",
    "worried": "fear",
    "fearful": "fear",
    "scared": "fear",
    "tense": "fear",
    "nervous": "fear",
    "sad": "sadness",
    "down": "sadness",
    "lonely": "sadness",
    "unhappy": "sadness",
    "hurt": "sadness",
    "disappointed": "sadness",
    "angry": "anger",
    "mad": "anger",
    "irritated": "anger",
    "annoyed": "anger",
    "frustrated": "anger",
    "jealous": "anger",
    "ashamed": "disgust",
    "humiliated": "disgust",
    "embarrassed": "disgust",
    "guilty": "disgust",
    "suspicious": "fear",
    "happy": "joy",
    "hopeful": "anticipation",
    "surprised": "surprise",
    "shocked": "surprise",
}
PLAIN_DAY = (
    ("07:00", "gets up and has breakfast"),
    ("09:00", "works or does what has to be done"),
    ("12:30", "has lunch"),
    ("14:00", "goes on with the day's work"),
    ("18:00", "cooks and eats supper"),
    ("22:30", "goes to bed"),
)
PLAIN_ROUTINES = (
    ("22:30", "07:00", "bedroom", "sleep", "sleeps"),
    ("07:00", "09:00", "kitchen", "meal", "gets up and has breakfast"),
    ("09:00", "12:30", "living room", "work", "works at the table"),
    ("12:30", "13:30", "kitchen", "meal", "eats something warm"),
    ("13:30", "18:00", "living room", "work", "goes on with the work"),
    ("18:00", "20:00", "kitchen", "meal", "cooks and eats supper"),
    ("20:00", "22:30", "living room", "rest", "sits on the sofa with a book"),
)


def import_records(file: Path, out: Path) -> list[Path]:
    """Write a persona file for each person in a JSON file of records; return what was written.

    SpecError names each record and the field that is missing, or the person with too few
    situations.
    """
    records = _read(file)
    problems = [
        problem
        for index, record in enumerate(records)
        for problem in _record_problems(file, index, record)
    ]
    if problems:
        raise SpecError(problems)
    people: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        people.setdefault(_person_id(record), []).append(record)
    ready: list[tuple[Path, dict[str, Any]]] = []
    for person, own in people.items():
        if len(own) < FEWEST_SITUATIONS:
            raise SpecError(
                [
                    f"{file}: person {person!r} ({own[0]['name']}) has {len(own)} situations; a"
                    f" client needs {FEWEST_SITUATIONS}, one record each"
                ]
            )
        data = _persona(own)
        path = out / (
            re.sub(r"[^a-z0-9]+", "_", f"{own[0]['name']}_{person}".lower()).strip("_") + ".yaml"
        )
        parse_persona(data, path, {})
        if path.exists() or path in (other for other, _ in ready):
            raise SpecError([f"{path}: exists already; move it away, or choose another --out"])
        ready.append((path, data))
    return [_write(path, data, file) for path, data in ready]


def _read(file: Path) -> list[dict[str, Any]]:
    records, _ = read_json(file)
    if isinstance(records, dict):
        records = [records]
    if (
        not isinstance(records, list)
        or not records
        or not all(isinstance(record, dict) for record in records)
    ):
        raise SpecError([f"{file}: expected a list of records, each with {', '.join(FIELDS)}"])
    return records


def _record_problems(file: Path, index: int, record: dict[str, Any]) -> list[str]:
    """Beliefs of one kind may be empty, all else must be there."""
    who = f"{file}: record {index + 1} ({record.get('name') or 'no name'})"
    missing = [field for field in FIELDS if field not in record]
    empty = [
        f for f in FIELDS if f in record and not f.endswith("_belief") and not _words(record[f])
    ]
    problems = [f"{who}: the field {field!r} is missing; add it" for field in missing]
    problems += [f"{who}: the field {field!r} is empty; fill it in" for field in empty]
    for field in FIELDS:
        wrong = next(
            (wrong for text in _words(record.get(field)) if (wrong := control_in(text))), None
        )
        problems += [f"{who}: the field {field!r} {wrong}"] if wrong else []
    if not missing and not any(
        _words(record[f"{kind}_belief"]) for kind in ("helpless", "unlovable", "worthless")
    ):
        problems.append(
            f"{who}: all three core beliefs are empty; fill in helpless_belief, unlovable_belief or"
            " worthless_belief"
        )
    return problems


def _words(value: Any) -> list[str]:
    """Texts of a field that may be a text or a list of texts."""
    items = value if isinstance(value, list) else [value]
    return [str(item).strip() for item in items if item is not None and str(item).strip()]


def _person_id(record: dict[str, Any]) -> str:
    """'1-1' and '1-2' are two records of person 1."""
    return str(record["id"]).split("-")[0]


def _emotion(texts: list[str]) -> Emotion:
    for word in re.findall(r"[a-z]+", " ".join(texts).lower()):
        if word in _FEELING:
            return _FEELING[word]
        if word in EMOTIONS:
            return EMOTIONS[EMOTIONS.index(word)]
    return "sadness"


def _persona(own: list[dict[str, Any]]) -> dict[str, Any]:
    first = own[0]
    cores = {
        (kind, belief)
        for record in own
        for kind in ("helpless", "unlovable", "worthless")
        for belief in _words(record[f"{kind}_belief"])
    }
    middle = sorted({belief for record in own for belief in _words(record["intermediate_belief"])})
    coping = sorted({way for record in own for way in _words(record["coping_strategies"])})
    return {
        "name": str(first["name"]),
        "role": "client",
        "age": 35,
        "gender": "not stated",
        "pronouns": "they/them",
        "culture": "not stated",
        "occupation": "not stated",
        "background": f"{first['name']} is a client described in a cognitive conceptualization.",
        "history": " ".join(_words(first["history"])),
        "theme": "depression",
        "style": "; ".join(sorted({t for r in own for t in _words(r["type"])})),
        "core_beliefs": [{"kind": kind, "belief": belief} for kind, belief in sorted(cores)],
        "intermediate_beliefs": [{"kind": "assumption", "belief": belief} for belief in middle],
        "coping_strategies": coping,
        "situations": [
            {
                "situation": " ".join(_words(r["situation"])),
                "thought": " ".join(_words(r["auto_thought"])),
                "emotion": _emotion(_words(r["emotion"])),
                "intensity": 7,
                "behavior": " ".join(_words(r["behavior"])),
            }
            for r in own
        ],
        "habits": ["not stated"],
        "portrait": {
            "characteristic": f"{first['name']} copes in these ways: {'; '.join(coping)}.",
            "recent_feeling": (
                f"Of late {first['name']} has often felt {' and '.join(_words(first['emotion']))}."
            ),
        },
        "days": [[{"at": at, "do": do} for at, do in PLAIN_DAY]],
        "routines": [
            {"since": s, "until": u, "place": p, "kind": k, "do": d}
            for s, u, p, k, d in PLAIN_ROUTINES
        ],
    }


def _write(path: Path, data: dict[str, Any], source: Path) -> Path:
    head = (
        f"# Read from {source.name}. Patient-Psi records hold no age, gender, culture, theme,"
        " style, habits, days or routines:\n# what stands here for those is a plain stand-in."
        " Complete it, and add a `voice`, before you draw conclusions.\n"
    )
    write_yaml(path, head, data)
    return path
