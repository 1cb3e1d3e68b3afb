"""What was measured, and the way from a score to the lines that explain it and back."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from simcounsel.gallery import folder_of
from simcounsel.instruments.scale import find_scale, shipped_names
from simcounsel.instruments.scoring import bounds, score
from simcounsel.runs.calls import Call
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.specs.world import World
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.outcomes import _reasons, first_and_last, outcomes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.each import each
from tests.stage import live, seal, tiny
from tests.viewer.conftest import serving, sound_page

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser, Page


PLAN = [
    {"instrument": "insomnia_severity", "when": "start"},
    {"instrument": "session_alliance_observed", "when": "after every conversation"},
    {"instrument": "insomnia_severity", "when": "end"},
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Run:
    world = World.model_validate(tiny().model_dump() | {"measurements": PLAN})
    return live(tmp_path_factory.mktemp("measured"), world, 12)


def of(run: Run) -> dict[str, Any]:
    log = Log(run.folder)
    log.refresh()
    return outcomes(History(log))


def retest(run: Run, name: str = "insomnia_severity-20260302-120000-000001.jsonl") -> Path:
    """The last self-report once more, 5 in all, as `rate` would have kept it."""
    last = next(
        line
        for line in reversed((run.folder / "events.jsonl").read_text("utf-8").splitlines())
        if '"kind":"measured"' in line and "insomnia_severity" in line
    )
    fields = json.loads(last)
    fields["scores"][0] |= {"value": 5.0, "band": None}
    head = {"kind": "measurement", "run": run.name, "instrument": "insomnia_severity"}
    file = run.folder / "measurements" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{json.dumps(head | {'judge': 'by hand'})}\n{json.dumps(fields)}\n", "utf-8")
    return file


def test_points_in_order_with_what_their_scale_says(measured: Run) -> None:
    found = of(measured)
    ticks = [point["tick"] for point in found["points"]]
    assert ticks == sorted(ticks)
    kinds = {(p["instrument"], p["respondent"], p["source"]) for p in found["points"]}
    assert kinds == {
        ("insomnia_severity", "self", "log"),
        ("session_alliance_observed", "observer", "log"),
    }
    about = found["scales"]["insomnia_severity"]
    assert about["items"]["falling"]["text"] == "How hard it is to get to sleep."
    assert about["scores"]["total"]["bounds"] == (0, 28)
    assert about["scores"]["total"]["direction"] == "lower_is_better"
    assert [band["at_least"] for band in about["scores"]["total"]["bands"]] == [0, 8, 15, 22]


def test_a_retest_is_one_and_counts_in_no_change(measured: Run, tmp_path: Path) -> None:
    run = Run.open(Path(shutil.copytree(measured.folder, tmp_path / measured.name)))
    before = first_and_last(of(run)["points"])
    retest(run)
    found = of(run)
    (again,) = [point for point in found["points"] if point["round"] == 2]
    assert (again["judge"], again["source"][:8]) == ("by hand", "insomnia")
    assert first_and_last(found["points"]) == before


def test_first_last_and_change_by_hand() -> None:
    def at(tick: int, value: float | None, number: int = 1) -> dict[str, Any]:
        scores = [{"name": "total", "value": value, "band": f"b{value}"}]
        common = {"who": "Ada", "instrument": "mood", "respondent": "self", "trial": False}
        return common | {"tick": tick, "round": number, "scores": scores}

    (ada,) = first_and_last([at(0, 9.0), at(4, None), at(8, 4.0), at(8, 1.0, 2)])
    assert (ada["first"], ada["last"], ada["change"], ada["band"], ada["count"]) == (
        9.0,
        4.0,
        -5.0,
        "b4.0",
        2,
    )
    (one,) = first_and_last([at(0, 9.0)])
    assert one["change"] is None


@each("name", shipped_names())
def test_no_answers_give_a_score_out_of_its_bounds(name: str) -> None:
    scale, draw = find_scale(name), Random(1)
    extremes = (
        lambda one: one.min,
        lambda one: one.max,
        lambda one: draw.choice([one.min, one.max]),
    )
    for choose in extremes:
        answers = {item.id: choose(scale.range_of(item)) for item in scale.items if not item.coded}
        for one in score(scale, answers):
            allowed = bounds(scale, one.name)
            if one.value is not None and allowed is not None:
                assert allowed[0] - 1e-6 <= one.value <= allowed[1] + 1e-6, one


def test_a_judges_reasons_stand_beside_its_answers() -> None:
    found = of(Run.open(folder_of("first-days")))
    rated = [one for one in found["points"] if one["instrument"] == "session_alliance_observed"]
    assert all(item["reason"] for one in rated for item in one["items"])
    assert "Keep watch. Yes, that's what it is" in rated[0]["items"][3]["reason"]


def test_the_reason_for_an_item_asked_alone_is_found_by_its_text() -> None:
    def call(item: str, reply: str) -> Call:
        fields = {"key": item, "tick": 0, "who": "Ines", "purpose": "judge_item", "verb": "rate"}
        messages = [{"role": "user", "content": f"Rate this. {item}"}]
        found = Call.read(fields | {"model": "m", "messages": messages, "reply": reply})
        assert found is not None
        return found

    items = {"r1": "The client was heard.", "g1": "They spoke about it."}
    calls = [call(items["g1"], "because: they did\nscore: 7"), call(items["r1"], "4")]
    assert _reasons(calls, items) == {"g1": "they did"}


def test_what_is_measured_later_shows_without_a_reload(measured: Run, tmp_path: Path) -> None:
    run = Run.open(Path(shutil.copytree(measured.folder, tmp_path / measured.name)))
    client = TestClient(make_app(RunList(tmp_path)), base_url="http://127.0.0.1")
    size = client.get(f"/api/runs/{run.name}/size").json()["size"]
    assert client.get(f"/api/runs/{run.name}/overview").json()["size"] == size
    retest(run)
    assert client.get(f"/api/runs/{run.name}/size").json()["size"] > size


# in the browser


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    with sound_page(browser) as opened:
        yield opened


@pytest.fixture
def url(measured: Run) -> Iterator[str]:
    with serving(make_app(RunList(measured.folder))) as address:
        yield address


def test_from_a_score_to_its_lines_in_three_clicks_and_back(
    page: "Page", url: str, measured: Run
) -> None:
    from playwright.sync_api import expect

    page.goto(f"{url}/run/{measured.name}")
    page.get_by_role("tab", name="Outcomes").click()
    point = page.get_by_role("button", name="total").last
    expect(page.get_by_label("Who answered")).to_contain_text("rated by an observer")
    point.click()
    rests = page.get_by_label("What it rests on")
    expect(rests.get_by_role("row").nth(1)).to_be_visible()
    rests.get_by_role("button", name="lines").first.click()
    expect(page.locator("ol.lines li").first).to_be_visible()
    followed = page.locator(".followed")
    expect(followed).to_contain_text("Session alliance, as observed")
    followed.get_by_role("button").first.click()
    expect(page.get_by_label("What it rests on")).to_be_visible()
    assert "point=" in page.url
    page.reload()
    expect(page.get_by_label("What it rests on")).to_be_visible()


def test_a_rating_comes_while_the_page_is_open(page: "Page", measured: Run, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    run = Run.open(Path(shutil.copytree(measured.folder, tmp_path / measured.name)))
    with serving(make_app(RunList(tmp_path))) as address:
        page.goto(f"{address}/run/{run.name}#panel=outcomes")
        expect(page.get_by_label("Who answered")).not_to_contain_text("retest")
        retest(run)
        expect(page.get_by_label("Who answered")).to_contain_text("retest", timeout=15_000)
        page.goto("about:blank")


def test_hostile_answers_stay_text(page: "Page", measured: Run, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    nasty = "</script><img src=x onerror='window.hurt=1'>\u202edlrow"
    folder = Path(shutil.copytree(measured.folder, tmp_path / measured.name))
    lines = []
    for line in (folder / "events.jsonl").read_text("utf-8").splitlines():
        fields = json.loads(line)
        if fields.get("kind") == "measured":
            for item in fields["items"]:
                item |= {"reason": nasty, "quote": nasty}
            fields["point"] = nasty
        lines.append(json.dumps(fields, ensure_ascii=False))
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    seal(folder)
    file = tmp_path / "out.html"
    write_bundle(Log(folder), file)
    with serving(make_app(RunList(folder))) as address:
        for where in (f"{address}/run/{folder.name}", f"file://{file}"):
            page.goto(f"{where}#panel=outcomes")
            page.get_by_role("button", name="total").last.click()
            expect(page.get_by_label("What it rests on")).to_contain_text("<img src=x")
            assert page.evaluate("() => window.hurt") is None
            assert page.locator("main img").count() == 0
            assert "\u202e" not in page.locator("main").inner_text()
        page.goto("about:blank")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_accessible(chromium: "Browser", url: str, measured: Run, width: int, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    context = chromium.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{url}/run/{measured.name}#panel=outcomes")
    page.get_by_role("button", name="total").last.click()
    expect(page.get_by_label("What it rests on")).to_be_visible()
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
    context.close()
