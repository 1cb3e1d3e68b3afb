"""Instruments as terms of a reward: which score, and where it lies between its worst and its best
value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simcounsel.envs.reward import Reward, Term
from simcounsel.errors import SpecError
from simcounsel.events import Measured
from simcounsel.instruments.scale import TALK_MEASURES, Scale, find_scale
from simcounsel.instruments.talk import MEASURES
from simcounsel.specs.items import Item
from simcounsel.specs.problems import suggest
from simcounsel.specs.scores import TOTAL

DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class Meter:
    """A term that can be read."""

    name: str
    term: Term
    scale: Scale | None
    """None for `talk_measures`."""
    worst: float
    """`worst`, `best`: the values that count as 0 and 1."""
    best: float

    @property
    def instrument(self) -> str:
        """The instrument's name, as measurements have it."""
        return self.scale.id if self.scale else TALK_MEASURES

    def place(self, value: float) -> float:
        """Where a value lies, 0 to 1."""
        return min(1.0, max(0.0, (value - self.worst) / (self.best - self.worst)))


@dataclass(frozen=True, kw_only=True)
class Part:
    """A term of one session's mix."""

    name: str
    value: float | None
    """`value`, `before`: the score, in the instrument's own unit; before only where the change
    counts.
    """
    before: float | None
    placed: float | None
    """What goes into the mix, 0 to 1, or -1 to 1 for a change."""
    share: float
    """Of the mix; the shares of what is there add up to 1. None with a reason: missing."""
    reason: str | None = None


def meters_of(reward: Reward) -> tuple[Meter, ...]:
    """The reward's terms, looked up. SpecError names every one that cannot be read."""
    found: list[Meter] = []
    problems: list[str] = []
    for name, term in reward.instruments.items():
        try:
            found.append(_meter(name, term))
        except SpecError as error:
            problems += [
                f"reward {reward.name!r}: instruments.{name}: {problem}"
                for problem in error.problems
            ]
    if problems:
        raise SpecError(problems)
    return tuple(found)


def _meter(name: str, term: Term) -> Meter:
    instrument = term.instrument or name
    if instrument == TALK_MEASURES:
        scale, known = None, list(MEASURES)
    else:
        scale = find_scale(instrument)
        known = [
            *((TOTAL,) if scale.scoring else ()),
            *(one.id for one in scale.subscales),
            *(one.id for one in scale.ratios),
        ]
    if term.score not in known:
        raise SpecError([f"{instrument} has no score {term.score!r}; {suggest(term.score, known)}"])
    bounds = (
        (term.worst, term.best)
        if term.worst is not None and term.best is not None
        else _bounds(scale, term.score)
    )
    if bounds is None:
        raise SpecError(
            [f"{instrument}.{term.score} has no bounds of its own; give `worst` and `best`"]
        )
    return Meter(name=name, term=term, scale=scale, worst=bounds[0], best=bounds[1])


def _bounds(scale: Scale | None, score: str) -> tuple[float, float] | None:
    """The worst and the best value that a total or a subscale can have; None for a ratio or a talk
    measure.
    """
    if scale is None:
        return None
    subscale = next((one for one in scale.subscales if one.id == score), None)
    if subscale is None and score != TOTAL:
        return None
    items = [one for one in scale.items if (one.subscale == score if subscale else one.scored)]
    scoring = (subscale.scoring if subscale else None) or scale.scoring or "sum"
    low, high = (
        _sum([scale.range_of(one).min for one in items], scoring, items),
        _sum([scale.range_of(one).max for one in items], scoring, items),
    )
    direction = (subscale.direction if subscale else None) or scale.direction
    return (low, high) if direction == "higher_is_better" else (high, low)


def _sum(values: Sequence[float], scoring: str, items: Sequence[Item]) -> float:
    return sum(values) / (len(items) if scoring == "mean" else 1)


def parts_of(
    meters: Sequence[Meter], now: Mapping[str, Measured], before: Mapping[str, Measured]
) -> tuple[Part, ...]:
    """Every term of a session, with its share among those that have a value. now, before:
    measurements by instrument.
    """
    read = [_read(meter, now, before) for meter in meters]
    whole = sum(
        meter.term.weight
        for meter, part in zip(meters, read, strict=True)
        if part.placed is not None
    )
    return tuple(
        Part(
            name=part.name,
            value=part.value,
            before=part.before,
            placed=part.placed,
            reason=part.reason,
            share=meter.term.weight / whole if part.placed is not None else 0.0,
        )
        for meter, part in zip(meters, read, strict=True)
    )


def mix_of(parts: Sequence[Part]) -> float | None:
    """The mean by share; None when no term has a value."""
    given = [(part.share, part.placed) for part in parts if part.placed is not None]
    return round(sum(share * placed for share, placed in given), DECIMALS) if given else None


def _read(meter: Meter, now: Mapping[str, Measured], before: Mapping[str, Measured]) -> Part:
    value, reason = _score(meter, now)
    earlier, earlier_reason = _score(meter, before) if meter.term.change else (None, None)
    placed: float | None = None
    if value is not None and not meter.term.change:
        placed = meter.place(value)
    elif value is not None and earlier is not None:
        placed = meter.place(value) - meter.place(earlier)
    elif value is not None:
        reason = f"before: {earlier_reason}"
    return Part(
        name=meter.name,
        value=value,
        before=earlier,
        placed=None if placed is None else round(placed, DECIMALS),
        share=0.0,
        reason=None if placed is not None else reason,
    )


def _score(meter: Meter, measured: Mapping[str, Measured]) -> tuple[float | None, str | None]:
    one = measured.get(meter.instrument)
    score = (
        next((score for score in one.scores if score.name == meter.term.score), None)
        if one
        else None
    )
    if score is None:
        return None, "not measured"
    return score.value, score.reason if score.value is None else None
