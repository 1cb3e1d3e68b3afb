"""From how many items scores were made: what did not apply, what is missing, what was not made."""

from collections.abc import Mapping, Sequence

import pandas as pd

COLUMNS = (
    "instrument",
    "score",
    "respondent",
    "measured",
    "complete",
    "partial",
    "not applicable",
    "incomplete",
    "items_not_applicable",
    "items_missing",
)


def completeness(measurements: pd.DataFrame) -> pd.DataFrame:
    """A row for each score of an instrument and who answers: how often it was measured; made from
    all items, from a part of them by the scale's own rule, not at all since nothing applied, or not
    at all since too many items had no answer; and how many items, over all measurements, did not
    apply or are missing. Counts from talk (no items) are left out.
    """
    asked = measurements[measurements["respondent"].astype(str) != "talk"]
    rows = []
    keys = ["instrument", "score", "respondent"]
    for names, some in asked.groupby(keys, sort=True, observed=True):
        made = some["made"].astype(str).value_counts()
        rows.append(
            dict(zip(keys, names, strict=True))
            | {"measured": len(some)}
            | {name: int(made.get(name, 0)) for name in COLUMNS[4:8]}
            | {name: int(some[name].fillna(0).sum()) for name in COLUMNS[8:]}
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def lacking(table: pd.DataFrame) -> list[dict[str, object]]:
    """Of those rows, the ones with a measurement that was not made from all items."""
    return [
        {str(name): value for name, value in row.items()}
        for row in table[table["complete"] < table["measured"]].to_dict("records")
    ]


SHOWN = {
    "incomplete": "incomplete",
    "partial": "from a part",
    "not applicable": "nothing applied",
    "items_missing": "items missing",
    "items_not_applicable": "items not applicable",
}
"""What the page shows, and under which title."""
ALWAYS = ("incomplete", "partial", "items_missing")


def shown_columns(rows: Sequence[Mapping[str, object]]) -> list[tuple[str, str]]:
    """The columns that the page shows of such rows, with their titles: those that are 0 throughout
    are left out, unless they are of `ALWAYS`.
    """
    return [
        (name, title)
        for name, title in SHOWN.items()
        if name in ALWAYS or any(one[name] for one in rows)
    ]
