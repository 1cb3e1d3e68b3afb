"""From how many items scores were made, counted by hand."""

import pandas as pd

from analysis.columns import MEASUREMENTS
from analysis.completeness import completeness, lacking


def row(score: str, made: str, respondent: str = "self", **more: object) -> dict[str, object]:
    given = {"instrument": "phq9", "score": score, "respondent": respondent, "made": made}
    return dict.fromkeys(MEASUREMENTS) | given | more


def test_each_kind_is_counted() -> None:
    table = completeness(
        pd.DataFrame(
            [
                row("total", "complete"),
                row("total", "partial", items_missing=2),
                row("total", "incomplete", items_missing=4, items_not_applicable=1),
                row("total", "not applicable", items_not_applicable=9),
                row("mood", "complete"),
                row("words", "complete", "talk"),
            ],
            columns=list(MEASUREMENTS),
        )
    )
    assert table.to_dict("records") == [
        {
            "instrument": "phq9",
            "score": "mood",
            "respondent": "self",
            "measured": 1,
            "complete": 1,
            "partial": 0,
            "not applicable": 0,
            "incomplete": 0,
            "items_not_applicable": 0,
            "items_missing": 0,
        },
        {
            "instrument": "phq9",
            "score": "total",
            "respondent": "self",
            "measured": 4,
            "complete": 1,
            "partial": 1,
            "not applicable": 1,
            "incomplete": 1,
            "items_not_applicable": 10,
            "items_missing": 6,
        },
    ]
    assert [one["score"] for one in lacking(table)] == ["total"]


def test_nothing_measured_is_an_empty_table() -> None:
    table = completeness(pd.DataFrame(columns=list(MEASUREMENTS)))
    assert not len(table) and lacking(table) == []
