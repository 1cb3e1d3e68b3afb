"""Who worded a line, in few words: `by hand`, `random`, `chosen`, `ready-made`, `by a person` or
`model NAME`.
"""

import re
from collections.abc import Mapping
from typing import Literal

from simcounsel.runs.spending import is_by_hand

HAND: Literal["by hand"] = "by hand"
RANDOM: Literal["random"] = "random"
OF_SOURCE = {"chosen": "chosen", "random": RANDOM, "fallback": "ready-made", "human": "by a person"}
"""By a line's source, where that says it already."""
IN_WORDS: Mapping[str, str] = {
    HAND: "written by hand, as answers to the prompts",
    RANDOM: "put together at random by the scripted model",
    "chosen": "chosen out of lines that people wrote beforehand",
    "ready-made": "ready-made, where the model gave none that could be said",
    "by a person": "said by somebody who took part",
}


def author(source: str, model: str) -> str:
    """Who worded a line. source: how it came about, as its event says. model: the name of the model
    that was asked for it; '' where that is not known.
    """
    if known := OF_SOURCE.get(source):
        return known
    if is_by_hand(model):
        return HAND
    if model.split(":")[0] == "scripted":
        return RANDOM
    return f"model {_short(model)}" if model else "a model"


def in_words(name: str) -> str:
    """How a line of that author came about, in a sentence's words."""
    return IN_WORDS.get(name, f"written by {name}")


def lines_text(lines: Mapping[str, int]) -> str:
    """How many lines there are and how they came about. lines: their number by author."""
    told = [(count, in_words(name)) for name, count in sorted(lines.items())]
    every = sum(count for count, _ in told)
    if not every:
        return "no lines"
    if len(told) == 1:
        return f"{every} {'lines, all' if every > 1 else 'line,'} {told[0][1]}"
    return f"{every} lines: " + "; ".join(f"{count} {words}" for count, words in told)


def _short(model: str) -> str:
    """A model's name without the address of its server, or the folder of its adapter."""
    return re.sub(r"^https?://.*/|(?<=\+adapter=).*/", "", model)
