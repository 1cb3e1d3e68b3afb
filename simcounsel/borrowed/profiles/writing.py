"""A client of ours in another form, with what is lost."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simcounsel.borrowed.profiles.forms import (
    NOT_STATED,
    SENTENCE,
    TABLES,
    Form,
    form_named,
    leaves,
    line_in,
    said,
)
from simcounsel.borrowed.profiles.shapes import SHAPES
from simcounsel.specs.patient_psi_persona import sentence
from simcounsel.specs.persona import ClientPersona

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Translated:
    """A profile, and what became of the client in it."""

    data: Json
    """One record: what a simulator takes. With several records, the one that was asked for."""
    records: tuple[Json, ...]
    """All that a file holds: Patient-Psi has a record for each situation, others one."""
    lost: tuple[str, ...]
    """What our file says and the form has no place for, in sentences."""
    filled: tuple[str, ...]
    """What the form asks for and our file does not say, in sentences."""


def profile_for(
    persona: ClientPersona, form: str, *, situation: int | None = 0, filled: Collection[str] = ()
) -> Translated:
    """A client in another form. situation: the one that goes into `data`, from 0, where a record
    holds one; what the other situations hold is then lost. None: a file is written, with all of
    them. filled: keys of ours that nobody stated. SpecError for a form that is not known.
    """
    to = form_named(form, "--to")
    own = persona.model_dump(mode="json", exclude_unset=True, exclude=set(filled) - {"name"})
    if form == "ours":
        whole = persona.model_dump(mode="json", exclude_unset=True)
        return Translated(data=whole, records=(whole,), lost=(), filled=())
    if form == "patientpsi":
        records = tuple(_patient_psi(own))
        asked = {label: str(value or "") for label, value in records[0].items()}
    else:
        asked = {label: _value(own, to, label) for label in to.fields}
        records = (_shaped(to, asked),)
    for record in records:
        if form in SHAPES:
            SHAPES[form].model_validate(record)
    data = records[min(situation or 0, len(records) - 1)]
    gone = unheld(own, records if situation is None else data, to)
    return Translated(
        data=data,
        records=records,
        lost=(f"{to.title} has no place for: {', '.join(gone)}.",) if gone else (),
        filled=tuple(_open(to, asked)),
    )


def _open(form: Form, asked: Mapping[str, str]) -> Iterator[str]:
    if empty := [label for label, value in asked.items() if not said(value)]:
        yield f"Not stated, where {form.title} asks: {', '.join(empty)}."
    if quoted := [label for label, value in asked.items() if value.startswith(WITHOUT_LEVEL)]:
        yield f"In the file's own words, without a level: {', '.join(quoted)}."


WITHOUT_LEVEL = f"{NOT_STATED} as a level; the file says: "


def _value(own: Json, form: Form, label: str) -> str:
    """What a field gets: the same key of ours, its line in the history, words about its danger,
    or what else we have.
    """
    field = form.fields[label]
    if field.write == (field.read,) and (same := _told(own, field.read, form)):
        return same
    lines = (line_in(one, form) for one in str(own.get("history", "")).splitlines())
    if told := next((value for found, value in filter(None, lines) if found == label), None):
        return told
    if field.danger:
        words = [f"“{one}”" for one in about(own, str(TABLES["dangers"][field.danger]))]
        return WITHOUT_LEVEL + " ".join(words) if words else NOT_STATED
    parts = [text for path in field.write if (text := _told(own, path, form))]
    if len(parts) < 2:
        return parts[0] if parts else NOT_STATED
    return " ".join(sentence(f"{part[0].upper()}{part[1:]}") for part in parts)


def about(own: Json, pattern: str) -> list[str]:
    """The sentences of a client's file with such words, each once."""
    found = re.compile(pattern, re.IGNORECASE)
    texts = (part for _, text in leaves(own) for part in SENTENCE.split(text))
    return list(dict.fromkeys(one.strip() for one in texts if found.search(one)))


def _told(own: Json, path: str, form: Form) -> str:
    """What is at a path of ours, as one text; '' for nothing."""
    found: list[Any] = [own]
    for part in path.split("."):
        if part.isdecimal():
            found = found[int(part) :][:1]
            continue
        values = [one[part] for one in found if one.get(part) is not None]
        found = [v for one in values for v in (one if isinstance(one, list) else [one])]
    if path == "history":
        lines = str(found[0]).splitlines() if found else []
        return " ".join(one for one in lines if said(one) and line_in(one, form) is None)
    texts = (", ".join(text for _, text in leaves(one)) for one in found)
    return "; ".join(text for text in texts if text)


