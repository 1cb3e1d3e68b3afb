"""From how many items scores were made, counted by hand."""

import json
from pathlib import Path

import pandas as pd

from analysis.completeness import completeness, lacking, shown_columns
from analysis.report import ReportOptions, make
from analysis.tables import COLUMNS
from analysis.writing import write
from simcounsel.scripted import Scripted
from simcounsel.specs.measurement import MeasurementSpec
from tests.stage import live, switchboard, tiny


def row(score: str, made: str, respondent: str = "self", **more: object) -> dict[str, object]:
    given = {"instrument": "phq9", "score": score, "respondent": respondent, "made": made}
    return dict.fromkeys(COLUMNS["measurements"]) | given | more


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
            columns=list(COLUMNS["measurements"]),
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
    table = completeness(pd.DataFrame(columns=list(COLUMNS["measurements"])))
    assert not len(table) and lacking(table) == []


def test_the_page_leaves_out_what_is_zero_throughout() -> None:
    one = dict.fromkeys(("incomplete", "partial", "not applicable", "items_missing"), 0)
    first = one | {"items_not_applicable": 0, "incomplete": 1}
    assert [name for name, _ in shown_columns([first])] == [
        "incomplete",
        "partial",
        "items_missing",
    ]
    second = first | {"items_not_applicable": 3}
    assert [title for _, title in shown_columns([first, second])][-1] == "items not applicable"


def test_it_stands_on_the_page(tmp_path: Path) -> None:
    """Every score with whatever it lacks, by instrument, as a page and as text."""
    world = tiny()
    both = tuple(MeasurementSpec(instrument=one, when="end") for one in ("phq9", "gad7"))
    answers = {"p1": 1, "p2": None, "g1": 2}
    gappy = Scripted({"self_report": lambda request, draw: json.dumps(answers)})
    run = live(tmp_path, world.model_copy(update={"measurements": both}), models=switchboard(gappy))
    page = write(
        make([run.folder], ReportOptions(shuffles=99)), tmp_path / "page", "python -m analysis"
    )
    html = page.read_text(encoding="utf-8")
    assert '<th scope="rowgroup" colspan="4">gad7</th>' in html
    text = page.with_name("report.md").read_text(encoding="utf-8")
    (head,) = [line for line in text.splitlines() if line.startswith("| instrument, score |")]
    assert head == "| instrument, score | incomplete | from a part | items missing |"
    assert "| phq9, total | 1 of 1 | 0 | 8 |" in text and "| gad7, total | 1 of 1 | 0 | 6 |" in text
