"""How circumstances change what a step of the safety protocol says: its aim, its lines, and what no
line of it may say.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from simcounsel.danger.protection.circumstances import BY_OWN_HAND, Circumstances
from simcounsel.danger.protection.data import ways, words
from simcounsel.danger.protection.ladder import Step
from simcounsel.specs.vocabulary import Danger

Way = Literal["another", "hurt", "done", "near", "voices", "minor"]


@dataclass(frozen=True, kw_only=True)
class StepWording:
    """A step as it is said under these circumstances."""

    about: dict[str, Any]
    """Its aim, brief, lines and the like, as in the files of words."""
    rules: tuple[str, ...]
    """What holds beside the rules of every step."""
    never: tuple[tuple[re.Pattern[str], str], ...]
    """What no line may say, and what is then wrong with it."""
    slots: dict[str, str]
    """What goes into its lines, aim and rules: {whom}, where somebody else is in danger."""


def ways_of(known: Circumstances, kind: Danger) -> tuple[Way, ...]:
    """The ways that these circumstances call for in a danger of that kind; the first goes before
    the others.
    """
    own_hand = kind in BY_OWN_HAND
    there: dict[Way, bool] = {
        "another": own_hand and known.another is not None,
        "hurt": kind == "abuse" and known.hurt is not None,
        "done": own_hand and known.done,
        "near": kind == "abuse" and known.near,
        "voices": known.voices and kind != "abuse",
        "minor": known.minor,
    }
    return tuple(way for way, holds in there.items() if holds)


def said_in(step: Step, known: Circumstances, kind: Danger, language: str) -> StepWording:
    """The step in the first of the ways that has words of its own for it."""
    about, every = words(language)["steps"][step], ways(language)["ways"]
    some = ways_of(known, kind)
    whom = known.hurt if kind == "abuse" else known.another
    slots = {"{whom}": whom or str(ways(language)["somebody"])}
    for way in some:
        own = every[way]["steps"].get(step)
        if own:
            about = {**about, "special": {}, "aims": {}, "brief": "", **own}
            break
    aim = about.get("aims", {}).get(kind) or about["aim"]
    return StepWording(
        about={**about, "aim": _filled(aim, slots)},
        rules=tuple(_filled(every[way]["rules"], slots) for way in some),
        never=tuple(
            (_never(language, way), every[way]["never_why"])
            for way in some
            if every[way].get("never")
        ),
        slots=slots,
    )


def _filled(text: str, slots: dict[str, str]) -> str:
    for slot, said in slots.items():
        text = text.replace(slot, said)
    return text


@cache
def _never(language: str, way: Way) -> re.Pattern[str]:
    return re.compile(
        "|".join(f"(?:{one})" for one in ways(language)["ways"][way]["never"]), re.IGNORECASE
    )
