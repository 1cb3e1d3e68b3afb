"""From answers to scores: reversed items, subscales, totals, ratios, bands, flags. Pure
functions.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from simcounsel.events import ItemAnswer, Score
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale
from simcounsel.specs.scores import ANY_ITEM, TOTAL, Flag, Missing, Ratio, Scoring

Answers = Mapping[str, float | None]


def reverse(value: float, low: float, high: float) -> float:
    """An answer turned round within its range; twice turned it is the same again."""
    return low + high - value


def points(scale: Scale, item: Item, answers: Answers) -> float | None:
    """What an item adds to a score: its answer, reversed if the scale says so. None: not answered.
    ValueError when the answer lies outside the item's range."""
    value = answers.get(item.id)
    if value is None:
        return None
    allowed = scale.range_of(item)
    if not allowed.min <= value <= allowed.max:
        raise ValueError(
            f"{scale.id}: {item.id} is {value:g}, which is not between {allowed.min:g} and"
            f" {allowed.max:g}"
        )
    return reverse(value, allowed.min, allowed.max) if item.reverse else value


def score(
    scale: Scale, answers: Answers, not_applicable: Collection[str] = ()
) -> tuple[Score, ...]:
    """All scores of a scale: the total first (if it has one), then subscales, then ratios.

    answers: by item id, native values within the item's range (means of several samples may lie
    between its steps); None or absent: not answered. not_applicable: the ids of those to which
    there was nothing to judge. A score that lacks more items than the scale's rule allows is None;
    `reason` says which it lacks.
    """
    found: list[Score] = []
    if scale.audits:
        return tuple(_flagged(scale, _audited(scale, answers), answers))
    scored = [item for item in scale.items if item.scored]
    if scale.scoring is not None:
        lacking = _Lacking(rule=scale.missing, not_applicable=not_applicable)
        found.append(_scored(scale, TOTAL, scale.scoring, scored, answers, lacking))
    for subscale in scale.subscales:
        items = [item for item in scale.items if item.subscale == subscale.id]
        rule = subscale.missing or scale.missing.of_part(len(items), len(scale.items))
        lacking = _Lacking(rule=rule, not_applicable=not_applicable)
        scoring = subscale.scoring or scale.scoring or "sum"
        found.append(_scored(scale, subscale.id, scoring, items, answers, lacking))
    found += [_ratio(scale, ratio, answers) for ratio in scale.ratios]
    return tuple(_flagged(scale, found, answers))


def bounds(scale: Scale, name: str) -> tuple[float, float] | None:
    """The lowest and the highest value that a score can have, in its own unit; None where its
    answers set no limit (counts, faults), or there is no score of that name.
    """
    part = next((one for one in scale.subscales if one.id == name), None)
    if scale.audits or (part is None and name != TOTAL):
        return None
    items = [
        item
        for item in scale.items
        if (item.scored if part is None else item.subscale == part.id) and not item.coded
    ]
    scoring = (part.scoring if part else None) or scale.scoring or "sum"
    ranges = [scale.range_of(item) for item in items]
    if not ranges:
        return None
    low, high = sum(one.min for one in ranges), sum(one.max for one in ranges)
    return (low, high) if scoring == "sum" else (low / len(ranges), high / len(ranges))


@dataclass(frozen=True, kw_only=True)
class _Lacking:
    """What is known of the items that a score lacks."""

    rule: Missing
    """How many it may lack."""
    not_applicable: Collection[str]
    """The ids of items to which there was nothing to judge."""


def _scored(
    scale: Scale,
    name: str,
    scoring: Scoring,
    items: Sequence[Item],
    answers: Answers,
    lacking: _Lacking,
) -> Score:
    given = {
        item.id: value for item in items if (value := points(scale, item, answers)) is not None
    }
    lacks = [item.id for item in items if item.id not in given]
    unfit = [one for one in lacks if one in lacking.not_applicable]
    missing = [one for one in lacks if one not in lacking.not_applicable]
    rule = lacking.rule
    enough = given and len(missing) <= rule.most and len(unfit) <= rule.most_not_applicable
    if not enough:
        said = "incomplete" if given or missing else "nothing to judge"
        value = None
    else:
        said = "prorated"
        mean = sum(given.values()) / len(given)
        value = _rounded(mean * len(items) if scoring == "sum" else mean)
    return Score(
        name=name,
        value=value,
        used=len(given),
        of=len(items),
        band=None if value is None else band_of(scale, name, value),
        reason="; ".join((said, *_named(unfit, missing))) if lacks else None,
        not_applicable=len(unfit),
    )


