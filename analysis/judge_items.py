"""What each item of a judge's scale is worth: whether it tells good sessions from bad, how often it
was left out, whether it has room at both ends, and whether it falls with the planted fault that it
should see.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from analysis.judge_figures import Fields, Figure, fall, good_against_bad

EDGE = 0.5
"""A mean of rounds within so much of an end of the range is at that end."""


@dataclass(frozen=True, kw_only=True)
class ItemFigure:
    """One row of the table of items."""

    instrument: str
    item: str
    n: int
    """Transcripts of which it was answered at least once."""
    auc: float | None
    """Turned so that above 0.5 is right; None without good and bad sessions."""
    low: float | None
    """`low`, `high`: of its 95% interval."""
    high: float | None
    missing: float
    """Share of the ratings in which it had no valid answer."""
    not_applicable: float
    """Share in which there was nothing to judge."""
    floor: float | None
    """Share of those transcripts at the lowest answer, as answered."""
    ceiling: float | None
    """The same at the highest."""


def item_figures(head: Fields, rated: list[Fields], labels: dict[str, Fields]) -> list[ItemFigure]:
    """A row for each item that is rated, over the original transcripts."""
    return [
        _figure(name, item, told, _of(rated, name), labels)
        for name, items in _told(head)
        for item, told in items.items()
    ]


def falls(head: Fields, rated: list[Fields]) -> list[Figure]:
    """By how much each item falls with the faults that it should see."""
    return [
        fall(f"{name} {item}", _values(_of(rated, name), item, told), fault)
        for name, items in _told(head)
        for item, told in items.items()
        for fault in told["falls_with"]
    ]


def _told(head: Fields) -> Iterable[tuple[str, Fields]]:
    return ((name, one.get("items", {})) for name, one in head.get("instruments", {}).items())


def _of(rated: list[Fields], instrument: str) -> list[Fields]:
    return [row for row in rated if row["instrument"] == instrument]


def _values(rows: list[Fields], item: str, told: Fields) -> pd.DataFrame:
    """As rows of transcript, variant, round, value; turned so that higher is better."""
    both = told["low"] + told["high"]
    found = pd.DataFrame(
        [
            {key: row[key] for key in ("transcript", "variant", "round")}
            | {"value": row["items"].get(item)}
            for row in rows
        ]
    )
    values = pd.to_numeric(found["value"], errors="coerce")
    return found.assign(value=both - values if told["turned"] else values)


def _figure(
    instrument: str, item: str, told: Fields, rows: list[Fields], labels: dict[str, Fields]
) -> ItemFigure:
    original = [row for row in rows if row["variant"] == "original"]
    absent = [row.get("absent", {}).get(item) for row in original]
    plain = _values(original, item, told | {"turned": False})
    means = plain.dropna(subset=["value"]).groupby("transcript")["value"].mean()
    found = good_against_bad("", _values(original, item, told), labels)
    return ItemFigure(
        instrument=instrument,
        item=item,
        n=len(means),
        auc=found.value,
        low=found.low,
        high=found.high,
        missing=absent.count("missing") / len(absent),
        not_applicable=absent.count("not applicable") / len(absent),
        floor=float((means <= told["low"] + EDGE).mean()) if len(means) else None,
        ceiling=float((means >= told["high"] - EDGE).mean()) if len(means) else None,
    )
