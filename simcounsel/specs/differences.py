"""What differs between the conditions of an experiment, key by key."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from simcounsel.specs.cells import Cell

MISSING = "(none)"

SHOWN = 3
"""This many settings of a part are shown behind its name."""


def differences(cells: tuple[Cell, ...]) -> list[str]:
    """What differs between the conditions, key by key: `condition: client_only | everyone`."""
    first: dict[str, Cell] = {}
    for cell in cells:
        if cell.arm is not None:
            first.setdefault(cell.arm, cell)
    read = _dumped if len({cell.client for cell in first.values()}) == 1 else _of_anybody
    return list(_differing("", {arm: read(cell) for arm, cell in first.items()}))


def _dumped(cell: Cell) -> dict[str, Any]:
    return cell.about.model_dump(mode="json")


def _of_anybody(cell: Cell) -> dict[str, Any]:
    """Where each condition has clients of its own: without what is the client's, and with "the
    client" for its name.
    """
    fields = _dumped(cell)
    for resident in fields.get("residents", ()):
        if (resident.get("persona") or {}).get("role") == "client":
            resident["persona"] = "the client's"
    text = json.dumps(fields, ensure_ascii=False)
    found: dict[str, Any] = json.loads(text.replace(cell.client, "the client"))
    return found


def _differing(at: str, arms: dict[str, Any]) -> Iterator[str]:
    """Down to single values; but where the arms have parts of different names there, such as
    policies, these are named as a whole.
    """
    if len({json.dumps(value, sort_keys=True) for value in arms.values()}) == 1:
        return
    inner = [value for value in arms.values() if isinstance(value, dict | list) and value]
    names = {_name(value) for value in arms.values()}
    if not inner or (at and len(names) > 1 and any(names)):
        yield f"{at}: " + " | ".join(f"{arm} {_shown(value)}" for arm, value in arms.items())
        return
    keys = dict.fromkeys(
        key for value in inner for key in (value if isinstance(value, dict) else range(len(value)))
    )
    for key in sorted(keys, key=str):
        yield from _differing(
            f"{at}.{key}" if at else str(key),
            {arm: _part(value, key) for arm, value in arms.items()},
        )


def _part(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return value.get(key, MISSING)
    return (
        value[key]
        if isinstance(value, list) and isinstance(key, int) and key < len(value)
        else MISSING
    )


def _name(value: Any) -> str | None:
    named = (value.get("id") or value.get("name")) if isinstance(value, dict) else None
    return named if isinstance(named, str) else None


def _shown(value: Any) -> str:
    """A value; of a part with a name only that, and its main settings."""
    name = _name(value)
    if name is None:
        return str(value)
    settings = (
        (key, _name(inner) or inner)
        for key, inner in value.items()
        if key not in ("id", "name") and inner
    )
    some = [
        f"{key} {what}"
        for key, what in islice((one for one in settings if isinstance(one[1], int | str)), SHOWN)
    ]
    return f"{name} ({', '.join(some)})" if some else name
