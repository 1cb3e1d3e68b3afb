"""Which choices a result is held against: the same experiment, lived and analyzed in every
combination of them.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PlainValidator

from simcounsel.specs.load import Spec
from simcounsel.specs.world_settings import ModelName

USUAL = "usual"
"""As the experiment and its worlds have it."""
Time = Literal["last", "mean"]
Baseline = Literal["subtracted", "covariate", "ignored"]
Counted = Literal["all", "no fallbacks"]


def _temperature(value: object) -> float | str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value != USUAL and not (number and 0 <= value <= 2):  # type: ignore[operator]
        raise ValueError(f"a temperature is a number from 0 to 2, or `{USUAL}`")
    return USUAL if value == USUAL else float(value)  # type: ignore[arg-type]


Temperature = Annotated[float | str, PlainValidator(_temperature)]


def _each_once(levels: tuple[object, ...]) -> tuple[object, ...]:
    twice = next((one for one in levels if levels.count(one) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is here twice")
    return levels


class Outcome(Spec):
    """What the effect is of."""

    instrument: str
    score: str = "total"
    respondent: str | None = None
    """Whose answers, such as `self`; needed where several answer the instrument."""
    judge: str | None = None
    """The model that answered; needed where several models did."""
    better: Literal["lower", "higher"] | None = None
    """Outcomes of which some are better lower and some higher are turned so that a positive effect
    is the better one."""


class Multiverse(Spec):
    """The choices: of each, its levels."""

    prompts: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_each_once)] = (USUAL,)
    """Sets of prompts, by name or folder; `usual` for those that are included."""
    models: Annotated[tuple[ModelName, ...], Field(min_length=1), AfterValidator(_each_once)] = (
        USUAL,
    )
    """Who answers for people; `usual` for the experiment's. Its judge stays, where it names one."""
    temperatures: Annotated[
        tuple[Temperature, ...], Field(min_length=1), AfterValidator(_each_once)
    ] = (USUAL,)
    """At which people think and speak; `usual` for each question's own."""
    contrast: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)] | None = None
    """Two conditions, the effect being the first minus the second; None: of the first planned test,
    or the first two."""
    outcomes: Annotated[tuple[Outcome, ...], AfterValidator(_each_once)] = ()
    """None: those of the planned tests of this contrast, or the total of all that is measured."""
    times: Annotated[tuple[Time, ...], Field(min_length=1), AfterValidator(_each_once)] = (
        "last",
        "mean",
    )
    """After the baseline: what was measured last, or the mean of all."""
    baselines: Annotated[tuple[Baseline, ...], Field(min_length=1), AfterValidator(_each_once)] = (
        "subtracted",
        "ignored",
    )
    """What was measured at the beginning is taken off, or held equal by regression (analysis of
    covariance), or does not count."""
    runs: Annotated[tuple[Counted, ...], Field(min_length=1), AfterValidator(_each_once)] = (
        "all",
        "no fallbacks",
    )
    """All of them, or those alone in which no fallback stands for an answer."""
