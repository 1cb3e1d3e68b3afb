"""Corpora compared with any instruments with which they were rated; what an observer answered for the
client is called so in every table, figure and line."""

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from analysis.__main__ import app
from analysis.corpora.comparison import CorporaOptions, CorporaReport, make
from analysis.corpora.scores import dimensions, limits
from analysis.corpora.writing import write
from analysis.page import records
from simcounsel.corpus.judging import scale_for
from simcounsel.errors import SpecError
from tests.corpus.planted import corpus, people, rated

LABEL = "rated from transcript by openai:planted"
OWN = """\
id: warmth
name: Warmth
measures: how warm the counselor is
version: "1"
level: counselor
scope: shared
respondent: observer
sees: transcript
stands_in_for: null
source: our own
licence: Apache-2.0
instruction: How warm is the counselor?
range: {min: 1, max: 10}
direction: higher_is_better
scoring: mean
items:
  - {id: w1, text: The counselor is warm.}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two corpora of planted quality, rated with three instruments, one of them of one's own."""
    folder = tmp_path_factory.mktemp("instruments")
    (folder / "warmth.yaml").write_text(OWN, encoding="utf-8")
    found = [
        corpus(folder / f"{name}.jsonl", quality, 6) for name, quality in (("a", 4.0), ("b", 7.0))
    ]
    for instrument in ("session_alliance", "dialogue_quality", str(folder / "warmth.yaml")):
        rated(found, instrument=instrument)
    return found


@pytest.fixture(scope="module")
def report(files: list[Path]) -> CorporaReport:
    study = people(files, files[0].parent / "study", raters=2)
    return make(files, CorporaOptions(ratings=study))


@pytest.mark.slow
def test_every_instrument_is_compared(report: CorporaReport) -> None:
    told = [(one.scale.id, one.judge) for one in report.judged]
    assert [id for id, _ in told] == [
        "dialogue_quality",
        "session_alliance_from_transcript",
        "warmth",
    ]
    for one in report.judged:
        assert [name for name, _ in dimensions(one.scale)] == list(
            dict.fromkeys(one.summary["dimension"])
        )
        low, high = (row["value"] for row in records(one.summary)[:: len(dimensions(one.scale))])
        assert low < high, one.scale.id
    assert report.people is not None and report.people.scale.id == "dialogue_quality"
    agreed = [one.scale.id for one in report.judged if one.by_dialogue is not None]
    assert agreed == ["dialogue_quality"], "people were asked about nothing else"


@pytest.mark.slow
def test_what_an_observer_answered_for_the_client_is_called_so(
    report: CorporaReport, tmp_path: Path
) -> None:
    own = [one for id, one in report.pictures.items() if "session_alliance" in id]
    assert len(own) == 2 and all(LABEL in one.title for one in own)
    others = [one for id, one in report.pictures.items() if id.startswith(("dialogue_", "warmth"))]
    assert others and not any("from transcript" in one.title for one in others)
    for name in ("ratings", "summary", "contrasts", "themes"):
        table = report.tables[name]
        seen = table[table["instrument"] == "session_alliance_from_transcript"]
        assert len(seen) and set(seen["rated"]) == {LABEL}
        assert LABEL not in set(table[table["instrument"] == "dialogue_quality"]["rated"])
    page = write(report, tmp_path / "out", "x").read_text(encoding="utf-8")
    assert "they are no self-report" in page and page.count(LABEL) >= 5
    headline = page.split('<ul class="first">')[1].split("</ul>")[0]
    assert f"Session alliance, {LABEL}: 12 of them." in headline


@pytest.mark.slow
def test_one_instrument_can_be_named(files: list[Path], tmp_path: Path) -> None:
    own = files[0].parent / "warmth.yaml"
    for name in ("session_alliance", "session_alliance_from_transcript"):
        (one,) = make(files, CorporaOptions(instruments=(name,))).judged
        assert one.scale.id == "session_alliance_from_transcript"
    (one,) = make(files, CorporaOptions(instruments=(str(own),))).judged
    assert one.scale.id == "warmth"
    told = CliRunner().invoke(
        app, ["corpus", *map(str, files), "--instrument", "empathy", "-o", str(tmp_path / "out")]
    )
    assert told.exit_code == 0 and "empathy: no dialogue was rated with it" in told.output
    assert "summary" not in {file.stem for file in (tmp_path / "out" / "tables").glob("*.csv")}
    with pytest.raises(SpecError, match="did you mean 'empathy'"):
        make(files, CorporaOptions(instruments=("empaty",)))


def test_between_what_a_score_lies() -> None:
    assert limits(scale_for("dialogue_quality"), "trust") == (1, 10)
    assert limits(scale_for("gad7"), "total") == (0, 21)
    assert limits(scale_for("session_alliance_observed"), "overall") == (1, 10)
    audit = scale_for("safety_audit")
    assert all(limits(audit, name) is None for name, _ in dimensions(audit))
    coded = scale_for("motivational_interviewing")
    counts = {item.subscale for item in coded.codes}
    assert all(limits(coded, name) is None for name, _ in dimensions(coded) if name in counts)


@pytest.mark.slow
def test_ratings_of_an_audit_and_of_counts_are_drawn(tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.jsonl", 5.0, 4)
    for name in ("safety_audit", "motivational_interviewing"):
        rated([file], "scripted", instrument=name)
    found = make([file])
    assert {"safety_audit_0", "motivational_interviewing_0"} <= set(found.pictures)
    summary = found.tables["summary"].set_index(["instrument", "dimension"])["value"]
    nobody = "complex_reflections_percent"
    assert pd.isna(summary["motivational_interviewing", nobody])
    alt = found.pictures["motivational_interviewing_0"].alt
    assert "Technical global" in alt and "Complex reflections" not in alt
    assert "nan" not in write(found, tmp_path / "out", "x").read_text(encoding="utf-8").lower()
