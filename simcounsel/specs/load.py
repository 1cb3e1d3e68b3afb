"""YAML into frozen pydantic models, with errors that name file, line, value and remedy."""

import difflib
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError
from pydantic_core import CoreSchema, ErrorDetails

from simcounsel.errors import SpecError
from simcounsel.secret import scrub
from simcounsel.specs.file_text import Lines as Lines
from simcounsel.specs.file_text import line_of as line_of
from simcounsel.specs.file_text import read_text, write_text
from simcounsel.specs.problems import Problem, Unread
from simcounsel.specs.yaml_text import NotYaml, parse_yaml


def _take_numbers_as_they_are(schema: Any) -> None:
    """Neither `true` nor '6' nor 6.5 is a whole number: pydantic's strict mode, but for numbers
    and truth values alone, since a list shall still be taken for a tuple. Keys are text in JSON.
    """
    if isinstance(schema, dict):
        if schema.get("type") in ("int", "float", "bool"):
            schema["strict"] = True
        for key, inner in schema.items():
            if key not in ("default", "metadata", "serialization", "keys_schema"):
                _take_numbers_as_they_are(inner)
    elif isinstance(schema, (list, tuple)):
        for inner in schema:
            _take_numbers_as_they_are(inner)


class Spec(BaseModel):
    """Base of everything that is read from a file: frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _take_numbers_as_they_are(schema)
        return schema

    @classmethod
    def beside(cls) -> tuple[type[BaseModel], ...]:
        """Models whose keys may be beside its own."""
        return ()


S = TypeVar("S", bound=BaseModel)
MOST_MB = 8
"""Of a YAML file; reading takes a second for each."""
ADAPTER = "+adapter="
"""In a model's name: the path of an adapter follows."""
LOCAL = "local:"
"""Begins the name of a model in this process; a path may follow."""


def read_value(text: str) -> Any:
    """A value as it would be behind a key in a file; None for no text. NotYaml when it is not
    YAML.
    """
    return parse_yaml(text)[0]


STARTER = "`simcounsel init DIR` writes one to start from"


def read_yaml(path: Path, remedy: str = STARTER) -> tuple[Any, Lines]:
    """The data of a YAML file and, for each path in it, the line (from 1) where it is. remedy:
    what to do when it is empty.
    """
    text = read_text(path, MOST_MB)
    try:
        data, lines = _parsed(text)
    except NotYaml as error:
        raise SpecError([f"{path}:{line}: {what}" for line, what in error.problems]) from None
    if data is None:
        raise SpecError([f"{path}:1: the file is empty; {remedy}"])
    return _found_from(path.parent, data), dict(lines)


@lru_cache(maxsize=128)
def _parsed(text: str) -> tuple[Any, Lines]:
    """Each text once: a sweep names the same people in every world. Nobody may change what comes
    out.
    """
    return parse_yaml(text)


def _found_from(folder: Path, data: Any) -> Any:
    """The data, with the paths that models' names hold taken from the file's own
    folder, as all paths in YAML files are.
    """
    if isinstance(data, dict):
        return {key: _found_from(folder, value) for key, value in data.items()}
    if isinstance(data, list):
        return [_found_from(folder, value) for value in data]
    return _placed(folder, data) if isinstance(data, str) else data


def _placed(folder: Path, name: str) -> str:
    """A model's name with the paths in it from this folder; any other text as it is."""
    model, behind, adapter = name.partition(ADAPTER)
    if not name.startswith((LOCAL, f"embedded{ADAPTER}")):
        return name
    if model.startswith(LOCAL) and names_file(model):
        model = LOCAL + _from(folder, model.removeprefix(LOCAL))
    return f"{model}{ADAPTER}{_from(folder, adapter)}" if behind else model


def names_file(name: str) -> bool:
    """Whether the name of a local model, without adapter, is that of a file."""
    return "/" in name or "\\" in name or re.sub("#.*", "", name).endswith(".gguf")


def _from(folder: Path, place: str) -> str:
    return place if place.startswith("~") else os.path.normpath(folder / place)


