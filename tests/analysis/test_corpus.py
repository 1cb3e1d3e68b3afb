"""Corpora compared: the paper's own tables, planted quality, paired arms, missing numbers; end to end."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from analysis.__main__ import app
from analysis.corpora.comparison import CorporaOptions, CorporaReport, make
from analysis.corpora.people import agreement_by_corpus, rank
from analysis.corpora.quality import DialogueMean, contrasts, interval_of, mean_of
from analysis.corpora.scores import dimensions
from analysis.corpora.sources import Group, read_sources
from analysis.corpora.writing import headline, write
from analysis.errors import ReportError
from analysis.page import records
from simcounsel.corpus.judging import scale_for
from simcounsel.errors import CorpusError
from simcounsel.runs.call_chain import CallChain
from tests.analysis.drawn import assert_dark_as_drawn
from tests.corpus.planted import corpus, people, rated
from tests.viewer.conftest import browser, chromium

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser

__all__ = ["browser", "chromium"]

SCALE = scale_for("dialogue_quality")

# Xue et al. 2026, Table III: eight corpora by GPT-4o, and by people.
JUDGE = {
    "professionalism": (8.92, 8.09, 8.14, 8.60, 8.66, 8.40, 5.12, 8.94),
    "helpfulness": (8.90, 8.16, 8.23, 8.58, 8.76, 8.38, 4.98, 8.98),
    "guidance": (8.84, 8.14, 8.10, 8.62, 8.68, 8.26, 4.70, 8.96),
    "emotion": (8.86, 8.11, 8.36, 8.65, 8.86, 8.58, 6.64, 8.98),
    "trust": (8.28, 7.78, 7.86, 8.03, 8.38, 8.14, 6.08, 8.32),
}
PEOPLE = {
    "professionalism": (8.41, 8.41, 8.11, 8.17, 8.12, 7.44, 6.31, 8.45),
    "helpfulness": (8.65, 8.43, 8.15, 8.21, 8.36, 7.49, 6.85, 8.68),
    "guidance": (8.15, 7.95, 8.26, 8.13, 8.34, 7.21, 6.57, 8.35),
    "emotion": (9.12, 8.77, 8.57, 8.93, 8.87, 8.63, 7.27, 8.93),
    "trust": (8.43, 7.97, 7.60, 8.33, 8.21, 7.43, 6.77, 8.50),
}
TABLE_IV = {
    "professionalism": (0.659, 0.076),
    "helpfulness": (0.738, 0.037),
    "guidance": (0.690, 0.058),
    "emotion": (0.819, 0.013),
    "trust": (0.667, 0.071),
}


def means_of(table: dict[str, tuple[float, ...]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"corpus": f"corpus {n}", "dimension": name, "value": value}
            for name, values in table.items()
            for n, value in enumerate(values)
        ]
    )


def test_the_papers_table_iv_comes_out_of_its_table_iii() -> None:
    for row in records(agreement_by_corpus(means_of(JUDGE), means_of(PEOPLE), SCALE)):
        rho, p = TABLE_IV[row["dimension"]]
        assert row["rho"] == pytest.approx(rho, abs=0.0006)
        assert row["p"] == pytest.approx(p, abs=0.0006)
        assert row["n"] == 8
        assert row["low"] < rho < row["high"]
        assert 0.01 < row["p_exact"] < 0.1


def test_ranks_by_hand() -> None:
    assert rank([1, 2, 3, 4], [1, 2, 3, 4], exact=True).p_exact == pytest.approx(2 / 24)
    same = rank([1, 2, 3, 4], [1, 2, 3, 4], exact=True)
    assert same.rho == 1.0 and same.low is None and same.p is None, (
        "four in one order are no certainty"
    )
    few = rank([1, 2], [1, 2], exact=True)
    assert few.rho is None and few.reason == "2 rated by both; three are needed"
    flat = rank([5, 5, 5, 5], [1, 2, 3, 4], exact=False)
    assert flat.rho is None and "same rating" in str(flat.reason)
    found = rank([1, 2, 3, 4, 5], [1, 2, 3, 5, 4], exact=True)
    assert found.rho == pytest.approx(0.9)
    low = np.tanh(np.arctanh(0.9) - 1.959964 * ((1 + 0.9**2 / 2) / 2) ** 0.5)
    assert found.low == pytest.approx(low)


def test_fewer_than_four_corpora_are_no_correlation() -> None:
    three = {name: values[:3] for name, values in JUDGE.items()}
    rows = records(agreement_by_corpus(means_of(three), means_of(PEOPLE), SCALE))
    assert {row["rho"] for row in rows} == {None}
    assert rows[0]["reason"] == "3 corpora rated by both; 4 are needed"


def test_the_interval_holds_the_truth_and_clients_count_not_dialogues() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for draw in range(60):
        values = rng.normal(6, 1.5, size=30)
        low, high, _ = interval_of(values, np.arange(30).astype(str), seed=draw)
        assert low is not None and high is not None
        held += low <= 6 <= high
    assert held >= 52, "95% of 60 are 57; 52 or fewer happen once in a hundred times"
    alone = interval_of(np.repeat([4.0, 5.0, 6.0, 7.0, 8.0], 6), np.arange(30).astype(str))
    together = interval_of(np.repeat([4.0, 5.0, 6.0, 7.0, 8.0], 6), np.repeat(list("abcde"), 6))
    assert together[1] - together[0] > 1.5 * (alone[1] - alone[0])  # type: ignore[operator]


def test_no_interval_is_said() -> None:
    assert (
        interval_of(np.array([1.0, 2.0]), np.array(["a", "b"]))[2]
        == "n = 2; no interval from fewer than three clients"
    )
    assert (
        interval_of(np.array([7.0] * 5), np.array(list("abcde")))[2] == "all the same; no interval"
    )
    part = pd.DataFrame({"value": [None, 4.0, None], "client": ["a", "b", "c"]}).astype(
        {"value": float}
    )
    assert mean_of(part) == DialogueMean(
        value=4.0,
        n=1,
        clients=1,
        missing=2,
        reason="n = 1; no interval from fewer than three clients",
    )
    assert mean_of(part[:1]).value is None and mean_of(part[:1]).reason == "no rating could be used"


def test_shared_clients_are_paired() -> None:
    """Clients differ far more than arms; only the paired comparison can see a difference of half a point."""
    rng = np.random.default_rng(1)
    levels, noise = rng.normal(6, 2, size=20), rng.normal(0, 0.2, size=(2, 20))
    rows = [
        {
            "corpus": arm,
            "client": f"c{n}",
            "dimension": name,
            "value": levels[n] + shift + noise[k][n],
        }
        for k, (arm, shift) in enumerate((("full", 0.5), ("none", 0.0)))
        for n in range(20)
        for name, _ in dimensions(SCALE)
    ]
    groups = [
        Group(name=name, source="s", condition=name, dialogues=()) for name in ("full", "none")
    ]
    paired = records(contrasts(pd.DataFrame(rows), groups, SCALE))[0]
    assert (paired["first"], paired["second"], paired["test"], paired["n"]) == (
        "none",
        "full",
        "paired_t",
        "pairs 20",
    )
    assert (
        paired["difference"] == pytest.approx(-0.5, abs=0.15)
        and paired["high"] < 0
        and paired["p_holm"] < 0.01
        and paired["p_t"] < 0.001
    )
    apart = pd.DataFrame([row | {"client": f"{row['corpus']}-{row['client']}"} for row in rows])
    welch = records(contrasts(apart, groups, SCALE))[0]
    assert (
        welch["test"] == "welch"
        and welch["difference"] == pytest.approx(paired["difference"])
        and welch["p"] > 0.1
    )


def test_a_handful_of_pairs_proves_nothing() -> None:
    """Six differences that are alike by luck: t is sure, but 2 of 64 patterns of signs are as far from 0."""
    values = {"a": (8.0, 6.0, 7.0, 8.5, 6.0, 7.0), "b": (5.5, 3.0, 3.5, 5.5, 1.5, 4.5)}
    rows = [
        {"corpus": arm, "client": f"c{n}", "dimension": name, "value": value}
        for arm, given in values.items()
        for n, value in enumerate(given)
        for name, _ in dimensions(SCALE)
    ]
    found = records(
        contrasts(
            pd.DataFrame(rows),
            [Group(name=arm, source="s", condition=arm, dialogues=()) for arm in values],
            SCALE,
        )
    )[0]
    assert found["p_t"] < 0.001
    assert found["p"] == pytest.approx(2 / 64)
    assert found["p_holm"] == pytest.approx(5 * 2 / 64)


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], Path]:
    """Four corpora of planted quality, rated by a judge (two of them twice) and by three people; the study's CSV."""
    folder = tmp_path_factory.mktemp("four")
    files = [
        corpus(folder / f"{name}.jsonl", quality)
        for name, quality in (("poor", 3.5), ("fair", 5.0), ("good", 6.5), ("fine", 7.5))
    ]
    rated(files)
    rated(files[:2], again=True)
    return files, people(files, folder / "study")


