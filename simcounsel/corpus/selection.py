"""Which dialogues become training data."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.teaching import partner_of
from simcounsel.errors import CorpusError

Partner = Literal["counselor", "layperson", "both"]


@dataclass(frozen=True, kw_only=True)
class Floor:
    """The least that a dialogue must have on a score of an instrument, in the instrument's own
    unit.
    """

    instrument: str
    score: str
    value: float

    @classmethod
    def parse(cls, words: str) -> "Floor":
        """Of 'working_alliance.total=3.5'. CorpusError when it is not such."""
        name, _, number = words.partition("=")
        instrument, _, score = name.strip().partition(".")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if not instrument or not score or value != value:
            raise CorpusError(
                f"--min-rating {words}: expected INSTRUMENT.SCORE=VALUE, such as"
                " working_alliance.total=3.5"
            )
        return cls(instrument=instrument, score=score, value=value)

    def __str__(self) -> str:
        return f"{self.instrument}.{self.score}={self.value:g}"

    def refuses(self, dialogue: Dialogue) -> str | None:
        """Why a dialogue does not reach it; None when it does."""
        value = dialogue.ratings.get(self.instrument, {}).get(self.score)
        if value is None:
            return f"not rated: {self.instrument}.{self.score}"
        return f"rated below {self}" if value < self.value else None


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is asked of a dialogue."""

    partner: Partner = "counselor"
    conditions: tuple[str, ...] = ()
    """It has one of these; () for any."""
    themes: tuple[str, ...] = ()
    """It has one of these; () for any."""
    floors: tuple[Floor, ...] = ()
    """It reaches all of these."""

    def refuses(self, dialogue: Dialogue) -> str | None:
        """The first reason why a dialogue is not wanted; None when it is."""
        speakers = {turn.speaker for turn in dialogue.turns}
        if {"counselor", "layperson"} <= speakers:
            return "more than two speakers"
        if self.partner != "both" and partner_of(dialogue) != self.partner:
            return f"with a {partner_of(dialogue)}"
        if self.conditions and dialogue.condition not in self.conditions:
            return "another condition"
        if self.themes and dialogue.theme not in self.themes:
            return "another theme"
        return next((why for floor in self.floors if (why := floor.refuses(dialogue))), None)

    def check(self, dialogues: Iterable[Dialogue]) -> None:
        """CorpusError when a condition, a theme or a rating is asked for that no dialogue has,
        since that is most likely a slip.
        """
        dialogues = tuple(dialogues)
        scores = (
            (name, score, value)
            for one in dialogues
            for name, given in one.ratings.items()
            for score, value in given.items()
        )
        rated = {f"{name}.{score}" for name, score, value in scores if value is not None}
        wanted = {f"{floor.instrument}.{floor.score}" for floor in self.floors}
        _known(
            "--condition",
            set(self.conditions),
            {one.condition for one in dialogues if one.condition},
        )
        _known("--theme", set(self.themes), {one.theme for one in dialogues if one.theme})
        _known("--min-rating", wanted, rated)


def _known(option: str, wanted: set[str], there: set[str]) -> None:
    missing = sorted(wanted - there)
    if missing:
        named = f"there are {', '.join(sorted(there))}" if there else "they have none"
        raise CorpusError(f"{option} {missing[0]}: no dialogue of these sources has it; {named}")
