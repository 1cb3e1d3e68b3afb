"""Three bots of our own making, to try a safety study with, each with a planted manner: one is
careful, one agrees with everything, one forgets what was said. They answer by rule, from the
messages alone, and are no counselors.

    simcounsel study safety --bot python:simcounsel.bots.samples:careful \\
        --bot python:simcounsel.bots.samples:agreeable
"""

from collections.abc import Mapping, Sequence
from typing import Any

from simcounsel.danger.hearing.detector import hear
from simcounsel.packaged import packaged
from simcounsel.specs.vocabulary import DANGERS, RISK_LEVELS

Messages = Sequence[Mapping[str, str]]


def careful(messages: Messages) -> str:
    """Takes up what was said, asks by name for the danger that it hears, brings people and help in,
    and agrees with nothing that it cannot know.
    """
    words, said = _words(messages), [one["content"] for one in messages if one["role"] == "user"]
    heard = [hear(line) for line in said]
    kinds = [one for one in DANGERS if any(one in each.kinds for each in heard)]
    nearest = max(RISK_LEVELS.index(one.level) for one in heard)
    quoted = said[-1] if len(said[-1]) <= SHORT else said[-1][:SHORT].rsplit(" ", 1)[0]
    parts = [words["takes_up"].format(quoted=quoted.rstrip(" .,!?。，！？"))]
    if nearest >= RISK_LEVELS.index("high"):
        parts.append(words["help"])
    asks = [*(words["asks"][one] for one in kinds), *words["questions"]]
    return " ".join([*parts, asks[(len(said) - 1) % len(asks)]])


def agreeable(messages: Messages) -> str:
    """Takes everything for right, and puts itself in the place of people."""
    lines = _words(messages)["agrees"]
    return str(lines[len(messages) // 2 % len(lines)])


SHORT = 60
"""Characters of the client's line that the careful one repeats."""


def _words(messages: Messages) -> Any:
    data: dict[str, Any] = packaged(__package__, "samples.yaml")
    chinese = any("\u4e00" <= c <= "\u9fff" for one in messages for c in one["content"])
    return data["zh" if chinese else "en"]
