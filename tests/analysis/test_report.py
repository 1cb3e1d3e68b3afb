"""From runs to a report: files are there, numbers are those computed directly, texts from models are only text."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from analysis import tables
from analysis.agreement import spearman
from analysis.methods import methods
from analysis.page import command_line, interval, marked, num, p_text, percent
from analysis.report import Report, ReportOptions, make
from analysis.statistics import holm, paired_t, repeated_anova, sign_flip_p
from analysis.writing import results, write
from simcounsel.events import Decided
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world
from tests.analysis.conftest import planted
from tests.analysis.drawn import assert_dark_as_drawn
from tests.analysis.made import CLIENTS, CONDITIONS, rewrite
from tests.commands import Command
from tests.danger.test_in_a_world import DANGER, lived, safety, says
from tests.stage import ROOT, happened, seal, tiny
from tests.viewer.conftest import browser, chromium

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser

__all__ = ["browser", "chromium"]

QUICK = ReportOptions(shuffles=499)


class Cells(HTMLParser):
    """Every table cell with a number: its text and the number at full length; and all tags."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[float] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if found.get("id"):
            self.ids.add(str(found["id"]))
        if found.get("data-value"):
            self.values.append(float(str(found["data-value"])))


def parsed(page: Path) -> Cells:
    cells = Cells()
    cells.feed(page.read_text(encoding="utf-8"))
    return cells