@pytest.fixture(scope="module")
def report(four: tuple[list[Path], Path]) -> CorporaReport:
    return make(four[0], CorporaOptions(ratings=four[1], embed="scripted"))


@pytest.mark.slow
def test_dark_pictures_are_as_drawn(report: CorporaReport) -> None:
    assert_dark_as_drawn(report.pictures)


@pytest.mark.slow
def test_planted_quality_comes_out_with_its_sign_and_order(report: CorporaReport) -> None:
    one = report.judged[0]
    assert one.judge == "openai:planted" and not one.trial
    for name, _ in dimensions(SCALE):
        means = [row["value"] for row in records(one.summary) if row["dimension"] == name]
        assert means == sorted(means) and means[-1] - means[0] == pytest.approx(4.0, abs=1.0)
    worst = next(
        row
        for row in records(one.contrasts)
        if (row["first"], row["second"], row["dimension"]) == ("fine", "poor", "trust")
    )
    assert worst["test"] == "paired_t" and worst["low"] > 2 and worst["p_holm"] < 0.01
    assert one.by_dialogue is not None and one.by_corpus is not None
    for row in records(one.by_dialogue):
        assert row["n"] == 72 and row["rho"] > 0.7 and row["low"] > 0.5
    for row in records(one.by_corpus):
        assert row["rho"] == 1.0 and row["p_exact"] == pytest.approx(2 / 24) and row["low"] is None


