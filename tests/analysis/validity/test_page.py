"""The page on validity adds up from parts, and says of every claim whether it was measured."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from analysis.errors import ReportError
from analysis.style import Look, Picture, picture
from analysis.validity.page import add, claims
from analysis.validity.part import Claim, Id, MethodSource, ValidityPart, kept, shown, table_of

HOSTILE = "</td><script>alert(1)</script>|[x](javascript:1)"


def _picture(id: str) -> Picture:
    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 2))
        figure.subplots().plot([0, 1], [0, 1], color=look.color(0))
        return figure

    return picture(id, "A line", "It rises", draw)


def _part(
    id: Id, *, statement: str = "They talk alike", figures: tuple[Picture, ...] = ()
) -> ValidityPart:
    frame = pd.DataFrame(
        {"measure": [HOSTILE, "=b"], "d": [np.float64(0.25), np.nan], "ok": [True, False]}
    )
    return ValidityPart(
        id=id,
        title="Talk",
        lead=("Two and two.",),
        claims=(Claim(statement=statement, verdict="holds", because="d 0.1 [0, 0.2]"),),
        tables=(table_of(f"{id}_measures", "Measures", frame, note="d: pooled", most=1),),
        figures=shown(figures),
        sources=(MethodSource(cite="A. 2026", url="https://example.org", used="d"),),
        command="simcounsel study validity talk",
        made="2026-01-01T00:00:00",
    )


def test_parts_add_up_and_what_is_not_measured_is_said(tmp_path: Path) -> None:
    drawn = _picture("one")
    page = add(_part("talk", figures=(drawn,)), [drawn], tmp_path)
    add(_part("people", statement="People agree"), [], tmp_path)
    html = page.read_text(encoding="utf-8")
    assert "They talk alike" in html and "People agree" in html
    assert html.count("not measured") == 6, (
        "persona, multiverse, audit, truth, fit and simulators, a claim each"
    )
    assert "simcounsel study validity persona RUNS --judge MODEL" in html
    assert "<script>" not in html and "&lt;script&gt;" in html
    assert html.count("<picture>") == 1
    assert (tmp_path / "figures" / "one.svg").read_bytes() == drawn.svg[Look()]
    written = pd.read_csv(tmp_path / "tables" / "talk_measures.csv")
    assert len(written) == 2 and "2 rows, the first 1 here" in html
    assert written["d"][0] == 0.25 and pd.isna(written["d"][1])
    assert set(pd.read_csv(tmp_path / "tables" / "claims.csv")["verdict"]) == {
        "holds",
        "not measured",
    }
    text = (tmp_path / "validity.md").read_text(encoding="utf-8")
    assert "[x](javascript" not in text and "| They talk alike | borne |" in text


def test_a_part_is_kept_as_it_was_with_its_drawings(tmp_path: Path) -> None:
    drawn = _picture("one")
    part = _part("talk", figures=(drawn,))
    add(part, [drawn], tmp_path)
    again = kept(tmp_path, "talk")
    assert again is not None and again[0] == part
    assert again[1][0].svg == drawn.svg
    assert kept(tmp_path, "persona") is None


def test_a_damaged_part_names_its_file(tmp_path: Path) -> None:
    add(_part("talk"), [], tmp_path)
    (tmp_path / "parts" / "talk.json").write_text('{"id": "talk"}', encoding="utf-8")
    with pytest.raises(ReportError, match=r"talk\.json: cannot be read .*measure this part again"):
        add(_part("people"), [], tmp_path)


def test_claims_stand_in_one_order() -> None:
    listed = claims([_part("people"), _part("talk")])
    assert [id for id, _ in listed] == [
        "talk",
        "persona",
        "multiverse",
        "audit",
        "truth",
        "people",
        "fit",
        "simulators",
    ]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReportError, match=r"file.*cannot be written .*choose another --out"):
        add(_part("talk"), [], tmp_path / "file" / "out")
