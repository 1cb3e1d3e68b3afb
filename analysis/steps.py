"""What changed from one time of measurement to the next, and from the first to the last: for scores
that are asked again and again, such as after each session of a course.

Columns: run, arm, client, seed, instrument, score, respondent, judge, step, origin, point, value.
step: `adjacent` (a point and the one before it) or `whole` (the last point and the first). origin,
point: from when to when. value: the later score minus the earlier. A point without a value is left
out; adjacent are then the two around it.
"""

from typing import Any

import pandas as pd

from analysis.outcomes import points_of
from analysis.sample import Sample

COLUMNS = (
    "run",
    "arm",
    "client",
    "seed",
    "instrument",
    "score",
    "respondent",
    "judge",
    "step",
    "origin",
    "point",
    "value",
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
