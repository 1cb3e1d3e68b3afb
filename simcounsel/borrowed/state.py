"""What an object of another package remembers, as data that a log can hold, and back again."""

from collections.abc import Iterable, Mapping
from enum import Enum
from importlib import import_module
from typing import Any

from pydantic import BaseModel, JsonValue

from simcounsel.errors import PluginError

KIND = "!"
"""The key under which it is written what a mapping was: `tuple`, `set`, `pairs`, `module:Class`."""


class _Fixed(Exception):
    """Holds what cannot be written."""

    def __init__(self, what: object) -> None:
        super().__init__(type(what).__name__)


def kept(
    thing: object, left_out: Iterable[str], built: Mapping[str, Any], package: str
) -> JsonValue:
    """The attributes of `thing` as JSON, less those left out. What cannot be written may stay as it
    was `built`; PluginError where there is such a thing that was not there when it was built.
    """
    found: dict[str, JsonValue] = {}
    for name, value in vars(thing).items():
        if name in left_out:
            continue
        try:
            found[name] = _written(value, package)
        except _Fixed as fixed:
            if name not in built:
                raise PluginError(
                    f"{type(thing).__name__} keeps {name!r}, a {fixed}, which no log can hold:"
                    " resume and fork would not go on where it was"
                ) from None
    return found


def put_back(thing: object, state: Mapping[str, Any], package: str) -> None:
    """Give `thing`, newly built, the attributes that were kept."""
    for name, value in state.items():
        setattr(thing, name, _read(value, getattr(thing, name, None), package))


def _written(value: Any, package: str) -> JsonValue:
    if isinstance(value, Enum):
        return _written(value.value, package)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list):
        return [_written(one, package) for one in value]
    if isinstance(value, tuple | set | frozenset):
        kind = "tuple" if isinstance(value, tuple) else "set"
        items = value if kind == "tuple" else sorted(value, key=repr)
        return {KIND: kind, "items": [_written(one, package) for one in items]}
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value) and KIND not in value:
            return {key: _written(one, package) for key, one in value.items()}
        pairs = [[_written(key, package), _written(one, package)] for key, one in value.items()]
        return {KIND: "pairs", "items": pairs}  # type: ignore[dict-item]
    of = type(value)
    if of.__module__.partition(".")[0] != package or "<" in of.__qualname__:
        raise _Fixed(value)
    fields = value.__dict__ if isinstance(value, BaseModel) else vars(value)
    return {
        KIND: f"{of.__module__}:{of.__qualname__}",
        "fields": {name: _written(one, package) for name, one in fields.items()},
    }


def _read(value: Any, built: Any, package: str) -> Any:
    if isinstance(value, list):
        return [_read(one, None, package) for one in value]
    if not isinstance(value, dict):
        return value
    match value.get(KIND):
        case None:
            return {key: _read(one, None, package) for key, one in value.items()}
        case "tuple":
            return tuple(_read(one, None, package) for one in value["items"])
        case "set":
            return {_read(one, None, package) for one in value["items"]}
        case "pairs":
            return {
                _read(key, None, package): _read(one, None, package) for key, one in value["items"]
            }
        case kind:
            return _object(str(kind), value["fields"], built, package)


def _object(kind: str, fields: Mapping[str, Any], built: Any, package: str) -> Any:
    """An object of that package: the one that was built, if there is one, else a new one."""
    module, _, name = kind.partition(":")
    if module.partition(".")[0] != package:
        raise PluginError(f"a log names {kind}, which is not of {package}")
    of: Any = import_module(module)
    for part in name.split("."):
        of = getattr(of, part)
    values = {
        key: _read(one, getattr(built, key, None) if built is not None else None, package)
        for key, one in fields.items()
    }
    if isinstance(of, type) and issubclass(of, BaseModel):
        return of.model_construct(**values)
    one = built if type(built) is of else of.__new__(of)
    vars(one).update(values)
    return one