def _patient_psi(own: Json) -> Iterator[Json]:
    """A record for each situation."""
    beliefs: dict[str, list[str]] = {"helpless": [], "unlovable": [], "worthless": []}
    for one in own.get("core_beliefs", ()):
        beliefs[one["kind"]].append(one["belief"])
    history = [str(own[key]) for key in ("background", "history") if said(own.get(key))]
    usual = [one["belief"] for one in own.get("intermediate_beliefs", ())]
    coping = [one for one in own.get("coping_strategies", ()) if said(one)]
    for number, one in enumerate(own.get("situations") or [{}], 1):
        yield {
            "name": own["name"],
            "id": f"1-{number}",
            "history": " ".join(map(sentence, history)),
            **{f"{kind}_belief": texts for kind, texts in beliefs.items()},
            "intermediate_belief": "\n".join(usual),
            "intermediate_belief_depression": "",
            "coping_strategies": "; ".join(coping),
            "situation": one.get("situation", ""),
            "auto_thought": one.get("thought", ""),
            "emotion": [one["emotion"]] if one else [],
            **({"intensity": one["intensity"]} if one else {}),
            "behavior": one.get("behavior", ""),
        }


def _shaped(form: Form, asked: Mapping[str, str]) -> Json:
    """The record of a form, of its fields as texts."""
    if form.name == "eeyore":
        return {
            "profile": {
                label: _table(value) if form.fields[label].table else value
                for label, value in asked.items()
            }
        }
    if form.name == "veramh":
        return dict(asked)
    parts = [(label, value) for label, value in asked.items() if label[0].isupper()]
    return {
        "thought": asked["thought"],
        "patterns": asked["patterns"].split("; ") if said(asked["patterns"]) else [],
        "intake_form": "\n".join(
            f"\n{NUMBERS[label]}. {label}\n{value}" if label in NUMBERS else f"{label}: {value}"
            for label, value in parts
        ),
        "attitude": asked["attitude"],
    }


NUMBERS = {
    "Presenting Problem": 2,
    "Reason for Seeking Counseling": 3,
    "Past History (including medical history)": 4,
    "Academic/occupational functioning level": 5,
    "Social Support System": 6,
}
"""Of the parts of Cactus's intake form."""


def _table(text: str) -> dict[str, str]:
    """Values by name, of `name: value; name: value`."""
    pairs = (one.rpartition(": ") for one in text.split("; ") if said(text))
    return {name or value: value if name else NOT_STATED for name, _, value in pairs}


def unheld(own: Json, data: Any, form: Form) -> list[str]:
    """What of ours is not in the data of a form: keys, with the part where not all of it is
    missing. A text counts as held where its key has a place in the form and it is there, as it is
    but for capitals.
    """
    hay = " ".join(_flat(part) for part in _texts(data))
    all_, gone = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for path, text in leaves({k: v for k, v in own.items() if k != "role"}):
        places = (".".join(path[: n + 1]) for n in range(len(path)))
        there = all(_flat(one) in hay for line in text.splitlines() for one in _pieces(line, form))
        all_[path] += 1
        gone[path] += not (there and any(place in form.holds for place in places))
    named = []
    for key in dict.fromkeys(path[0] for path in all_):
        paths = [path for path in all_ if path[0] == key and gone[path]]
        title = key.replace("_", " ")
        if all(gone[path] == all_[path] for path in all_ if path[0] == key):
            named.append(title)
        elif paths:
            inner = (
                " ".join(filter(None, (" ".join(path[1:]), _share(gone[path], all_[path]))))
                for path in paths
            )
            named.append(f"{title} ({', '.join(inner)})")
    return named


def _pieces(line: str, form: Form) -> list[str]:
    """What is looked for of a line: of one with a field of its own the values."""
    found = line_in(line, form)
    return re.split("; |: ", found[1]) if found else [line]


def _share(gone: int, of: int) -> str:
    return "" if gone == of else f"{gone} of {of}"


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())


def _texts(data: Any) -> Iterator[str]:
    """All texts, numbers and keys in data."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _texts(value)
    else:
        yield str(data)
