"""Single values changed by key before a file is checked: `--set conversation.max_turns=6`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

from simcounsel.errors import SpecError
from simcounsel.prompts.sets import USUAL, shipped_sets
from simcounsel.specs.load import read_value
from simcounsel.specs.practice import policy_files
from simcounsel.specs.problems import suggest
from simcounsel.specs.yaml_text import NotYaml


def patch(
    data: dict[str, Any], key: str, value: Any, located: Callable[[str], str] = str
) -> tuple[str | int, ...]:
    """Set `conversation.max_turns` or `residents.Ines.home` in a world's data, in place; the place
    where it is then, such as `("residents", 0, "home")`.

    Text values are read as YAML. located: where the file of a persona or policy that a value names
    lies. SpecError when the key leads nowhere.
    """
    if isinstance(value, str):
        try:
            value = read_value(value)
        except NotYaml as error:
            shown = value if len(value) <= 60 else value[:57] + "..."
            raise SpecError([f"--set {key}: {shown!r} is not valid YAML ({error})"]) from None
    *way, last = key.split(".")
    value = _with_files(last, value, located)
    here: Any = data
    at: list[str | int] = []
    for part in way:
        at.append(_place_in(here, part, key) if isinstance(here, list) else part)
        here = _inner(here, part, key)
    if isinstance(here, list):
        place = _place_in(here, last, key)
        at.append(place)
        here[place] = value
    elif isinstance(here, dict):
        at.append(last)
        here[last] = value
    else:
        raise SpecError([f"--set {key}: {'.'.join(way)} holds {here!r}, which has no parts"])
    return tuple(at)


def _is_read(key: str) -> bool:
    """Whether a file may be named behind a key, whose content takes the name's place."""
    of_policies = (kind.reads for kind in policy_files().values())
    return key in ("persona", "policy") or any(key in reads for reads in of_policies)


def _with_files(key: str, value: Any, located: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {inner: _with_files(inner, part, located) for inner, part in value.items()}
    if isinstance(value, list):
        return [_with_files(key, part, located) for part in value]
    if key == "prompts" and isinstance(value, str) and value not in (USUAL, *shipped_sets()):
        return located(value)
    return located(value) if names_a_file(value) and _is_read(key) else value


def names_a_file(value: Any) -> TypeGuard[str]:
    """Whether a value in a world is the path of a file."""
    return isinstance(value, str) and value.endswith((".yaml", ".yml"))


def _inner(here: Any, part: str, key: str) -> Any:
    if isinstance(here, list):
        return here[_place_in(here, part, key)]
    if isinstance(here, dict):
        if here.get(part) is None:
            here[part] = {}
        return here[part]
    raise SpecError([f"--set {key}: nothing named {part!r} there"])


def _place_in(items: list[Any], part: str, key: str) -> int:
    """The index of a list's item by its number or its name."""
    if part.isdecimal() and len(part) < 10 and int(part) < len(items):
        return int(part)
    names = [
        (
            str(item.get("name") or Path(str(item.get("persona", ""))).stem)
            if isinstance(item, dict)
            else ""
        )
        for item in items
    ]
    for index, name in enumerate(names):
        if name and name.lower() == part.lower():
            return index
    known = [name for name in names if name]
    remedy = (
        suggest(part, known)
        if known
        else f"number its items from 0 to {len(items) - 1}"
        if items
        else "the list is empty"
    )
    raise SpecError([f"--set {key}: nothing named {part!r} there; {remedy}"])
