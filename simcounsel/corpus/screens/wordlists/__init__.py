"""The words and phrases that the rules look for, in YAML files that people may read and extend.

A file maps a name to a list of regular expressions, which are tried together, without regard to case. An apostrophe
stands for ' and ’. A phrase of Latin letters is found only as whole words: boundaries are added at its two ends.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml


@cache
def phrases(file: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of one file (without `.yaml`), compiled, by name."""
    lists: dict[str, list[str]] = yaml.safe_load(files(__name__).joinpath(f"{file}.yaml").read_text(encoding="utf-8"))
    return {name: compiled(entries) for name, entries in lists.items()}


def compiled(entries: list[str]) -> re.Pattern[str]:
    """One pattern that finds any of these."""
    return re.compile("|".join(f"(?:{_bounded(entry)})" for entry in entries), re.IGNORECASE | re.MULTILINE)


def _bounded(entry: str) -> str:
    """With word boundaries where it begins or ends with a Latin letter, and either apostrophe."""
    before = r"\b" if re.match(r"[A-Za-z(]", entry) and not _chinese(entry) and not re.match(r"\(\?[<=!-]", entry) else ""
    after = r"\b" if re.search(r"[A-Za-z)]$", entry) and not _chinese(entry) and not entry.endswith(r"\w") else ""
    return before + f"(?:{entry.replace(chr(39), '[' + chr(39) + '’]')})" + after


def _chinese(text: str) -> bool:
    return any("\u2e80" < character < "\uff00" for character in text)
