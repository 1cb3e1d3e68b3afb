"""The words of the safety protocol, as data by language."""

from functools import cache
from importlib.resources import files
from typing import Any

from simcounsel.packaged import packaged


@cache
def words(language: str) -> dict[str, Any]:
    """The protocol's words; the English ones where a language has none."""
    return _of_language("words", language)


@cache
def ways(language: str) -> dict[str, Any]:
    """What it hears of circumstances, and its words for each; the English ones likewise."""
    return _of_language("ways", language)


@cache
def told(language: str) -> dict[str, Any]:
    """What it hears of times, means and people, and how prompts are reminded; the English ones
    likewise.
    """
    return _of_language("told", language)


def _of_language(name: str, language: str) -> dict[str, Any]:
    there = files(__package__).joinpath(name, f"{language}.yaml").is_file()
    data: dict[str, Any] = packaged(__package__, name, f"{language if there else 'en'}.yaml")
    return data
