"""Danger in the answers to a questionnaire."""

from collections.abc import Mapping
from math import ceil

from simcounsel.events import Assessed
from simcounsel.specs.vocabulary import RiskLevel

DANGER_ITEMS = {("phq9", "p9")}
"""Items of self-reports that tell danger: PHQ-9's ninth."""
ITEM_LEVELS: dict[int, RiskLevel] = {0: "none", 1: "low", 2: "high", 3: "high"}
"""PHQ-9's item 9: not at all, several days, more than half the days, nearly every day."""


def in_answers(
    instrument: str, answers: Mapping[str, float | None], who: str
) -> tuple[Assessed, ...]:
    """What each item about danger says that was answered above zero."""
    about = (item for name, item in sorted(DANGER_ITEMS) if name == instrument)
    above_zero = (value for item in about if (value := answers.get(item)))
    return tuple(assessed_by_item(ceil(value), who=who) for value in above_zero)


def raised_by_item(value: float) -> RiskLevel:
    """What an answer to PHQ-9's item 9 ("better off dead, or hurting yourself") raises danger to: 1
    low, 2 and 3 high.

    ValueError when the value is none of the item's.
    """
    if value not in ITEM_LEVELS:
        raise ValueError(f"PHQ-9's item 9 is answered 0, 1, 2 or 3, not {value!r}")
    return ITEM_LEVELS[int(value)]


def assessed_by_item(value: float, *, who: str) -> Assessed:
    """The event after a questionnaire; its level is none for 0."""
    level = raised_by_item(value)
    return Assessed(
        who=who,
        chat=None,
        message=None,
        level=level,
        kinds=("suicide", "self_harm") if level != "none" else (),
        by="questionnaire",
        evidence=(),
        why=f"PHQ-9, item 9 (thoughts of being better off dead or of self-harm): {value:g} of 3",
    )
