"""A policy's moves and what each means, read from moves/LANGUAGE/NAME.yaml; of a policy in another
package from that folder there, by `package:NAME`.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from simcounsel.llm.question import Example, Tags
from simcounsel.packaged import packaged


@cache
def aims(name: str, language: str = "en") -> dict[str, str]:
    """What each move of a policy means, as it is put to a model; in English where there is no such
    file in the language.
    """
    return {str(move): str(aim).strip() for move, aim in _read(name, language)["moves"].items()}


@cache
def acts(name: str, language: str = "en") -> dict[str, str]:
    """By what words each of a counselor's acts is known, as patterns in order; {} when the policy
    has none.
    """
    return {
        str(act): str(pattern) for act, pattern in _read(name, language).get("acts", {}).items()
    }


def heard_as(text: str, name: str, language: str = "en") -> tuple[str, ...]:
    """What a line is heard as, by the patterns of a policy, in their order."""
    return tuple(sign for sign, pattern in _hears(name, language).items() if pattern.search(text))


@cache
def _hears(name: str, language: str) -> dict[str, re.Pattern[str]]:
    patterns: dict[str, str] = _read(name, language).get("hears", {})
    return {sign: re.compile(text, re.IGNORECASE) for sign, text in patterns.items()}


@cache
def lines_for(name: str, move: str, language: str = "en") -> tuple[str, ...]:
    """Lines written by hand for a move; () when the policy has none of its own."""
    return tuple(str(line) for line in _read(name, language).get("lines", {}).get(move, ()))


@cache
def _read(name: str, language: str) -> dict[str, Any]:
    package, _, policy = name.rpartition(":")
    package, file = package or __package__, f"{policy}.yaml"
    there = files(package).joinpath("moves", language, file).is_file()
    data: dict[str, Any] = packaged(package, "moves", language if there else "en", file)
    return data


def own_example(text: str, move: str, *, listens: bool = False) -> Example:
    """A line written by hand for a move, as an example. listens: a word on what was heard may stand
    before it.
    """
    return Example(text=text, tags=Tags(own=True, listens=listens, move=move))
