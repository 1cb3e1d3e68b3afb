"""Data files inside packages."""

from importlib.resources import files
from typing import Any

import yaml


def packaged(package: str, *path: str) -> Any:
    """The data of a YAML file in a package. FileNotFoundError where there is none."""
    text = files(package).joinpath(*path).read_text(encoding="utf-8")
    return yaml.load(text, Loader=yaml.CSafeLoader)
