"""The list of runs as a table, and several runs together."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats
from starlette.testclient import TestClient

from simcounsel.engine.forking import fork
from simcounsel.runs.run import Run
from simcounsel.specs.world import World
from simcounsel.viewer.routes import arm_means, interval, make_app, t_quantile
from simcounsel.viewer.row import arm
from simcounsel.viewer.run_list import RunList
from tests.each import each
from tests.stage import go_on, live, seal, tiny
from tests.viewer.conftest import serving, sound_page

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser, Page


PLAN = [{"instrument": "insomnia_severity", "when": when} for when in ("start", "end")]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a sweep: two arms, two runs each, measured at the start and the end."""
    folder = tmp_path_factory.mktemp("shelf") / "sweep"
    folder.mkdir()
    told = []
    for seed in (1, 2):
        world = World.model_validate(tiny().model_dump() | {"measurements": PLAN, "seed": seed})
        first = live(folder, world, 12)
        other = go_on(fork(Run.open(first.folder), 4, {"condition": "client_only"}, folder))
        for run, name in ((first, "counselor"), (other, "alone")):
            moved = folder / f"{name}-{seed}"
            shutil.move(run.folder, moved)
            told.append({"run": moved.name, "arm": name})
    (folder / "experiment.json").write_text(json.dumps({"runs": told}), encoding="utf-8")
    return folder


@pytest.fixture
def url(sweep: Path) -> Iterator[str]:
    with serving(make_app(RunList(sweep.parent))) as address:
        yield address


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    with sound_page(browser) as opened:
        yield opened


@each("freedom", [1, 2, 3, 7, 29, 200])
def test_the_quantile_is_that_of_scipy(freedom: int) -> None:
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


def test_an_interval_is_that_of_scipy_and_wants_three_runs() -> None:
    values = [4.0, 9.0, 11.0, 2.5]
    assert interval(values) == pytest.approx(
        stats.t.interval(0.95, 3, stats.tmean(values), stats.sem(values))
    )
    assert interval(values[:2]) is None


def test_a_run_counts_once_however_many_clients_it_has() -> None:
    def at(run: str, value: float) -> dict[str, Any]:
        return {"arm": "a", "point": "end", "run": run, "minute": 60, "value": value}

    (mean,) = arm_means([at("r1", 0), at("r1", 2), at("r2", 7), at("r3", 10)])
    assert (mean["mean"], mean["n"]) == (6.0, 3)
    assert mean["interval"] == pytest.approx(interval([1.0, 7.0, 10.0]))


def test_a_row_says_what_was_measured_and_is_read_again_when_more_was(
    sweep: Path, tmp_path: Path
) -> None:
    shutil.copytree(sweep, tmp_path / "sweep")
    client = TestClient(make_app(RunList(tmp_path)), base_url="http://127.0.0.1")
    listed = {run["name"]: run for run in client.get("/api/runs").json()}
    assert {run["arm"] for run in listed.values()} == {"counselor", "alone"}
    assert listed["sweep:alone-2"]["clients"] == ["Ines"]
    found = client.get("/api/runs/sweep:alone-1/row").json()
    (scale,) = found["scales"]
    assert scale["change"] == scale["last"] - scale["first"]
    assert (scale["who"], scale["instrument"], scale["count"]) == ("Ines", "insomnia_severity", 2)
    assert (found["fallbacks"], found["cost"]) == (0, 0)
    folder = tmp_path / "sweep" / "alone-1" / "measurements"
    folder.mkdir()
    head = {"kind": "measurement", "run": "alone-1", "judge": "by hand"}
    later = {"seq": 0, "tick": 11, "minute": 765, "kind": "measured", "who": "Ines"}
    later |= {"instrument": "phq9", "version": "1", "point": "end", "respondent": "self"}
    score = {"name": "total", "value": 3.0, "used": 9, "of": 9}
    later |= {"items": [], "scores": [score], "calls": [], "fallback": False}
    (folder / "phq9-20260302-120000-000001.jsonl").write_text(
        "\n".join(json.dumps(line) for line in (head, later)), encoding="utf-8"
    )
    scales = client.get("/api/runs/sweep:alone-1/row").json()["scales"]
    assert {one["instrument"] for one in scales} == {"insomnia_severity", "phq9"}