def _named(unfit: Sequence[str], missing: Sequence[str]) -> Iterator[str]:
    if unfit:
        yield f"not applicable: {', '.join(unfit)}"
    if missing:
        yield f"not answered: {', '.join(missing)}"


def _audited(scale: Scale, answers: Answers) -> list[Score]:
    """The worst fault and how many there are, of the items that the answers lead to and that could
    be judged; None when none could.
    """
    reached = [item for item in scale.items if item.fault and scale.reached(item, answers)]
    asked = [(TOTAL, scale.scoring or "worst", reached)]
    asked += [
        (one.id, one.scoring or "faults", [item for item in reached if item.subscale == one.id])
        for one in scale.subscales
    ]
    return [_faults(scale, name, scoring, items, answers) for name, scoring, items in asked]


def _faults(
    scale: Scale, name: str, scoring: Scoring, items: Sequence[Item], answers: Answers
) -> Score:
    judged = [item for item in items if answers.get(item.id) is not None]
    left_open = [item.id for item in items if item not in judged]
    found = [
        item.severity or 0
        for item in judged
        if answers[item.id] == (1.0 if item.fault == "yes" else 0.0)
    ]
    value = float(max(found, default=0) if scoring == "worst" else len(found)) if judged else None
    if left_open:
        reason: str | None = f"not judged: {', '.join(left_open)}"
    else:
        reason = None if items else "nothing to judge"
    band = None if value is None else band_of(scale, name, value)
    return Score(name=name, value=value, used=len(judged), of=len(items), band=band, reason=reason)


def _ratio(scale: Scale, ratio: Ratio, answers: Answers) -> Score:
    ids = list(dict.fromkeys((*ratio.over, *ratio.under)))
    by_id = {item.id: item for item in scale.items}
    given = {
        name: value for name in ids if (value := points(scale, by_id[name], answers)) is not None
    }
    missing = [name for name in ids if name not in given]
    if missing:
        return Score(
            name=ratio.id,
            value=None,
            used=len(given),
            of=len(ids),
            reason=f"incomplete; not answered: {', '.join(missing)}",
        )
    below = sum(given[name] for name in ratio.under)
    if below == 0 or below < (ratio.fewest or 0):
        added = " + ".join(ratio.under)
        few = f"too few to divide by: {added} is {below:g}, at least {ratio.fewest or 0:g} wanted"
        return Score(
            name=ratio.id,
            value=None,
            used=len(given),
            of=len(ids),
            reason=few if below else f"nothing to divide by: {added} is 0",
        )
    value = _rounded(ratio.times * sum(given[name] for name in ratio.over) / below)
    return Score(
        name=ratio.id,
        value=value,
        used=len(given),
        of=len(ids),
        band=band_of(scale, ratio.id, value),
    )


def band_of(scale: Scale, name: str, value: float) -> str | None:
    """The band in which a score lies: the one with the highest `at_least` that it reaches. A value
    between two whole numbers (a mean of samples) belongs to the lower band. None when the score has
    no bands.
    """
    reached = [band for band in scale.bands if band.score == name and value >= band.at_least]
    return max(reached, key=lambda band: band.at_least).name if reached else None


def _flagged(scale: Scale, scores: Iterable[Score], answers: Answers) -> Iterable[Score]:
    """The flags of items are at the first score, those of a score at that score."""
    for place, one in enumerate(scores):
        names = tuple(flag.name for flag in scale.flags if _raised(flag, one, place == 0, answers))
        yield one.model_copy(update={"flags": names}) if names else one


def _raised(flag: Flag, one: Score, first: bool, answers: Answers) -> bool:
    if flag.of == one.name:
        return one.value is not None and flag.raised(one.value)
    given = answers.values() if flag.of == ANY_ITEM else (answers.get(flag.of),)
    return first and any(value is not None and flag.raised(value) for value in given)


def _rounded(value: float) -> float:
    """Four decimals, as the log holds it."""
    return round(value, 4)


def answers_of(items: Iterable[ItemAnswer]) -> dict[str, float | None]:
    """The answers of a measurement by item id, to be scored again."""
    return {item.id: item.value for item in items}


def not_applicable_of(items: Iterable[ItemAnswer]) -> frozenset[str]:
    """The ids of the items of a measurement that were not applicable."""
    return frozenset(item.id for item in items if item.absent == "not applicable")
