"""What a model of pydantic holds: each key with its type in plain words, default, bounds and meaning."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from simcounsel.events import Data

MEANINGS = Path(__file__).with_name("meanings.yaml")
"""What the code's docstrings do not say, by class and key."""
WORDS = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    NoneType: "nothing",
}
BOUNDS = {"ge": "at least {}", "gt": "above {}", "le": "at most {}", "lt": "below {}", "min_length": "at least {} {of}", "max_length": "at most {} {of}", "multiple_of": "a multiple of {}"}  # fmt: skip


class Key(NamedTuple):
    """One key of a mapping in a file."""

    name: str
    takes: str
    default: str
    meaning: str


@cache
def _meanings() -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = yaml.safe_load(MEANINGS.read_text(encoding="utf-8"))
    return told


def keys(kind: type[BaseModel]) -> Iterator[Key]:
    """All of a model, in their order; meaning is '' where nobody wrote one."""
    told = {name: text for one in reversed(kind.__mro__) for name, text in documented(one).items()}
    for name, field in kind.model_fields.items():
        meaning = field.description or told.get(name) or _told(kind, name)
        yield Key(field.alias or name, _takes(field), _default(field), meaning)


def _told(kind: type[BaseModel], name: str) -> str:
    """By the class or one that it is made of, else by the name alone in the files or events that share it."""
    shared = "events" if issubclass(kind, Data) else "files"
    places = [*(one.__name__ for one in kind.__mro__), shared]
    return next((_meanings()[one][name] for one in places if name in _meanings().get(one, {})), "")


@cache
def documented(kind: type) -> dict[str, str]:
    """Fields with the docstring below each, of the class itself."""
    if kind is BaseModel or not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return {}
    body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0].body  # type: ignore[attr-defined]
    return {
        first.target.id: inspect.cleandoc(second.value.value)
        for first, second in zip(body, body[1:], strict=False)
        if isinstance(first, ast.AnnAssign)
        and isinstance(first.target, ast.Name)
        and isinstance(second, ast.Expr)
        and isinstance(second.value, ast.Constant)
        and isinstance(second.value.value, str)
    }


def _takes(field: FieldInfo) -> str:
    bounds = list(_bounds(field.metadata, field.annotation))
    return plain(field.annotation) + (f" ({', '.join(bounds)})" if bounds else "")


def _bounds(metadata: Any, kind: Any) -> Iterator[str]:
    of = "characters" if kind is str else "entries"
    for one in metadata:
        for name, words in BOUNDS.items():
            value = getattr(one, name, None)
            if value is not None:
                short = (name, value) == ("min_length", 1)
                yield "not empty" if short else words.format(value, of=of)
        if isinstance(one, FieldInfo):
            yield from _bounds(one.metadata, kind)


def plain(kind: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in WORDS:
        return WORDS[kind]
    if origin is Literal:
        return "one of " + ", ".join(f"`{one}`" for one in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(plain(one) for one in inner if one is not NoneType)) + (
            ", or nothing" if NoneType in inner else ""
        )
    if (origin is not None and getattr(origin, "__name__", "") == "Annotated") or hasattr(
        kind, "__metadata__"
    ):
        bounds = list(_bounds(kind.__metadata__, kind.__origin__))
        return plain(kind.__origin__) + (f" ({', '.join(bounds)})" if bounds else "")
    if origin in (tuple, list, set, frozenset):
        items = [one for one in inner if one is not Ellipsis]
        return "list of: " + " and ".join(dict.fromkeys(plain(one) for one in items))
    if origin is not None and inner and len(inner) == 2:
        return f"mapping of {plain(inner[0])} to {plain(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    return {
        "datetime": "date and time",
        "date": "date",
        "time": "time",
        "Any": "anything",
        "dict": "mapping",
        "object": "anything",
        "Path": "path",
    }.get(getattr(kind, "__name__", str(kind)), str(getattr(kind, "__name__", kind)))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    value = field.get_default(call_default_factory=True) if field.default_factory is None else None
    if value is PydanticUndefined or value is None or value in ((), {}, ""):
        return "none"
    if isinstance(value, BaseModel):
        return "its own defaults"
    return f"`{value!r}`" if not isinstance(value, str) else f"`{value}`"


def within(kind: type[BaseModel]) -> list[type[BaseModel]]:
    """The model and all that it holds, each once."""
    found: list[type[BaseModel]] = []

    def walk(one: type[BaseModel]) -> None:
        if one in found:
            return
        found.append(one)
        for field in one.model_fields.values():
            for inner in _models(field.annotation):
                walk(inner)

    walk(kind)
    return found


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for inner in get_args(kind):
        yield from _models(inner)