def load_spec(path: Path, kind: type[S], remedy: str = STARTER) -> tuple[S, Lines]:
    """A file as a `kind`; SpecError names every problem in it at once. remedy: what to do when it
    is empty.
    """
    data, lines = read_yaml(path, remedy)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    return parse_spec(data, kind, path, lines), lines


def parse_spec(data: Any, kind: type[S], path: Path, lines: Lines, entry: int | None = None) -> S:
    """Data that was read from `path` as a `kind`; SpecError names every problem at once, but those
    of what could not be read (`Unread`). entry: its index in a file that is a list.
    """
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise SpecError(
            [
                explain(e, kind, path, lines, entry)
                for e in _causes(error)
                if not isinstance(e["input"], Unread)
            ]
        ) from None


def _causes(error: ValidationError) -> list[ErrorDetails]:
    """Without a list that is called too short only because its entries are wrong."""
    found = error.errors(include_url=False)
    within = {one["loc"][:length] for one in found for length in range(len(one["loc"]))}
    return [one for one in found if one["type"] != "too_short" or one["loc"] not in within]


def explain(
    error: ErrorDetails, kind: type[BaseModel], path: Path, lines: Lines, entry: int | None = None
) -> Problem:
    """One pydantic error as `file:line: place: what is wrong; what to do`. entry: the index of what
    is wrong in a file that is a list.
    """
    at = tuple(part for part in error["loc"])
    head = ".".join(str(part) for part in at)
    if entry is None:
        return Problem(path, lines, at, scrub(f"{head or 'file'}{_wrong(error, kind)}"))
    head = f"entry {entry + 1}{': ' if head else ''}{head}"
    return Problem(path, lines, (entry, *at), scrub(f"{head}{_wrong(error, kind)}"))


def _wrong(error: ErrorDetails, kind: type[BaseModel]) -> str:
    """What is wrong and what to do, behind the place."""
    at = error["loc"]
    value = repr(error["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    match error["type"]:
        case "missing":
            return f": missing; add `{at[-1]}: ...`"
        case "extra_forbidden":
            known = sorted(_fields_at(kind, at[:-1]))
            near = difflib.get_close_matches(str(at[-1]), known, n=1)
            remedy = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"
            return f": unknown key; {remedy}"
        case "literal_error":
            expected = str(error.get("ctx", {}).get("expected", ""))
            options = [o.strip(" '") for o in expected.replace(" or ", ", ").split(",")]
            near = difflib.get_close_matches(str(error["input"]), options, n=1)
            mean = f"; did you mean '{near[0]}'?" if near else ""
            return f": {value} is not one of {', '.join(options)}{mean}"
        case "string_type" if isinstance(error["input"], (bool, int, float)):
            return f": {value}: a number or truth value where text is needed; put it in quotes"
        case "value_error":
            return f": {str(error['msg']).removeprefix('Value error, ')}"
        case _:
            return f": {value}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _fields_at(kind: Any, at: tuple[str | int, ...]) -> set[str]:
    """Names of the fields allowed at a path inside a model, as far as its annotations tell."""
    kinds = _models_in(kind)
    for part in at:
        inner: list[type[BaseModel]] = []
        for model in kinds:
            for name, field in model.model_fields.items():
                if part in (name, field.alias):
                    inner += _models_in(field.annotation)
        kinds = inner or kinds
    return {field.alias or name for model in kinds for name, field in model.model_fields.items()}


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation, *(annotation.beside() if issubclass(annotation, Spec) else ())]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def write_yaml(path: Path, head: str, data: Mapping[str, Any]) -> None:
    """A file to be read and changed by people: `head`, lines that begin with #, then the data.
    SpecError when it cannot be written.
    """
    text = yaml.dump(
        dict(data), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120
    )
    write_text(path, head + text)


def refuse_existing(file: Path) -> None:
    """SpecError where there is such a file."""
    if file.exists():
        raise SpecError([f"{file}: exists already; move it away, or choose another --out"])
