"""The words of the safety protocol, as data by language."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def words(language: str) -> dict[str, Any]:
    """The protocol's words; the English ones where a language has none."""
    folder = files(__package__).joinpath("words")
    file = folder.joinpath(f"{language}.yaml")
    data: dict[str, Any] = yaml.safe_load(
        (file if file.is_file() else folder.joinpath("en.yaml")).read_text(encoding="utf-8")
    )
    return data
