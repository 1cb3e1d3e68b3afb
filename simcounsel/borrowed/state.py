"""What an object of another package remembers, as data that a log can hold, and back again.

Only what differs from the object as it was built is written. What cannot be written (a lock, a
connection) must be the very one that was built, else it is an error: nothing is lost in silence.
"""

import math
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any

from pydantic import BaseModel, JsonValue

from simcounsel.errors import PluginError

KIND = "!"
"""The key under which it is written what a value was."""
_TIMES = {"datetime": datetime, "date": date}
Form = dict[str, Any]
"""Attributes as JSON."""


class Built:
    """An object of a package, as it was when it was built."""

    def __init__(self, thing: object, left_out: Iterable[str], package: str) -> None:
        self._thing, self._package = thing, package
        self._left_out = frozenset(left_out)
        self._fixed: dict[str, object] = {}
        self._forms: Form = {}
        for name in self._names():
            writer = _Writer(package, self._fixed, building=True)
            self._forms[name] = writer.written(vars(thing)[name], name)

    def _names(self) -> list[str]:
        return [name for name in vars(self._thing) if name not in self._left_out]

    def changed(self) -> Form:
        """The attributes that are not as they were, and those that share something with them.
        PluginError where one cannot be written.
        """
        alone = {name: _Writer(self._package, self._fixed) for name in self._names()}
        forms = {name: one.written(vars(self._thing)[name], name) for name, one in alone.items()}
        names = {name for name, form in forms.items() if form != self._forms.get(name, _NOTHING)}
        met = {one for name in names for one in alone[name].met}
        while more := {n for n, one in alone.items() if n not in names and met & set(one.met)}:
            names |= more
            met |= {one for name in more for one in alone[name].met}
        writer = _Writer(self._package, self._fixed)
        return {
            name: writer.written(vars(self._thing)[name], name) for name in forms if name in names
        }

    def put_back(self, state: Mapping[str, Any]) -> None:
        """Give it the attributes that were written. PluginError where the log names what is not of
        the package.
        """
        reader = _Reader(self._package, self._fixed)
        for name, value in state.items():
            setattr(self._thing, name, reader.read(value, getattr(self._thing, name, None), name))


_NOTHING = object()


def difference(before: Form, now: Form) -> Form:
    """What `now` has that `before` had not: `set`, `more` (items at the end of a list), `gone`."""
    found: Form = {"set": {}, "more": {}, "gone": [name for name in before if name not in now]}
    for name, value in now.items():
        old = before.get(name, _NOTHING)
        if isinstance(old, list) and isinstance(value, list) and value[: len(old)] == old:
            if len(value) > len(old):
                found["more"][name] = value[len(old) :]
        elif value != old:
            found["set"][name] = value
    return {key: one for key, one in found.items() if one}


def together(differences: Iterable[Any]) -> Form:
    """What all of them come to, the oldest first."""
    whole: Form = {}
    for one in differences:
        whole |= one.get("set", {})
        for name, items in one.get("more", {}).items():
            whole[name] = [*whole.get(name, ()), *items]
        for name in one.get("gone", ()):
            whole.pop(name, None)
    return whole