@pytest.mark.slow
def test_a_judge_that_prefers_the_wrong_is_seen(tmp_path: Path) -> None:
    """The same corpora, but people rate against the judge: rho is negative."""
    files = [corpus(tmp_path / "a.jsonl", 4.0), corpus(tmp_path / "b.jsonl", 7.0)]
    rated(files)
    answers = people(files, tmp_path / "study")
    with answers.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    turned = [row | {"value": str(11 - int(row["value"]))} for row in rows]
    with (tmp_path / "turned.csv").open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows(turned)
    found = make(files, CorporaOptions(ratings=tmp_path / "turned.csv")).judged[0].by_dialogue
    assert found is not None
    assert all(row["high"] < -0.4 for row in records(found))


@pytest.mark.slow
def test_what_is_counted_stands_beside_it(report: CorporaReport) -> None:
    cells = {(row["corpus"], row["measure"]): row for row in records(report.counted.corpora)}
    assert cells["poor", "sessions"]["value"] == 18
    assert cells["poor", "utterances"]["value"] == 4
    assert cells["poor", "modified"]["value"] is None and cells["poor", "modified"]["reason"]
    assert cells["poor", "spread"]["value"] > 0
    assert report.counted.equal.dialogues == 18
    assert report.counted.curves["poor"]["words"].first == pytest.approx(3 / 8)


@pytest.mark.slow
def test_people_are_told_apart_and_agree(report: CorporaReport) -> None:
    assert report.people is not None and report.raters_agree is not None
    assert report.people.ratings["rater"].nunique() == 3
    alphas = [row["value"] for row in records(report.raters_agree) if "alpha" in row["what"]]
    assert len(alphas) == 5 and min(alphas) > 0.4


@pytest.mark.slow
def test_the_retest_is_shown(report: CorporaReport) -> None:
    retest = records(report.judged[0].retests)
    assert [row["n"] for row in retest] == [36] * 5
    assert all(0 < row["difference"] < 1.5 for row in retest)


@pytest.mark.slow
def test_the_page_and_its_tables(report: CorporaReport, tmp_path: Path) -> None:
    page = write(report, tmp_path / "out", "simcounsel study corpus ...")
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "http" not in text.split("<main>")[1]
    assert "stand out after correction" in text and "Rank correlation" in text
    assert (
        "nan" not in text.lower().replace("finance", "")
        and "built-in" not in text
        and "None" not in text.replace("None of", "")
    )
    tables = {file.stem for file in (tmp_path / "out" / "tables").glob("*.csv")}
    assert {
        "summary",
        "themes",
        "contrasts",
        "judge_and_people",
        "measures",
        "dialogues",
        "opening_up",
        "raters",
        "retests",
        "ratings",
    } <= tables
    summary = pd.read_csv(tmp_path / "out" / "tables" / "summary.csv")
    assert len(summary) == 2 * 4 * 5
    assert {file.stem for file in (tmp_path / "out" / "figures").glob("*.svg")} == set(
        report.pictures
    )
    named = write(report, tmp_path / "other" / "mine.html", "x")
    assert named.name == "mine.html" and (tmp_path / "other" / "tables" / "summary.csv").is_file()


