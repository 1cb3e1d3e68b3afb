"""The scores of an instrument in words: their names, what they can be, and who gave them."""

from simcounsel.corpus.rated import rated_by
from simcounsel.specs.scale import Scale
from simcounsel.specs.scores import TOTAL


def dimensions(scale: Scale) -> list[tuple[str, str]]:
    """The scores of a scale: id and name in words; the total first, where it has one."""
    total = [(TOTAL, "Total")] if scale.scoring is not None else []
    parts = [(part.id, part.name) for part in scale.subscales]
    return total + parts + [(ratio.id, ratio.name) for ratio in scale.ratios]


def limits(scale: Scale, score: str) -> tuple[float, float] | None:
    """Between which numbers a score lies; None where the scale does not say, as of a ratio, of
    counts and of faults.
    """
    part = next((one for one in scale.subscales if one.id == score), None)
    scoring = (part.scoring if part else None) or scale.scoring
    items = [
        item
        for item in scale.items
        if (item.subscale == score if part else score == TOTAL and item.scored)
    ]
    if not items or scoring not in (None, "sum", "mean") or any(item.coded for item in items):
        return None
    times = 1 / len(items) if scoring == "mean" else 1.0
    ranges = [scale.range_of(item) for item in items]
    return times * sum(one.min for one in ranges), times * sum(one.max for one in ranges)


def who_rated(scale: Scale, judge: str) -> str:
    """For titles and captions: what was rated, and by whom. A questionnaire that an observer
    answered for the client is never called anything else.
    """
    by = rated_by(scale.id, judge)
    name = scale.name.removesuffix(", rated from transcript")
    return f"{name}, {by}" if by != judge else f"{name}, rated by {judge}"
