"""A run as a row in the list of runs: what must be read of it beyond its manifest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.runs.history import History
from simcounsel.runs.measurements import measurement_files
from simcounsel.runs.spending import Spending
from simcounsel.specs.sweep_plan import read_plan
from simcounsel.specs.vocabulary import RISK_LEVELS
from simcounsel.viewer.dangers import dangers
from simcounsel.viewer.outcomes import first_and_last, outcomes

Fields = dict[str, Any]
Key = tuple[int, int, int]


class Rows:
    """Rows that were read, kept as long as nothing is written to their run."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[Key, Fields]] = {}

    def of(self, history: History) -> Fields:
        """The row of a run; read again only where it has grown, or was measured since."""
        log = history.log
        files = measurement_files(log.folder)
        key = (log.size, len(files), sum(file.stat().st_size for file in files))
        kept = self._kept.get(log.folder)
        if kept is None or kept[0] != key:
            kept = self._kept[log.folder] = (key, row(history))
        return kept[1]


def row(history: History) -> Fields:
    """What is known of a world's run once it is read.

    cost: in USD; None where a price is unknown. by_hand: replies that somebody wrote, which have no
    price. danger: the highest level that was heard, how often, and how often it is left open.
    scales: of each score of each client its first and last value (see `first_and_last`).
    """
    log = history.log
    spent = Spending.of(log.all_calls())
    heard = dangers(history)["heard"]
    open_ends = sum(one.met_in is None for one in history.open_ends())
    levels = [one["level"] for one in heard]
    return {
        "fallbacks": len(history.warnings()),
        "calls": spent.calls,
        "cost": spent.cost_usd,
        "by_hand": spent.by_hand,
        "danger": {
            "level": max(levels, key=RISK_LEVELS.index, default="none"),
            "heard": len(heard),
            "open": open_ends,
        },
        "scales": first_and_last(outcomes(history)["points"]),
    }


def clients(manifest: Mapping[str, Any]) -> list[str]:
    """The names of those who are simulated as clients."""
    residents = (manifest.get("world") or {}).get("residents") or ()
    return [
        str(one.get("name") or one["persona"].get("name"))
        for one in residents
        if isinstance(one, dict)
        and isinstance(one.get("persona"), dict)
        and one["persona"].get("role") == "client"
    ]


def arm(folder: Path) -> str | None:
    """The arm of the sweep that it belongs to; None where it belongs to none, or is the past that
    its arms share, or the plan cannot be read.
    """
    try:
        plan = read_plan(folder.parent)
    except RunError:
        return None
    planned = plan.planned(folder.name) if plan else None
    return planned.arm if planned else None