def test_the_scores_of_two_runs_beside_each_other(sweep: Path) -> None:
    client = TestClient(make_app(RunList(sweep)), base_url="http://127.0.0.1")
    found = client.get("/api/compare?a=counselor-1&b=alone-1").json()
    rows = [client.get(f"/api/runs/{name}-1/row").json() for name in ("counselor", "alone")]
    (score,) = found["scores"]
    assert [score["a"], score["b"]] == [one["scales"][0]["last"] for one in rows]
    assert (score["who"], score["instrument"]) == ("Ines", "insomnia_severity")


def test_a_run_of_no_sweep_has_no_arm(tmp_path: Path) -> None:
    assert arm(tmp_path / "run") is None
    (tmp_path / "experiment.json").write_text('{"runs": [{"arm": 1}]}', encoding="utf-8")
    assert arm(tmp_path / "run") is None


def test_sort_filter_group_choose_and_open_together(page: "Page", url: str) -> None:
    from playwright.sync_api import expect

    page.goto(url)
    rows = page.locator("table.runs tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("→")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(rows.first).to_contain_text("alone-1")
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    page.get_by_role("button", name="Run").click()
    expect(rows.first).to_contain_text("counselor-2")
    page.get_by_label("Search").fill("alone")
    expect(rows).to_have_count(2)
    page.get_by_label("Search").fill("")
    page.get_by_label("Group by").select_option("arm")
    expect(page.locator("tr.group").first).to_contain_text("alone (2)")
    expect(page.locator("tr.group").first).to_contain_text("mean change")
    page.reload()
    expect(page.locator("tr.group")).to_have_count(2)
    page.get_by_label("Arm", exact=True).select_option("counselor")
    expect(page.locator("tr.group")).to_have_count(1)
    page.get_by_label("Arm", exact=True).select_option("")
    page.get_by_role("button", name="Tick all").click()
    page.get_by_role("button", name="Open together").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("4 runs in 2 arms")
    # a press on one: points of the same value lie over each other where scores are at their floor
    page.get_by_role("button", name=re.compile("end: ")).first.press("Enter")
    expect(page.get_by_label("What it rests on")).to_contain_text("Insomnia severity, end")


NASTY = "</script><img src=x onerror='window.hurt=1'>\u202edlrow \u98ce 失眠"


def test_hostile_names_stay_text(browser: "Browser", sweep: Path, tmp_path: Path) -> None:
    """Of worlds, clients, arms, instruments and points of the plan, in the list and together."""
    from playwright.sync_api import expect

    folder = Path(shutil.copytree(sweep, tmp_path / "sweep"))
    plan = json.loads((folder / "experiment.json").read_text("utf-8"))
    for one in plan["runs"]:
        one["arm"] += NASTY
        run = folder / one["run"]
        manifest = json.loads((run / "manifest.json").read_text("utf-8"))
        manifest["world"]["name"] = manifest["models"]["reason"] = NASTY
        (run / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        log = (run / "events.jsonl").read_text("utf-8")
        log = log.replace('"insomnia_severity"', json.dumps(NASTY)).replace(
            '"baseline"', json.dumps(NASTY)
        )
        (run / "events.jsonl").write_text(log, "utf-8")
        seal(run)
    (folder / "experiment.json").write_text(json.dumps(plan), "utf-8")
    names = [one["run"] for one in plan["runs"]]
    together = "&".join(f"run={name}" for name in names)
    with serving(make_app(RunList(folder))) as address, sound_page(browser, 390) as page:
        for where in ("/", f"/several?{together}", f"/compare?a={names[0]}&b={names[1]}"):
            page.goto(address + where)
            expect(page.locator("main")).to_contain_text("<img src=x")
            page.wait_for_timeout(300)
            assert page.evaluate("() => window.hurt") is None
            assert page.locator("main img, main script").count() == 0
            assert "\u202e" not in page.locator("main").inner_text()
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), (
                where
            )
        page.goto("about:blank")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_accessible(chromium: "Browser", url: str, sweep: Path, width: int, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    runs = "&".join(f"run=sweep:{run.name}" for run in sweep.iterdir() if run.is_dir())
    for address in (f"{url}/#group=arm", f"{url}/several?{runs}"):
        page.goto(address)
        page.locator("tbody tr").nth(1).wait_for()
        found = Axe().run(page)
        assert found.violations_count == 0, f"{address}\n{found.generate_report()}"
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
    context.close()
