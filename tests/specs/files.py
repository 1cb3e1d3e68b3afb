"""World and persona files to spoil."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.stage import ROOT, TINY


def world_file(folder: Path, old: str = "", new: str = "") -> Path:
    """A copy of worlds/tiny.yaml, something in it replaced, that finds its personas from anywhere."""
    text = TINY.read_text(encoding="utf-8").replace("../personas", str(ROOT / "personas"))
    assert old in text, f"{old!r} is not in {TINY}"
    path = folder / "world.yaml"
    path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
    return path


def line_with(path: Path, text: str) -> int:
    """The number of the first line that holds a text."""
    return next(
        n for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line
    )


def persona_data(name: str) -> dict[str, Any]:
    """A persona of ours as plain data, to be changed at will."""
    return deepcopy(_data(name))


@cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(
        (ROOT / "personas" / f"{name}.yaml").read_text(encoding="utf-8")
    )
    return data


def written(folder: Path, data: dict[str, Any]) -> Path:
    """Data as a YAML file."""
    path = folder / "persona.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path
