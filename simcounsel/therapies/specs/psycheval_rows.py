"""What PsychEval's JSON holds, read without trusting its shape: texts where there are some, else
nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]
MOST_LEVELS = 8


def basics(row: Row) -> Row:
    """Who the client is: in `client_info`, or in its `basic_info`."""
    info = mapping(row, "client_info")
    return {**info, **mapping(info, "basic_info")}


def said_in(value: Any, name: str = "", levels: int = MOST_LEVELS) -> Iterator[tuple[str, str]]:
    """All texts within, each with the names that lead to it."""
    if isinstance(value, Mapping) and levels:
        for key, inner in value.items():
            yield from said_in(inner, f"{name}.{key}" if name else str(key), levels - 1)
    elif isinstance(value, list) and levels:
        for inner in value:
            yield from said_in(inner, name, levels - 1)
    elif text := word(value):
        yield name, text


def stages_of(row: Row) -> list[Row]:
    """The stages of its plan."""
    return mappings(row.get("global_plan") or row.get("plan"))


def mapping(row: Row, key: str) -> Row:
    """What is there, if it is a mapping."""
    found = row.get(key)
    return found if isinstance(found, Mapping) else {}


def mappings(listed: Any) -> list[Row]:
    """The mappings of a list."""
    fit = isinstance(listed, Iterable) and not isinstance(listed, str | Mapping)
    return [one for one in listed if isinstance(one, Mapping)] if fit else []


def texts(listed: Any) -> tuple[str, ...]:
    """The texts of a list."""
    found = listed if isinstance(listed, list) else []
    return tuple(text for one in found if (text := word(one)))


def joined(value: Any) -> str:
    """A text, or the texts of a list, a line each."""
    return "\n".join(texts(value)) if isinstance(value, list) else word(value)


def word(value: Any) -> str:
    """A text or number as text; '' for all else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value).strip()
    halves = any("\ud800" <= character <= "\udfff" for character in text)
    return "" if halves else text
