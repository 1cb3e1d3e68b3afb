"""Tables for other programs, explained; outcomes over time; a methods paragraph out of manifests."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.codebook import MEANINGS, codebook, write_tidy
from analysis.methods import checklist, methods, prompts_digest
from analysis.page import counted
from analysis.reading import tidy
from analysis.report import Report, ReportOptions, make
from analysis.time_plots import by_point, over_time
from analysis.writing import write
from tests.analysis.conftest import planted
from tests.analysis.made import CLIENTS, CONDITIONS


@pytest.fixture(scope="module")
def made(planted_study: Path) -> dict[str, pd.DataFrame]:
    return tidy([planted_study])[1]


@pytest.fixture(scope="module")
def report(planted_study: Path) -> Report:
    return make([planted_study], ReportOptions(shuffles=99, stories=1))


@pytest.mark.slow
def test_outcomes_are_one_row_a_run_client_and_score(made: dict[str, pd.DataFrame]) -> None:
    sleep = made["outcomes"][made["outcomes"]["instrument"] == "insomnia_severity"]
    assert len(sleep) == len(CLIENTS) * len(CONDITIONS)
    for row in sleep.itertuples():
        assert row.value == pytest.approx(planted(str(row.arm), str(row.client)))


@pytest.mark.slow
def test_every_column_is_explained(made: dict[str, pd.DataFrame]) -> None:
    book = codebook(made)
    assert len(book) == sum(len(table.columns) for table in made.values())
    assert set(book["column"]) <= set(MEANINGS), set(book["column"]) - set(MEANINGS)
    assert all(0 < len(meaning) <= 255 for meaning in MEANINGS.values())
    value = book[(book["table"] == "outcomes") & (book["column"] == "arm")].iloc[0]
    assert value["values"] == "; ".join(sorted(CONDITIONS))


@pytest.mark.slow
def test_csv_parquet_and_spss_hold_the_same(made: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    write_tidy(made, tmp_path, ["csv", "parquet", "sav"])
    assert {file.suffix for file in tmp_path.iterdir()} == {".csv", ".parquet", ".sav"}
    for name, table in made.items():
        spss, meta = pyreadstat.read_sav(str(tmp_path / f"{name}.sav"))
        parquet = pd.read_parquet(tmp_path / f"{name}.parquet")
        assert len(spss) == len(parquet) == len(table)
        assert list(parquet.columns) == list(table.columns) == list(spss.columns)
        assert meta.column_names_to_labels["run"] == MEANINGS["run"]
    theirs = pd.read_parquet(tmp_path / "outcomes.parquet")["value"]
    pd.testing.assert_series_equal(theirs, made["outcomes"]["value"].astype(float))


@pytest.mark.slow
def test_over_time_has_every_client_and_arm(report: Report) -> None:
    drawn = {p.id: p for p in over_time(report.tables["measurements"], report.sample.arms)}
    assert set(drawn) == {"time_insomnia_severity_self"}
    alt = drawn["time_insomnia_severity_self"].alt
    for client in CLIENTS:
        end = 20 + planted("client_counselor", client)
        assert f"{client}, client_counselor: 20, {end:.3g}" in alt


def test_a_point_is_the_mean_over_runs_of_a_client() -> None:
    rows = pd.DataFrame(
        {
            "arm": "a",
            "client": ["Ines", "Ines", "Walter"],
            "point": "end",
            "minute": [10, 20, 10],
            "value": [1.0, 3.0, 9.0],
        }
    )
    assert by_point(rows)[["client", "minute", "value"]].to_numpy().tolist() == [
        ["Walter", 10.0, 9.0],
        ["Ines", 15.0, 2.0],
    ]


@pytest.mark.slow
def test_the_methods_are_those_of_the_runs(report: Report) -> None:
    said = methods(report)
    assert "We simulated 6 clients" in said and "18 runs of 12 ticks of 30 minutes (6 h)" in said
    assert "1 seed each" in said and "3 conditions" in said
    assert "4 tests were written down before the runs" in said
    answers = dict(checklist(report))
    assert prompts_digest(report) in answers["Prompts, instruments, therapies"]
    assert len(prompts_digest(report)) == 64
    assert answers["Scores missing, and why"].startswith("0 of 36")
    empty = replace(report, planned=[])
    assert "all results are exploratory" in methods(empty)


def test_counts_have_their_grammar() -> None:
    assert counted(1, "run") == "1 run" and counted(2, "run") == "2 runs"
    assert counted(1, "test was", "tests were") == "1 test was"
    assert counted(0, "test was", "tests were") == "0 tests were"


@pytest.mark.slow
def test_figures_for_print_hold_their_text(report: Report, tmp_path: Path) -> None:
    names = ("planned", "time_insomnia_severity_self")
    few = {name: report.pictures[name] for name in names}
    write(replace(report, pictures=few), tmp_path, "x", pdf=True)
    for name in names:
        svg = (tmp_path / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        assert "<text" in svg and "sans-serif" in svg
        for mm, points in ((85, 241), (180, 510)):
            pdf = (tmp_path / "figures" / f"{name}_{mm}mm.pdf").read_bytes()
            assert pdf.startswith(b"%PDF")
            box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", pdf)
            assert box is not None and float(box[1]) == pytest.approx(points, abs=1)
