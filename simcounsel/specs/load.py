"""YAML into frozen pydantic models, with errors that name file, line, value and remedy."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from simcounsel.errors import SpecError


class Spec(BaseModel):
    """Base of everything that is read from a file: frozen, and no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


S = TypeVar("S", bound=BaseModel)
Lines = dict[tuple[str | int, ...], int]
ADAPTED = "embedded+adapter="
"""Begins the name of a model that is the embedded one with an adapter; its path follows."""


class _Loader(yaml.SafeLoader):
    """YAML 1.2 where it hurts: `on`, `off`, `yes`, `no` and times like 07:15 stay text, 010 is ten."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith((":bool", ":int", ":timestamp", ":float"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _resolve(tag: str, pattern: str, first: str) -> None:
    import re

    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


_resolve("bool", r"^(?:true|True|false|False)$", "tTfF")
_resolve("int", r"^[-+]?[0-9]+$", "-+0123456789")
_resolve("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$|^[-+]?[0-9]+[eE][-+]?[0-9]+$", "-+0123456789.")


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _decimal)


def read_value(text: str) -> Any:
    """A value as it would stand behind a key in a file. yaml.YAMLError when it is not YAML."""
    return yaml.load(text, _Loader)


def read_yaml(path: Path) -> tuple[Any, Lines]:
    """The data of a YAML file and, for each path in it, the line (from 1) where it stands."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError([f"{path}: no such file{_nearby(path)}"]) from None
    except IsADirectoryError:
        raise SpecError([f"{path}: a folder, not a file; name one of the files in it"]) from None
    except UnicodeDecodeError as error:
        raise SpecError([f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8"]) from None
    except OSError as error:
        raise SpecError([f"{path}: cannot be read ({error.strerror})"]) from None
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        lines: Lines = {(): 1}
        problems: list[str] = []
        if node is None:
            raise SpecError([f"{path}:1: the file is empty; `simcounsel init DIR` writes one to start from"])
        _walk(node, (), lines, problems, path)
        if problems:
            raise SpecError(problems)
        return _found_from(path.parent, loader.construct_document(node)), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SpecError([f"{path}:{line}: not valid YAML: {error.problem or error.context}{_hint(text, line)}"]) from None
    except yaml.YAMLError as error:
        raise SpecError([f"{path}: not valid YAML: {error}"]) from None
    except RecursionError:
        raise SpecError([f"{path}: nested too deeply, or an alias that contains itself"]) from None


def _found_from(folder: Path, data: Any) -> Any:
    """The data, with the path of each adapter that a model's name holds taken from the file's own folder, as all paths in YAML files are."""
    if isinstance(data, dict):
        return {key: _found_from(folder, value) for key, value in data.items()}
    if isinstance(data, list):
        return [_found_from(folder, value) for value in data]
    if not isinstance(data, str) or not data.startswith(ADAPTED) or data[len(ADAPTED) :].startswith("~"):
        return data
    return ADAPTED + os.path.normpath(folder / data[len(ADAPTED) :])


def _nearby(path: Path) -> str:
    folder = path.parent
    names = [p.name for p in folder.iterdir()] if folder.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    return f"; did you mean {folder / near[0]}?" if near else ""


def _hint(text: str, line: int) -> str:
    lines = text.splitlines()
    if 0 < line <= len(lines) and "\t" in lines[line - 1]:
        return " (indent with spaces, not tabs)"
    return "; quote text that contains ': ' or begins with [, {, &, *, !, %, @"


def _walk(node: yaml.Node, at: tuple[str | int, ...], lines: Lines, problems: list[str], path: Path) -> None:
    lines[at] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*at, str(key.value))
            if here in lines:
                problems.append(f"{path}:{key.start_mark.line + 1}: {key.value!r} stands here a second time; remove one")
            _walk(value, here, lines, problems, path)
            lines[here] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _walk(value, (*at, index), lines, problems, path)


def line_of(lines: Lines, at: tuple[str | int, ...]) -> int:
    """The line of a path, or of its nearest ancestor that stands in the file."""
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at, 1)


def load_spec(path: Path, kind: type[S]) -> tuple[S, Lines]:
    """A file as a `kind`; SpecError names every problem in it at once."""
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    return parse_spec(data, kind, path, lines), lines


def parse_spec(data: Any, kind: type[S], path: Path, lines: Lines) -> S:
    """Data that was read from `path` as a `kind`; SpecError names every problem at once."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise SpecError([explain(e, kind, path, lines) for e in error.errors(include_url=False)]) from None


def explain(error: ErrorDetails, kind: type[BaseModel], path: Path, lines: Lines) -> str:
    """One pydantic error as `file:line: place: what is wrong; what to do`."""
    at = tuple(part for part in error["loc"])
    where = ".".join(str(part) for part in at) or "file"
    head = f"{path}:{line_of(lines, at)}: {where}"
    value = repr(error["input"])
    value = value if len(value) <= 60 else value[:57] + "..."
    match error["type"]:
        case "missing":
            return f"{head}: missing; add `{at[-1]}: ...`"
        case "extra_forbidden":
            known = sorted(_fields_at(kind, at[:-1]))
            near = difflib.get_close_matches(str(at[-1]), known, n=1)
            remedy = f"did you mean '{near[0]}'?" if near else f"known here: {', '.join(known)}"
            return f"{head}: unknown key; {remedy}"
        case "literal_error":
            expected = str(error.get("ctx", {}).get("expected", ""))
            options = [o.strip(" '") for o in expected.replace(" or ", ", ").split(",")]
            near = difflib.get_close_matches(str(error["input"]), options, n=1)
            mean = f"; did you mean '{near[0]}'?" if near else ""
            return f"{head}: {value} is not one of {', '.join(options)}{mean}"
        case "value_error":
            return f"{head}: {str(error['msg']).removeprefix('Value error, ')}"
        case _:
            return f"{head}: {value}: {error['msg'][0].lower()}{error['msg'][1:]}"


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
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


def write_yaml(path: Path, head: str, data: Mapping[str, Any]) -> None:
    """A file to be read and changed by people: `head`, lines that begin with #, then the data. SpecError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=120), encoding="utf-8")
    except OSError as error:
        raise SpecError([f"{path}: cannot be written ({error.strerror}); choose another --out"]) from None
