"""Where runs are cut into before and after."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from analysis.patterns import Cut, first_talks
from analysis.sample import Sample
from simcounsel.clock import minute_of_tick


def cut_minutes(cut: Cut, sample: Sample, talk: pd.DataFrame) -> dict[str, int]:
    """Where `session`, `meeting` and `fork` cut each run. A run without a session or meeting of its
    own is cut where the others are, at the median.
    """
    if cut in ("session", "meeting"):
        found = first_talks(talk, of_counselor=cut == "session")
        middle = int(np.median(list(found.values()))) if found else None
        return {
            m.name: found.get(m.name, middle)  # type: ignore[misc]
            for m in sample.members
            if found.get(m.name, middle) is not None
        }
    if cut == "fork":
        return {
            member.name: minute
            for member in sample.members
            if (minute := _forked_at(member.manifest)) is not None
        }
    return {}


def _forked_at(manifest: Mapping[str, Any]) -> int | None:
    parent, world = manifest.get("parent"), manifest["world"]
    return (
        minute_of_tick(
            int(parent["at_tick"]),
            datetime.fromisoformat(world["start"]),
            int(world["tick_minutes"]),
        )
        if parent
        else None
    )
