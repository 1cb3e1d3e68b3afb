"""The forms of simulated clients, from forms.yaml."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.packaged import packaged
from simcounsel.specs.problems import suggest

NOT_STATED = "not stated"
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
"""What parts sentences."""
UNSAID = {"", NOT_STATED, "not specified", "unspecified", "unknown", "n/a", "null", "nan"}
"""Texts that say nothing. `none` is no such text: it says that there is none."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of another form. See forms.yaml."""

    read: str = ""
    write: tuple[str, ...] = ()
    danger: str = ""
    table: bool = False
    """Whether it holds values by name."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form of profiles."""

    name: str
    title: str
    problem: tuple[str, ...] = ()
    not_taken: tuple[str, ...] = ()
    fields: Mapping[str, Field]
    older: Mapping[str, str]
    holds: frozenset[str]
    """Which keys of ours have a place in it, such as `situations.thought`."""
    filled: tuple[str, ...] = ()

    @cached_property
    def labels(self) -> dict[str, str]:
        """The names of its fields, by the same in small letters."""
        return {label.casefold(): label for label in self.fields}

    def target(self, label: str) -> str:
        """What of ours a field is read into; '' for a line of the history."""
        known = self.labels.get(label.casefold())
        return self.fields[known].read if known else self.older.get(label, "")


def _form(name: str, raw: Mapping[str, Any]) -> Form:
    fields = {label: _field(one) for label, one in raw.get("fields", {}).items()}
    written = {re.sub(r"\.\d+", "", path) for one in fields.values() for path in one.write}
    return Form(
        name=name,
        title=raw["title"],
        problem=tuple(raw.get("problem", ())),
        not_taken=tuple(raw.get("not_taken", ())),
        fields=fields,
        older=raw.get("older", {}),
        holds=frozenset(written | set(raw.get("holds", ()))),
        filled=tuple(raw.get("filled", ())),
    )


def _field(raw: str | dict[str, Any] | None) -> Field:
    if isinstance(raw, str):
        return Field(read=raw, write=(raw,))
    given: dict[str, Any] = {**(raw or {})}
    return Field(**given | {"write": tuple(given.get("write", ()))})


TABLES: Mapping[str, Any] = packaged("simcounsel.borrowed.profiles", "forms.yaml")
FORMS: Mapping[str, Form] = {
    name: _form(name, raw)
    for name, raw in TABLES.items()
    if isinstance(raw, dict) and "title" in raw
}


def form_named(name: str, option: str) -> Form:
    """The form of that name. SpecError for none."""
    if name not in FORMS:
        raise SpecError([f"{option} {name}: no such form; {suggest(name, list(FORMS))}"])
    return FORMS[name]


def said(value: object) -> bool:
    """Whether a value says something."""
    return value is not None and str(value).strip().rstrip(".").casefold() not in UNSAID


def leaves(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each text and number that says something, with the keys above it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*at, str(key)))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from leaves(inner, at)
    elif said(value):
        yield at, str(value).strip()


def line_in(text: str, form: Form) -> tuple[str, str] | None:
    """The field of the form that a line of a history is about, and its value."""
    label, colon, value = text.partition(": ")
    known = form.labels.get(label.strip().casefold())
    return (known, value.strip()) if colon and known else None
