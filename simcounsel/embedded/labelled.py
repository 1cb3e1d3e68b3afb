"""The labelled sentences of the probes, read from labelled/*.yaml."""

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def labelled(name: str) -> tuple[tuple[str, Any], ...]:
    """(sentence, label) pairs of labelled/NAME.yaml, which maps each label to its sentences."""
    text = files(__package__).joinpath("labelled", f"{name}.yaml").read_text(encoding="utf-8")
    data: dict[str, list[str]] = yaml.safe_load(text)
    return tuple((sentence, label) for label, sentences in data.items() for sentence in sentences)
