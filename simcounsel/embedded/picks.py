"""What a line of the embedded model comes to, whoever speaks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from simcounsel.agents.facts import LineFacts
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.voice import fill_slots


@dataclass(frozen=True, kw_only=True)
class Pick:
    """A line."""

    text: str
    emphasis: str | None = None
    """The words that it leans on, if any."""
    emotion: Emotion
    source: Literal["chosen", "generated"] = "chosen"
    leaves: bool = False
    """Whether it takes leave."""


def filled_in(form: str, facts: LineFacts) -> str | None:
    """A form with its slots filled; None when it has one for which nothing was heard."""
    return fill_slots(form, name=facts.other, words=facts.words, feeling=facts.feeling)


def used_before(form: str, said: Sequence[str]) -> float:
    """How often a form was used, recent uses counting most: 1 for the last lines, less for older
    ones.
    """
    fixed = [part.strip() for part in re.split(r"\{[^{}]*\}|\[|\]", form)]
    parts = [part for part in fixed if len(part) >= 6] or [part for part in fixed if part]
    uses = 0.0
    for age, text in enumerate(reversed(said)):
        if all(part in text for part in parts):
            uses = max(uses, 1.0 - 0.02 * min(age, 30))
    return uses
