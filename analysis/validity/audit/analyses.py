"""What an audit analyzes otherwise, in the runs of the experiment as it is."""

from collections.abc import Collection, Iterator

import pandas as pd

ANALYSIS = "analysis"
"""The level of these changes."""


def analyses(usual: pd.DataFrame, warned: Collection[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The rows of a claim (see `analysis.outcomes`) in each other way that changes something.
    warned: runs in which something went wrong, such as an answer that could not be used.
    """
    found = {
        "levels, not changes": usual.assign(value=usual["last"])
        if "last" in usual and (usual["kind"] == "change").all()
        else usual,
        "first seed alone": usual[usual["seed"] == usual.groupby("client")["seed"].transform("min")]
        if "seed" in usual
        else usual,
        "without runs with warnings": usual[~usual["run"].isin(warned)],
    }
    for name, rows in found.items():
        if len(rows) and not rows.equals(usual):
            yield name, rows
