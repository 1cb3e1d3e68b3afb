"""A policy's moves and what each means, read from manuals/NAME.yaml."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def aims(name: str) -> dict[str, str]:
    """What each move of a policy means, as it is put to a model."""
    text = files(__package__).joinpath("manuals", f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.safe_load(text)
    return {str(move): str(aim).strip() for move, aim in data["moves"].items()}