class _Writer:
    """One traversal: what is met a second time is written as a reference to the first."""

    def __init__(self, package: str, fixed: dict[str, object], *, building: bool = False) -> None:
        self._package, self._fixed, self._building = package, fixed, building
        self.met: dict[int, int] = {}
        self._alive: list[object] = []

    def written(self, value: Any, path: str) -> JsonValue:
        """See the module. path: where it is."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, float) and not math.isfinite(value):
            return {KIND: "float", "value": str(value)}
        if isinstance(value, str | int | float) and not isinstance(value, Enum):
            return str(value) if isinstance(value, str) else value + 0
        if id(value) in self.met:
            return {KIND: "ref", "to": self.met[id(value)]}
        self.met[id(value)] = len(self.met)
        self._alive.append(value)
        return self._compound(value, path)

    def _compound(self, value: Any, path: str) -> JsonValue:
        of = type(value)
        if of is list:
            return self._items(value, path)
        if of in (tuple, set, frozenset, deque):
            items = sorted(value, key=repr) if of in (set, frozenset) else value
            return {KIND: of.__name__, "items": self._items(items, path)}
        if of is dict:
            if all(type(key) is str for key in value) and KIND not in value:
                return {key: self.written(one, f"{path}.{key}") for key, one in value.items()}
            return {KIND: "pairs", "items": self._items(list(map(list, value.items())), path)}
        if of.__name__ in _TIMES and of is _TIMES[of.__name__]:
            return {KIND: of.__name__, "value": value.isoformat()}
        if of.__module__.partition(".")[0] == self._package and "<" not in of.__qualname__:
            name = f"{of.__module__}:{of.__qualname__}"
            if isinstance(value, Enum):
                return {KIND: name, "value": self.written(value.value, path)}
            if hasattr(value, "__dict__"):
                fields = {n: self.written(one, f"{path}.{n}") for n, one in vars(value).items()}
                return {KIND: name, "fields": fields}
        return self._as_built(value, path)

    def _items(self, items: Iterable[Any], path: str) -> list[JsonValue]:
        return [self.written(one, f"{path}.{at}") for at, one in enumerate(items)]

    def _as_built(self, value: Any, path: str) -> JsonValue:
        if self._building:
            self._fixed[path] = value
        if self._fixed.get(path, _NOTHING) is not value:
            raise PluginError(
                f"it keeps {path!r}, a {type(value).__name__}, which no log can hold: resume and"
                " fork would not go on where it was"
            )
        return {KIND: "as built"}


class _Reader:
    """The same way back."""

    def __init__(self, package: str, fixed: Mapping[str, object]) -> None:
        self._package, self._fixed = package, fixed
        self._met: list[Any] = []

    def read(self, value: Any, built: Any, path: str) -> Any:
        """built: what is there now, which is filled where it is an object of that class."""
        if not isinstance(value, list | dict):
            return value
        if _of(value) == "float":
            return float(dict(value)["value"])
        if _of(value) == "ref":
            return self._met[dict(value)["to"]]
        place = len(self._met)
        self._met.append(None)
        self._met[place] = found = self._compound(value, built, path, place)
        return found

    def _compound(self, value: Any, built: Any, path: str, place: int) -> Any:
        if isinstance(value, list):
            items: list[Any] = []
            self._met[place] = items
            items.extend(self._items(value, path))
            return items
        match kind := _of(value):
            case None:
                self._met[place] = plain = {}
                plain.update({k: self.read(one, None, f"{path}.{k}") for k, one in value.items()})
                return plain
            case "tuple" | "set" | "frozenset":
                made = {"tuple": tuple, "set": set, "frozenset": frozenset}[kind]
                return made(self._items(value["items"], path))
            case "deque":
                self._met[place] = queue = deque[Any]()
                queue.extend(self._items(value["items"], path))
                return queue
            case "pairs":
                return dict(self._items(value["items"], path))
            case "datetime" | "date":
                return _TIMES[kind].fromisoformat(value["value"])
            case "as built":
                return self._fixed[path]
            case _:
                return self._object(str(kind), value, built, path, place)

    def _items(self, items: Iterable[Any], path: str) -> Iterator[Any]:
        return (self.read(one, None, f"{path}.{at}") for at, one in enumerate(items))

    def _object(self, kind: str, value: Any, built: Any, path: str, place: int) -> Any:
        of = _class_named(kind, self._package)
        if "value" in value:
            return of(self.read(value["value"], None, path))
        pydantic = issubclass(of, BaseModel)
        one = built if type(built) is of and not pydantic else of.__new__(of)
        self._met[place] = one
        fields = {
            name: self.read(field, vars(one).get(name) if one is built else None, f"{path}.{name}")
            for name, field in value["fields"].items()
        }
        if pydantic:
            return of.model_construct(**fields)
        vars(one).update(fields)
        return one


def _of(value: Any) -> Any:
    return value.get(KIND) if isinstance(value, dict) else None


def _class_named(kind: str, package: str) -> Any:
    """A class of that package, which is loaded; nothing is imported for a log."""
    module, _, name = kind.partition(":")
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    if not isinstance(found, type) or found.__module__ != module:
        found = None
    if found is None or module.partition(".")[0] != package:
        raise PluginError(f"a log names {kind!r}, which is no class of {package}")
    return found