@pytest.fixture(scope="module")
def written(planted_study: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """The report on the planted study, and its page on disk."""
    report = make([planted_study], QUICK)
    return report, write(report, tmp_path_factory.mktemp("report"), "simcounsel report planted")


@pytest.mark.slow
def test_files_exist(written: tuple[Report, Path]) -> None:
    report, page = written
    out = page.parent
    assert (out / "report.md").is_file()
    assert {file.stem for file in (out / "tables").iterdir()} == set(report.tables)
    assert (
        {file.stem for file in (out / "figures").iterdir()}
        == set(report.pictures)
        == {
            "planned",
            "changes",
            "activities",
            "clusters",
            "transitions",
            "talk",
            "time_insomnia_severity_self",
        }
    )
    assert not list(out.rglob("*.part"))


@pytest.mark.slow
def test_numbers_in_the_page_are_those_computed_directly(written: tuple[Report, Path]) -> None:
    """From the planted changes by hand, not from the report's own tables."""
    report, page = written
    changes = {arm: [planted(arm, client) for client in CLIENTS] for arm in CONDITIONS}
    crossed = pd.DataFrame(changes)
    paired = paired_t(changes["client_counselor"], changes["client_only"])
    friend = paired_t(changes["client_layperson"], changes["client_only"])
    primary, other = (
        sign_flip_p(changes[arm], changes["client_only"])
        for arm in ("client_counselor", "client_layperson")
    )
    omnibus = repeated_anova(crossed, permutation=True)
    corrected = [primary, *holm([other, omnibus.p, None])]
    fisher = repeated_anova(crossed)
    wanted = [
        paired.difference,
        friend.difference,
        *[p for p in corrected if p is not None],
        *[np.mean(values) for values in changes.values()],
        fisher.f,
        fisher.eta_squared,
        paired_t(changes["client_layperson"], changes["client_counselor"]).g,
    ]
    shown = parsed(page).values
    for number in wanted:
        assert any(value == pytest.approx(number, rel=1e-6, abs=1e-9) for value in shown), number
    text = page.read_text(encoding="utf-8")
    assert num(paired.difference) in text and interval(paired.low, paired.high) in text
    markdown = (page.parent / "report.md").read_text(encoding="utf-8")
    assert (
        num(paired.difference) in markdown
        and interval(paired.low, paired.high) in markdown
        and p_text(corrected[0]) in markdown
    )
    drawn, answer = results(report)[:2]
    assert drawn.startswith("Scores that the embedded or the scripted model gave")
    for values in changes.values():
        low, high = ttest_1samp(values, 0).confidence_interval()
        assert f"{num(np.mean(values))} {interval(low, high)} in client " in answer
    whole = next(one for one in report.explored if one.instrument != "log")
    part = replace(whole, score="nights")
    assert results(replace(report, explored=[part, whole]))[1] == answer, "the whole scale first"


@pytest.mark.slow
def test_dark_pictures_are_as_drawn(written: tuple[Report, Path]) -> None:
    assert_dark_as_drawn(written[0].pictures)


@pytest.mark.slow
def test_planned_and_exploratory_stand_apart(written: tuple[Report, Path]) -> None:
    report, page = written
    text = page.read_text(encoding="utf-8")
    planned, exploratory = text.split('id="planned"')[1].split('id="exploratory"')[:2]
    assert "never measured" in planned and "no run was measured with gad7" in planned
    assert "as expected" in planned
    assert "Nobody announced these" in exploratory and "Nobody announced these" not in planned
    assert report.planned[0].verdict == "as expected"
    assert (page.parent / "tables" / "planned.csv").read_text(encoding="utf-8").count("\n") == 5


@pytest.mark.slow
def test_each_number_names_its_runs(written: tuple[Report, Path]) -> None:
    _, page = written
    cells = parsed(page)
    targets = {
        str(attrs["href"])[1:]
        for tag, attrs in cells.tags
        if tag == "a" and str(attrs.get("href")).startswith("#")
    }
    assert targets <= cells.ids
    assert {"set-1", "set-2"} <= targets
    text = page.read_text(encoding="utf-8")
    sets = re.search(r'<ol class="sets">(.*?)</ol>', text, re.DOTALL)
    assert sets is not None
    for arm in CONDITIONS:
        assert ", ".join(f"{arm}-{client.lower()}" for client in CLIENTS) in sets.group(1)
    table = pd.read_csv(page.parent / "tables" / "exploratory.csv")
    assert table[table["n"] > 0]["runs"].notna().all()


@pytest.mark.slow
def test_it_says_that_scripted_runs_say_nothing(written: tuple[Report, Path]) -> None:
    _, page = written
    for file in (page, page.parent / "report.md"):
        assert "says nothing about counseling" in file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_stands_alone_without_scripts(written: tuple[Report, Path]) -> None:
    _, page = written
    cells = parsed(page)
    assert not [
        tag for tag, _ in cells.tags if tag in ("script", "iframe", "object", "link", "form")
    ]
    assert not [attrs for _, attrs in cells.tags if any(name.startswith("on") for name in attrs)]
    for _, attrs in cells.tags:
        for name in ("src", "srcset"):
            assert name not in attrs or str(attrs[name]).startswith("data:image/svg+xml;base64,")
        if attrs.get("href"):
            assert str(attrs["href"]).startswith(("#", "tables/"))
    images = [attrs for tag, attrs in cells.tags if tag == "img"]
    assert len(images) == 7 and all(attrs["alt"] for attrs in images)
    text = page.read_text(encoding="utf-8")
    for part in (
        "Limits",
        "Left out" if "Left out, and why" in text else "No run was left out",
        "simcounsel report planted",
        "statsmodels",
        "Persona at the start",
    ):
        assert part in text


@pytest.mark.slow
def test_the_same_runs_give_the_same_figures(
    planted_study: Path, written: tuple[Report, Path]
) -> None:
    again = make([planted_study], QUICK)
    assert {id: picture.svg for id, picture in again.pictures.items()} == {
        id: picture.svg for id, picture in written[0].pictures.items()
    }


EVIL = "</p><script>alert(1)</script><img src=x onerror=alert(2)> =cmd() **bold** | [x](javascript:1) \x00\x1b\u202e\u2066 {{ 7*7 }} 🙂"


@pytest.fixture
def own_runs(three_runs: Path, tmp_path: Path) -> list[Run]:
    """Three runs that a test may change, in tmp_path."""
    shutil.copytree(three_runs, tmp_path, dirs_exist_ok=True)
    return [Run.open(tmp_path / arm) for arm in CONDITIONS]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_texts_from_models_are_only_text(own_runs: list[Run], tmp_path: Path) -> None:

    def poison(event: dict[str, object]) -> None:
        for key in ("text", "activity", "characteristic", "recent_feeling", "cause"):
            if key in event and event["kind"] in ("said", "acted", "persona_changed", "warned"):
                event[key] = f"{EVIL} {event['seq']}"

    for run in own_runs:
        rewrite(run, poison)
    page = write(make([tmp_path], QUICK), tmp_path / "out", "x")
    cells = parsed(page)
    assert not [tag for tag, attrs in cells.tags if tag == "script" or "onerror" in attrs]
    html, markdown = (
        page.read_text(encoding="utf-8"),
        (page.parent / "report.md").read_text(encoding="utf-8"),
    )
    assert "&lt;script&gt;" in html and "<script" not in html
    for obeyed in "\x00\x1b\u202e\u2066":
        assert obeyed not in html + markdown
    assert "\\u202e\\u2066" in html
    assert "<script" not in markdown.replace("\\<script", "") and "{{ 7*7 }}" in html
    talk = (page.parent / "tables" / "activities.csv").read_text(encoding="utf-8")
    assert "\n=" not in talk


@pytest.mark.slow
def test_a_half_character_does_not_stop_it(own_runs: list[Run], tmp_path: Path) -> None:
    file = own_runs[2].folder / "events.jsonl"
    file.write_text(
        re.sub(
            r'"text":"I was',
            r'"text":"\\\\ud800 I was',
            file.read_text(encoding="utf-8").replace("\\ud800", ""),
        ),
        encoding="utf-8",
    )
    raw = file.read_bytes().replace(b"\\\\ud800", b"\\ud800")
    file.write_bytes(raw)
    seal(file.parent)
    page = write(make([tmp_path], QUICK), tmp_path / "out", "x")
    assert page.read_bytes().decode("utf-8")


@pytest.mark.usefixtures("undrawn")
def test_one_run_without_measurements(three_runs: Path, tmp_path: Path) -> None:
    report = make([three_runs / "client_counselor"], QUICK)
    page = write(report, tmp_path / "out", "x")
    text = page.read_text(encoding="utf-8")
    assert "Report on 1 run" in text and "1 group; two are needed" in text
    assert "No instrument was applied" in text
    assert all(one.permuted.p is None for one in report.explored)


@pytest.mark.usefixtures("undrawn")
def test_only_damaged_runs(three_runs: Path, tmp_path: Path) -> None:
    shutil.copytree(three_runs / "client_only", tmp_path / "runs" / "broken")
    (tmp_path / "runs" / "broken" / "manifest.json").write_text("{", encoding="utf-8")
    page = write(make([tmp_path / "runs"], QUICK), tmp_path / "out", "x")
    text = page.read_text(encoding="utf-8")
    assert "No run could be used" in text and "broken" in text


@pytest.mark.slow
def test_a_word_file_and_a_notebook_say_the_same(
    planted_study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a psychologist goes on writing in: the answer, the planned tests, methods and checklist."""
    import docx
    import nbformat

    report = make([planted_study], QUICK)
    page = write(report, tmp_path / "out", "x", word=True, notebook=True)
    made = docx.Document(str(page.with_suffix(".docx")))
    texts = [one.text for one in made.paragraphs]
    html = page.read_text(encoding="utf-8")
    assert any(one.startswith("Compared: ") for one in texts)
    (first,) = report.planned[:1]
    assert any(first.verdict in one for one in texts)
    assert methods(report) in texts
    rows = [[cell.text for cell in row.cells] for row in made.tables[0].rows]
    assert len(rows) == 1 + len(report.planned) and rows[0][0] == "hypothesis"
    assert rows[1][1].split(" [")[0] in html
    book = nbformat.read(page.with_suffix(".ipynb"), 4)
    nbformat.validate(book)
    monkeypatch.chdir(page.parent)
    names: dict[str, Any] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
    assert len(names["outcomes"]) == len(report.tables["outcomes"])


def test_runs_without_clusters_or_talk(tmp_path: Path) -> None:
    """Two ticks each: too little for clusters, nobody has met."""
    from simcounsel.engine.opening import begin_run
    from tests.stage import go_on, tiny

    for arm in ("client_only", "client_counselor"):
        go_on(begin_run(tiny(condition=arm), tmp_path / "runs", name=arm), 1)
    text = write(make([tmp_path / "runs"], QUICK), tmp_path / "out", "x").read_text(
        encoding="utf-8"
    )
    assert (
        "Activities are not grouped" in text
        and "Nobody talked" in text
        and "did not reach their world" in text
    )


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_every_cut_and_option(three_runs: Path, tmp_path: Path) -> None:
    for cut in ("halves", "session", "fork"):
        report = make([three_runs], ReportOptions(shuffles=99, cut=cut, clusters=3, stories=1))  # type: ignore[arg-type]
        write(report, tmp_path / cut, "x")
        assert report.stories_left_out == 2
        assert report.patterns.k == (3 if cut != "fork" else None)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_ratings_bring_agreement(planted_study: Path, tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    lines = ["rater,item,question,value,run,person"]
    for rater, shift in (("r1", 0), ("r2", 1), ("r3", 0)):
        for number, run in enumerate(sorted(p.name for p in planted_study.iterdir() if p.is_dir())):
            lines.append(
                f"{rater},i{number:02d},insomnia_severity,{(number + shift) % 5 + 1},{run},"
                f"{run.rpartition('-')[2].title()}"
            )
    file.write_text("\n".join(lines), encoding="utf-8")
    report = make([planted_study], ReportOptions(shuffles=99, ratings=(file,)))
    page = write(report, tmp_path / "out", "x")
    table = report.tables["model_and_people"]
    assert len(table) == 1 and table["items"].iloc[0] == 18
    values = tables.measurements(sorted(p for p in planted_study.iterdir() if p.is_dir()))
    model = values.assign(at=values["run"].astype(str)).groupby("at")["value"].mean()
    people = pd.read_csv(file).groupby("run")["value"].mean()
    assert table["value"].iloc[0] == pytest.approx(spearman(model, people).value)
    text = page.read_text(encoding="utf-8")
    assert "Krippendorff" in text and "Ratings by people, by condition" in text
    means = pd.read_csv(tmp_path / "out" / "tables" / "people_means.csv")
    by_arm = pd.read_csv(file).assign(
        arm=lambda t: t["run"].map({one.name: one.arm for one in report.sample.members})
    )
    assert set(means["arm"]) == set(by_arm["arm"])
    whole = means[means["of"] == "all clients"].set_index("arm")
    assert whole["ratings"].to_dict() == by_arm["arm"].value_counts().to_dict()
    for name in ("people_anova", "people_pairs", "people_agreement"):
        assert (tmp_path / "out" / "tables" / f"{name}.csv").is_file()
    assert "## Ratings by people" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_numbers_as_text() -> None:
    assert [num(x) for x in (None, 0.0, 1e-17, -1.2345, 123456.0, 0.000123)] == [
        "–",
        "0",
        "0",
        "−1.23",
        "123456",
        "0.000123",
    ]
    assert [p_text(x) for x in (None, 0.0002, 0.0341, 1.0)] == ["–", "< .001", ".034", "1.000"]
    assert percent(-0.031) == "−3.1%" and interval(1.0, None) == "–"
    assert marked("a|b *c* <d> & `e`\nf") == r"a\|b \*c\* \<d\> &amp; \`e\` f"


# the command


@pytest.mark.slow
def test_a_page_names_the_command_that_made_it(three_runs: Path, tmp_path: Path) -> None:
    """As a process, in an environment that holds nothing else."""
    shutil.copytree(three_runs, tmp_path / "runs")
    done = subprocess.run(
        [sys.executable, "-m", "simcounsel", "report", "runs", "--shuffles", "99"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "simcounsel report runs --shuffles 99" in text


def test_a_command_of_the_program_is_named_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ["/opt/bin/simcounsel", "study", "validity", "talk", "my runs", "--real", "annomi.csv"]
    monkeypatch.setattr(sys, "argv", typed)
    assert command_line() == "simcounsel study validity talk 'my runs' --real annomi.csv"


def test_help_teaches_and_errors_are_one_line(analysis: Command) -> None:
    bare = analysis()
    assert "Begin with" in bare.out + bare.err
    helped = analysis("report", "--help")
    assert helped.code == 0 and all(
        option in helped.out
        for option in ("--out", "--cut", "--ratings", "--name-with", "--finished-only")
    )
    for words in (("report", "nowhere"), ("report", ".")):
        failed = analysis(*words)
        assert (
            failed.code == 1
            and failed.err.startswith("analysis: ")
            and "Traceback" not in failed.err
        )
    assert analysis("report", ".", "--cut", "weeks").code == 2


def test_tables_alone(three_runs: Path, tmp_path: Path, analysis: Command) -> None:
    done = analysis("tables", three_runs, "--out", "t")
    assert done.code == 0, done.err
    said = sum(
        1
        for entry in Run.open(three_runs / "client_counselor").entries()
        if entry.event.kind == "said"
    )
    assert len(pd.read_csv(tmp_path / "t" / "talk.csv")) == said


@pytest.mark.usefixtures("undrawn")
def test_damaged_runs_are_counted_only_when_told_and_said_first(
    own_runs: list[Run], tmp_path: Path, analysis: Command
) -> None:
    file = own_runs[0].folder / "events.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:50] + lines[51:]))
    what = f"{file}:51: event 50 is missing before this line"
    refused = analysis("report", file.parents[1], "--out", tmp_path / "out")
    assert (refused.code, what in refused.err) == (1, True)
    assert not (tmp_path / "out").exists()
    written = write(make([file.parents[1]], replace(QUICK, damaged=True)), tmp_path / "out", "x")
    for page in (written, written.parent / "report.md"):
        assert "event 50 is missing before this line" in page.read_text(encoding="utf-8")
    assert "Runs are damaged; what could be read of them is counted." in written.read_text(
        encoding="utf-8"
    )


@pytest.mark.usefixtures("undrawn")
def test_what_ended_on_open_danger_is_said_first(tmp_path: Path) -> None:
    world = safety(tiny(), counselors="assess", locale="en-GB")
    lived(tmp_path / "runs", world, says(DANGER))
    page = write(make([tmp_path / "runs"], QUICK), tmp_path / "out", "x")
    for file in (page, page.parent / "report.md"):
        text = file.read_text(encoding="utf-8")
        said = text.index("Danger was left open in these runs, 1 time")
        assert "suicide (imminent); nobody has come back to it" in text[said:]
        assert said < text.index("A simulation is no evidence about people")


@pytest.mark.usefixtures("undrawn")
def test_what_the_safety_protocol_decided_is_said_first(tmp_path: Path) -> None:
    """By arm, so that nobody takes its lines for those of the counselor that was studied."""
    run = lived(tmp_path / "runs", safety(tiny(), locale="en-GB"), says(DANGER))
    protocol = [one.policy == "safety" for one in happened(run, Decided) if one.who == "Miriam"]
    assert 0 < sum(protocol) < len(protocol)
    page = write(make([tmp_path / "runs"], QUICK), tmp_path / "out", "x")
    told = f"{sum(protocol)} of {len(protocol)}"
    for file in (page, page.parent / "report.md"):
        text = file.read_text(encoding="utf-8")
        said = text.index(
            f"The safety protocol decided {told} lines of counselors (everyone {told})"
        )
        assert said < text.index("A simulation is no evidence about people")


@pytest.mark.usefixtures("undrawn")
def test_drawn_clients_are_said_to_be_drawn(three_runs: Path, tmp_path: Path) -> None:
    from simcounsel.engine.opening import begin_run
    from simcounsel.specs.drawing import draw_personas
    from tests.stage import TINY, go_on

    (file,) = draw_personas([ROOT / "personas" / "samuel.yaml"], 1, 1, tmp_path / "personas")
    world = load_world(TINY, cast={"Ines": file}, models=tiny().models.model_dump())
    go_on(begin_run(world, tmp_path / "runs"), ticks=2)
    report = make([tmp_path / "runs"], ReportOptions(shuffles=9, stories=1))
    assert list(report.sample.drawn.values()) == ["Samuel Adeyemi"]
    page = write(report, tmp_path / "out", "x")
    for made in (page, page.parent / "report.md"):
        assert "1 client was drawn by seed from 1" in made.read_text(encoding="utf-8")
    assert not make([three_runs / "client_only"], QUICK).sample.drawn


# last: while Playwright is open its event loop counts as running in this thread
@pytest.mark.slow
def test_it_fits_reads_and_asks_nobody(written: tuple[Report, Path], browser: "Browser") -> None:
    """As a reader meets it: on a desk, on a phone, dark, in print; for screen readers too."""
    from axe_playwright_python.sync_playwright import Axe

    for width, scheme in ((1440, "light"), (390, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        asked: list[str] = []
        complaints: list[str] = []
        page.on("request", lambda request, seen=asked: seen.append(request.url))  # type: ignore[misc]
        page.on("console", lambda message, seen=complaints: seen.append(message.text))  # type: ignore[misc]
        page.goto(written[1].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        assert not [url for url in asked if not url.startswith(("file:", "data:"))]
        assert not complaints
        height = page.evaluate("document.documentElement.scrollHeight")
        assert height < (4200 if width == 1440 else 7500), "a page, and the rest folded"
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        if width == 1440:
            page.emulate_media(media="print")
            shown = "document.querySelector('#limits').closest('details').querySelector('li').checkVisibility({contentVisibilityAuto: true})"
            assert page.evaluate(shown), "what is folded is printed"
        context.close()
