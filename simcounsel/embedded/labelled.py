"""The labelled sentences of the probes, read from labelled/*.yaml."""

from functools import cache
from typing import Any

from simcounsel.packaged import packaged


@cache
def labelled(name: str) -> tuple[tuple[str, Any], ...]:
    """(sentence, label) pairs of labelled/NAME.yaml, which maps each label to its sentences."""
    data: dict[str, list[str]] = packaged(__package__, "labelled", f"{name}.yaml")
    return tuple((sentence, label) for label, sentences in data.items() for sentence in sentences)
