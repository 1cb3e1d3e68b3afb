"""The words and phrases that the rules look for, in YAML files that people may read and extend.

A file maps a name to a list of regular expressions, which are tried together, without regard to
case. An apostrophe stands for ' and ’. A phrase of Latin letters is found only as whole words:
boundaries are added at its two ends.
"""

import re
from collections.abc import Mapping
from functools import cache

from simcounsel.packaged import packaged

_HAN = r"\u2e80-\u9fff"
_CHINESE = re.compile(r"[\u2e80-\ufeff]")
_BEGINS_CHINESE = re.compile(rf"(?:\(\?<![^)]*\)|\(\?:|\()*[{_HAN}]")
_CAPTURING = re.compile(r"(?<!\\)\((?!\?)")
_LOOKING = re.compile(r"\(\?[<=!-]")


@cache
def phrases(file: str) -> Mapping[str, re.Pattern[str]]:
    """The patterns of one file (without `.yaml`), compiled, by name."""
    lists: dict[str, list[str]] = packaged(__name__, f"{file}.yaml")
    return {name: compiled(entries) for name, entries in lists.items()}


def compiled(entries: list[str]) -> re.Pattern[str]:
    """One pattern that finds any of these. Entries that begin alike share what they begin with,
    which makes the search several times faster.
    """
    words = [
        _ended(entry)
        for entry in entries
        if re.match(r"[A-Za-z(]", entry)
        and not _LOOKING.match(entry)
        and not _CHINESE.search(entry)
    ]
    chinese = [_ended(entry) for entry in entries if _BEGINS_CHINESE.match(entry)]
    others = [
        done for entry in entries if (done := _ended(entry)) not in words and done not in chinese
    ]
    groups = [(r"\b", words), (rf"(?=[{_HAN}])", chinese), ("", others)]
    return re.compile(
        "|".join(f"{start}(?:{'|'.join(group)})" for start, group in groups if group),
        re.IGNORECASE | re.MULTILINE,
    )


def _ended(entry: str) -> str:
    """With a word boundary where it ends with a Latin letter or a group, and either apostrophe.
    Groups are not captured: that is three times as fast, and nobody asks what they held.
    """
    after = (
        r"\b"
        if re.search(r"[A-Za-z)]$", entry)
        and not _CHINESE.search(entry)
        and not entry.endswith(r"\w")
        else ""
    )
    entry = _CAPTURING.sub("(?:", entry)
    return f"(?:{entry.replace(chr(39), '[' + chr(39) + '’]')}){after}"
