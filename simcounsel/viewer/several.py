"""Several runs at once: each score over time, and the mean of each arm with its interval over
runs.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean, stdev
from typing import Any

from simcounsel.runs.history import History
from simcounsel.viewer.outcomes import outcomes, scored
from simcounsel.viewer.parts import summed

Fields = dict[str, Any]
LEAST = 3
"""Runs of an arm from which on its mean has an interval."""
_CONFIDENCE = 0.95
_STEPS = 400


def several(histories: Mapping[str, History]) -> Fields:
    """Runs, by their name in the list, with their arm and start, and for each score of each
    instrument the points of every run and the means of every arm.

    The unit is the run: where one has several clients, or several measurements at the same point of
    its plan, their mean counts once. A point is named as in the plan ('baseline', 'end'), so that
    sessions at other times are set beside each other. Retests are left out.
    """
    runs: list[Fields] = []
    scales: Fields = {}
    series: defaultdict[tuple[str, str, str], list[Fields]] = defaultdict(list)
    for name, history in histories.items():
        about = summed(history.log) | {"name": name}
        arm = about["arm"] or about["condition"] or "?"
        found = outcomes(history)
        runs.append(about | {"arm": arm, "clock": _clock(history)})
        scales |= found["scales"]
        for (who, instrument, score, respondent), point in scored(found["points"]):
            series[instrument, score, respondent].append(
                {"run": name, "arm": arm, "who": who, "tick": point["tick"]}
                | {"minute": point["minute"], "point": point["point"], "value": point["value"]}
                | {"chats": point["chats"], "trial": point["trial"]}
            )
    return {
        "runs": runs,
        "scales": scales,
        "series": [
            {"instrument": instrument, "score": score, "respondent": respondent}
            | {"points": points, "means": arm_means(points)}
            for (instrument, score, respondent), points in series.items()
        ],
    }


def arm_means(points: Iterable[Fields]) -> list[Fields]:
    """For each arm and point of the plan the mean over runs, from how many, and its 95 % interval
    (Student's t over runs); no interval with fewer than LEAST runs.
    """
    cells: defaultdict[tuple[str, str], defaultdict[str, list[Fields]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for one in points:
        cells[one["arm"], one["point"]][one["run"]].append(one)
    found = []
    for (arm, point), by_run in cells.items():
        values = [fmean(one["value"] for one in all_of) for all_of in by_run.values()]
        minute = fmean(fmean(one["minute"] for one in all_of) for all_of in by_run.values())
        found.append(
            {"arm": arm, "point": point, "minute": minute, "mean": fmean(values)}
            | {"n": len(values), "interval": interval(values)}
        )
    return sorted(found, key=lambda one: (one["arm"], one["minute"]))


def interval(values: Sequence[float]) -> list[float] | None:
    """The 95 % interval of their mean, by Student's t; None with fewer than LEAST."""
    if len(values) < LEAST:
        return None
    half = t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return [fmean(values) - half, fmean(values) + half]


@lru_cache
def t_quantile(freedom: int) -> float:
    """Within how many standard errors of 0 Student's t lies with probability 0.95.

    With t = sqrt(freedom) tan(angle) that probability is a share of the integral of
    cos(angle) ** (freedom - 1) from 0 to a right angle (Simpson's rule; bisection).
    """
    low, high = 0.0, math.pi / 2
    whole = _integral(freedom, high)
    for _ in range(60):
        middle = (low + high) / 2
        if _integral(freedom, middle) < _CONFIDENCE * whole:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _integral(freedom: int, upto: float) -> float:
    step = upto / _STEPS
    values = [math.cos(n * step) ** (freedom - 1) for n in range(_STEPS + 1)]
    inner = 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2])
    return (values[0] + values[-1] + inner) * step / 3


def _clock(history: History) -> Fields:
    """When the world begins, as the pages need it: its date, the minute of tick 0, minutes to a
    tick, and ticks.
    """
    world = history.log.manifest.get("world") or {}
    return {"start": world.get("start"), "ticks": history.log.ticks} | {
        "tick_minutes": world.get("tick_minutes", 15)
    }
