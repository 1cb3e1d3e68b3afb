"""Clients' files in the terms of a therapy: `therapies/clients/THERAPY.yaml` has them by client.

A client is written as CBT sees them: beliefs, rules, ways of coping. A psychodynamic counselor
works on a conflict, a behavioral one on what comes before and after a behavior. So some clients
that come with simcounsel have a second file for each of these therapies, which takes the place of
their beliefs. What moves is then told, and moves, in these terms.
"""

from functools import cache
from importlib.resources import as_file, files
from typing import Annotated

from pydantic import Field

from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.persona import CasePart, ClientPersona
from simcounsel.specs.voice import Text
from simcounsel.therapies.specs.therapy import Id, Therapy


class WrittenPart(Spec):
    """A part of a client's file, in a therapy's terms."""

    kind: Id
    """Which of the therapy's `client:` fields."""
    text: Text
    strength: Annotated[int, Field(ge=0, le=100)] | None = None
    """How strongly it holds; given where the field moves."""


class ClientFiles(Spec):
    """Files of clients, by their full names."""

    clients: dict[str, Annotated[tuple[WrittenPart, ...], Field(min_length=1)]]


def in_terms_of(persona: ClientPersona, therapy: Therapy) -> ClientPersona:
    """The client with a file in the therapy's terms; as it is where it has one or none comes with
    simcounsel.
    """
    written = shipped_files(therapy.id).get(persona.name) if therapy.client else None
    if persona.case or not written:
        return persona
    return persona.model_copy(update={"case": case_of(written, therapy)})


def case_of(written: tuple[WrittenPart, ...], therapy: Therapy) -> tuple[CasePart, ...]:
    """The parts with their names. ValueError for one that the therapy does not know, or whose
    strength is missing or too much.
    """
    fields = {field.id: field for field in therapy.client}
    for part in written:
        field = fields.get(part.kind)
        if field is None:
            raise ValueError(f"{part.kind!r} is none of {', '.join(fields)}")
        if field.moves != (part.strength is not None):
            raise ValueError(
                f"{part.kind}: `strength` {'is missing' if field.moves else 'has no place there'}"
            )
    return tuple(
        CasePart(kind=one.kind, name=fields[one.kind].name, text=one.text, strength=one.strength)
        for one in written
    )


@cache
def shipped_files(therapy: str) -> dict[str, tuple[WrittenPart, ...]]:
    """Those that come with simcounsel, by the client's full name; {} where there are none."""
    folder = files("simcounsel").joinpath("therapies", "clients")
    file = folder.joinpath(f"{therapy}.yaml")
    if not file.is_file():
        return {}
    with as_file(file) as path:
        return load_spec(path, ClientFiles)[0].clients