@pytest.mark.slow
def test_the_same_input_gives_the_same_numbers(
    four: tuple[list[Path], Path], report: CorporaReport
) -> None:
    again = make(four[0], CorporaOptions(ratings=four[1], embed="scripted"))
    for name, table in report.tables.items():
        pd.testing.assert_frame_equal(table, again.tables[name])
    assert {id: one.svg for id, one in again.pictures.items()} == {
        id: one.svg for id, one in report.pictures.items()
    }


@pytest.mark.slow
def test_arms_of_one_corpus_stand_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "ablation.jsonl"
    for condition, quality in (("no_manager", 6.8), ("full", 7.0), ("no_evaluator", 5.0)):
        corpus(file, quality, condition=condition)
    rated([file])
    found = make([file])
    assert [group.name for group in found.groups] == ["full", "no_manager", "no_evaluator"], (
        "what is whole comes first, whatever the file's order"
    )
    worst = next(
        row
        for row in records(found.judged[0].contrasts)
        if (row["first"], row["second"], row["dimension"]) == ("no_evaluator", "full", "guidance")
    )
    assert worst["n"] == "pairs 18" and worst["high"] < -1
    together = read_sources([file, corpus(tmp_path / "other.jsonl", 5.0)])
    assert [group.name for group in together.groups] == [
        "ablation: full",
        "ablation: no_manager",
        "ablation: no_evaluator",
        "other",
    ]


