"""What changed from one time of measurement to the next, and from the first to the last: for scores
that are asked again and again, such as after each session of a course.

Columns: run, arm, client, seed, instrument, score, respondent, judge, step, origin, point, value.
step: `adjacent` (a point and the one before it) or `whole` (the last point and the first). origin,
point: from when to when. value: the later score minus the earlier. A point without a value is left
out; adjacent are then the two around it.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from analysis import outcomes
from analysis.outcomes import points_of
from analysis.sample import Sample
from analysis.statistics import spread
from simcounsel.specs.experiment import Change

COLUMNS = tuple(
    "run arm client seed instrument score respondent judge step origin point value".split()
)


def steps(measurements: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    """In the order of the runs, and of time within a score; nothing for what was asked once."""
    keys = ["run", "client", "instrument", "score", "respondent", "judge"]
    runs = {member.name: member for member in sample.members}
    rows: list[dict[str, Any]] = []
    for key, own in measurements.groupby(keys, observed=True, sort=True):
        whose = dict(zip(keys, key, strict=True))
        member = runs.get(str(whose["run"]))
        values = points_of(own)["value"]
        if member is None or len(values) < 2:
            continue
        named = [str(point) for point in values.index]
        pairs = [("adjacent", number - 1, number) for number in range(1, len(named))]
        for step, first, last in (*pairs, ("whole", 0, len(named) - 1)):
            rows.append(
                {
                    **whose,
                    "arm": member.arm,
                    "seed": member.seed,
                    "step": step,
                    "origin": named[first],
                    "point": named[last],
                    "value": float(values.iloc[last] - values.iloc[first]),
                }
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def outcomes_over(measurements: pd.DataFrame, sample: Sample, change: Change) -> pd.DataFrame:
    """One value a run and client for each score, in the shape of `outcomes`: how far it changed
    over the points that `change` names. `baseline` and `last` are the first and last value that
    count; a value is missing, with a `reason`, where a point was not measured.
    """
    keys = ["instrument", "score", "respondent", "judge"]
    rows: list[dict[str, Any]] = []
    for key, part in measurements.groupby(keys, observed=True, sort=True):
        whose = {
            (str(run), str(client)): own
            for (run, client), own in part.groupby(["run", "client"], observed=True)
        }
        for member in sample.members:
            for client in member.clients:
                own = whose.get((member.name, client), part.iloc[0:0])
                rows.append(
                    {
                        "run": member.name,
                        "arm": member.arm,
                        "client": client,
                        "seed": member.seed,
                        "pair": member.pair,
                        "shared_past": member.shared_past,
                        **dict(zip(keys, key, strict=True)),
                        **_changed(own, change),
                    }
                )
    table = pd.DataFrame(rows, columns=list(outcomes.COLUMNS))
    changed = table.groupby(keys)["value"].transform("count") > 0
    return table[changed].reset_index(drop=True)


def _changed(own: pd.DataFrame, change: Change) -> dict[str, Any]:
    points = points_of(own)
    values = points["value"]
    found: dict[str, Any] = {"kind": in_words(change), "baseline": None, "last": None}
    found |= {"value": None, "times": int(points["times"].max()) if len(points) else 0}
    if isinstance(change, tuple):
        lacking = [point for point in change if point not in values.index]
        if lacking:
            return found | {"reason": f"no value at {' and '.join(lacking)}"}
        first, last = (float(values[point]) for point in change)
        divided_by = 1
    elif len(values) < 2:
        return found | {"reason": f"measured {'once' if len(values) else 'never'}: no change"}
    else:
        first, last = float(values.iloc[0]), float(values.iloc[-1])
        divided_by = len(values) - 1 if change == "adjacent" else 1
    changed = (last - first) / divided_by
    return found | {"baseline": first, "last": last, "value": changed, "reason": None}


def in_words(change: Change) -> str:
    """What is counted, for tables and pages."""
    if isinstance(change, tuple):
        return f"{change[1]} minus {change[0]}"
    return "last minus first" if change == "whole" else "mean change from one time to the next"


STEP_MEANS = ("instrument", "score", "respondent", "arm", "step", "number", "origin", "point")


def step_means(made: pd.DataFrame, arms: Sequence[str]) -> pd.DataFrame:
    """One row a score, arm and step, with the mean over clients, its 95% interval by t and how many
    clients: of scores that were asked three times or more. A client counts once, with the mean of
    its runs and judges. number: which step it is, from 1; 0 of the whole.
    """
    rows: list[dict[str, Any]] = []
    keys = ["instrument", "score", "respondent"]
    for key, own in _numbered(made).groupby(keys, observed=True, sort=True):
        if own["number"].max() < 2:
            continue
        for arm in arms:
            here = own[own["arm"] == arm]
            whole = here[here["step"] == "whole"]
            if len(whole):
                rows.append(dict(zip(keys, key, strict=True)) | _mean("whole", 0, arm, whole))
            near = here[here["step"] == "adjacent"]
            for number, step in near.groupby("number", sort=True):
                rows.append(
                    dict(zip(keys, key, strict=True))
                    | _mean("adjacent", int(str(number)), arm, step)
                )
    columns = [*STEP_MEANS, "clients", "mean", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def _numbered(made: pd.DataFrame) -> pd.DataFrame:
    """With the number of each adjacent step within its run, from 1; 0 for the whole."""
    keys = ["run", "client", "instrument", "score", "respondent", "judge", "step"]
    number = made.groupby(keys, observed=True).cumcount() + 1
    return made.assign(number=number.where(made["step"] == "adjacent", 0))


def _mean(step: str, number: int, arm: str, rows: pd.DataFrame) -> dict[str, Any]:
    by_client = rows.groupby(rows["client"].astype(str))["value"].mean()
    found = spread(arm, by_client.tolist())
    several = rows["origin"].nunique() > 1 or rows["point"].nunique() > 1
    return {
        "arm": arm,
        "step": step,
        "number": number,
        "origin": "several" if several else rows["origin"].iloc[0],
        "point": "several" if several else rows["point"].iloc[0],
        "clients": found.n,
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
    }