@pytest.mark.slow
def test_arms_of_syntheses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two syntheses from the same situations: arms side by side, revisions and seconds known, and pages for people."""
    from simcounsel.cli import app as simcounsel

    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    for more in ((), ("--without", "corrector")):
        written = run.invoke(
            simcounsel,
            [
                "synthesize",
                "--model",
                "scripted",
                "--sessions",
                "4",
                "--out",
                "ablation",
                "--quiet",
                *more,
            ],
        )
        assert written.exit_code == 0, written.output
    assert (
        run.invoke(simcounsel, ["corpus", "rate", "ablation", "--model", "scripted"]).exit_code == 0
    )
    found = make([Path("ablation")])
    assert [group.name for group in found.groups] == ["full", "no_corrector"]
    cells = {(row["corpus"], row["measure"]): row for row in records(found.counted.corpora)}
    nobody = cells["no_corrector", "modified"]
    assert cells["full", "modified"]["value"] > 0
    assert (
        nobody["value"] is None
        and nobody["reason"] == "no drafts are kept, and no corrector is named"
    )
    assert cells["full", "seconds"]["value"] > 0
    assert {row["n"] for row in records(found.judged[0].contrasts)} == {"pairs 4"}
    made = run.invoke(
        simcounsel,
        ["study", "rate-page", "ablation", "--instrument", "dialogue_quality", "--out", "study"],
    )
    assert made.exit_code == 0 and "full 4, no_corrector 4" in made.output, made.output


def test_calls_that_a_fork_copied_and_may_not_need_take_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simcounsel.cli import app as simcounsel

    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(
        simcounsel,
        ["synthesize", "--model", "scripted", "--sessions", "2", "--out", "runs", "--quiet"],
    )
    assert made.exit_code == 0, made.output
    (group,) = read_sources([Path("runs")]).groups
    (calls,) = Path("runs").glob("*/calls.jsonl")
    own = [*map(json.loads, calls.read_text(encoding="utf-8").splitlines())]
    copied = [line | {"copied": True, "spare": True, "latency_s": 99.0} for line in own]
    calls.write_bytes(b"".join(map(CallChain().line, [*copied, *own])))
    (again,) = read_sources([Path("runs")]).groups
    assert len(group.seconds) == 2 and again.seconds == group.seconds


def test_unrated_corpora_are_only_counted(tmp_path: Path) -> None:
    found = make([corpus(tmp_path / "a.jsonl", 5.0)])
    assert not found.judged and "dialogue_quality_0" not in found.pictures
    assert "No judge has rated them" in " ".join(headline(found))
    assert "corpus rate" in write(found, tmp_path / "out", "x").read_text(encoding="utf-8")


def test_ratings_of_a_changed_text_do_not_count(tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.jsonl", 5.0, count=4)
    rated([file])
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text(
        "\n".join([lines[0].replace("bread", "cakes", 1), *lines[1:]]) + "\n", encoding="utf-8"
    )
    found = make([file])
    assert (
        found.notes[0]
        == "a: ratings of 1 dialogues that are not there, or were changed since, are left out."
    )
    assert records(found.judged[0].summary)[0]["n"] == 3


def test_ratings_kept_elsewhere_can_be_named(tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.jsonl", 5.0, count=4)
    rated([file], folder=tmp_path / "elsewhere")
    assert not make([file]).judged
    assert (
        records(make([file], CorporaOptions(rated=(tmp_path / "elsewhere",))).judged[0].summary)[0][
            "n"
        ]
        == 4
    )
    with pytest.raises(ReportError, match="nowhere: no ratings in it"):
        make([file], CorporaOptions(rated=(tmp_path / "nowhere",)))


def test_trials_are_said(tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.jsonl", 5.0, count=4)
    rated([file], "scripted")
    page = write(make([file]), tmp_path / "out", "x").read_text(encoding="utf-8")
    assert "These ratings mean nothing." in page


@pytest.mark.slow
def test_what_cannot_be_compared_is_said(tmp_path: Path, four: tuple[list[Path], Path]) -> None:
    file = corpus(tmp_path / "a.jsonl", 5.0, count=4)
    corpus(tmp_path / "deeper" / "a.jsonl", 5.0, count=4)
    with pytest.raises(ReportError, match="two corpora are called 'a'"):
        make([file, tmp_path / "deeper" / "a.jsonl"])
    with pytest.raises(ReportError, match="no answer to the questions of dialogue_quality"):
        make([file], CorporaOptions(ratings=four[1]))
    with pytest.raises(CorpusError, match="no such file"):
        make([tmp_path / "nowhere.jsonl"])


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    file = corpus(
        tmp_path / "a<script>alert(1)<b>.jsonl",
        5.0,
        count=4,
        condition="<img src=x onerror=alert(2)>",
    )
    rated([file])
    page = write(make([file]), tmp_path / "out", "x").read_text(encoding="utf-8")
    assert "<script>" not in page and "<img src=x" not in page


@pytest.mark.slow
def test_end_to_end_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate the shipped samples, make pages, answer, report."""
    from simcounsel.cli import app as simcounsel
    from simcounsel.studies.answers import Given, answer_of, append
    from simcounsel.studies.study import open_study

    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    done = run.invoke(
        simcounsel, ["corpus", "rate", "samples", "--model", "scripted", "--sample", "12"]
    )
    assert done.exit_code == 0 and "12 dialogues drawn, 12 to rate by scripted" in done.output, (
        done.output
    )
    assert "requests, 0.0000 USD" in done.output
    again = run.invoke(
        simcounsel, ["corpus", "rate", "samples", "--model", "scripted", "--sample", "12"]
    )
    assert "0 to rate" in again.output and "--again" in again.output
    made = run.invoke(
        simcounsel,
        [
            "study",
            "rate-page",
            "samples",
            "--instrument",
            "dialogue_quality",
            "--max-per-run",
            "12",
            "--raters",
            "2",
            "--out",
            "study",
        ],
    )
    assert made.exit_code == 0, made.output
    study = open_study(Path("study"))
    for rater in study.raters:
        append(
            Path("study"),
            [
                answer_of(
                    study,
                    rater,
                    Given(
                        item=item,
                        answers={
                            one.id: 1 + (number + len(one.id)) % 10
                            for one in study.instrument.items
                        }
                        | ({"attention": rater.checks[item]} if item in rater.checks else {}),
                    ),
                )
                for number, item in enumerate(rater.order)
            ],
        )
    assert (
        run.invoke(
            simcounsel, ["study", "rate-page", "--out", "study", "--csv", "ratings.csv"]
        ).exit_code
        == 0
    )
    told = run.invoke(app, ["corpus", "samples", "--ratings", "ratings.csv", "-o", "quality"])
    assert told.exit_code == 0, told.output
    people_and_judge = pd.read_csv("quality/tables/judge_and_people.csv")
    assert set(people_and_judge[people_and_judge["level"] == "dialogues"]["n"]) == {12}, (
        "people rate what the judge rated"
    )
    head = json.loads(next(Path("samples.ratings").glob("*.jsonl")).read_text().splitlines()[0])
    assert head["instrument"] == "dialogue_quality" and head["judge"] == "scripted"


# last: while Playwright is open its event loop counts as running in this thread
@pytest.mark.slow
def test_it_fits_reads_and_asks_nobody(
    report: CorporaReport, tmp_path: Path, browser: "Browser"
) -> None:
    """As a reader meets it: on a desk, on a phone, dark; for screen readers too."""
    from axe_playwright_python.sync_playwright import Axe

    file = write(report, tmp_path, "simcounsel study corpus")
    for width, scheme in ((1280, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request, seen=asked: seen.append(request.url))  # type: ignore[misc]
        page.on("console", lambda message, seen=complaints: seen.append(message.text))  # type: ignore[misc]
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]
        assert not complaints
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        context.close()
