"""Words in all that was said, thought, remembered and planned."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from simcounsel.events import Remembered, Said
from simcounsel.measuring.meaning import MOST
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer import search
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import happened, seal
from tests.viewer.conftest import serving, sound_page

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser


LINE = "Über den Fluß gehe ich nachts, 我睡不着 <img src=x onerror='window.hurt=1'> \u202eback"


@pytest.fixture
def run(lived: Run, tmp_path: Path) -> Run:
    """A run in which the first line is one that is hard to find, and to show."""
    folder = Path(shutil.copytree(lived.folder, tmp_path / lived.name))
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if '"kind":"said"' in line)
    lines[at] = json.dumps(json.loads(lines[at]) | {"text": LINE}, ensure_ascii=False)
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    seal(folder)
    return Run.open(folder)


def test_case_accents_and_width_do_not_count() -> None:
    assert search.folded("ÜBER Straße ＡＢＣ é") == "uber strasse abc e"


@pytest.mark.parametrize("words", ["uber fluß", "NACHTS über", "睡不着", "ich  gehe"])
def test_a_line_is_found_by_all_its_words(run: Run, words: str) -> None:
    client = TestClient(make_app(RunList(run.folder)), base_url="http://127.0.0.1")
    found = client.get(f"/api/runs/{run.name}/search", params={"q": words}).json()
    assert [(hit["what"], hit["text"]) for hit in found["hits"]] == [("line", LINE)]
    assert found["hits"][0]["message"] == 1
    for nothing in ("", "   ", "uber wasser", "%"):
        asked = client.get(f"/api/runs/{run.name}/search", params={"q": nothing}).json()
        assert asked == {"hits": [], "all": 0}


def test_all_kinds_are_searched_and_the_rest_is_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST", 3)
    client = TestClient(make_app(RunList(run.folder)), base_url="http://127.0.0.1")
    found = client.get(f"/api/runs/{run.name}/search", params={"q": "e"}).json()
    assert len(found["hits"]) == 3 < found["all"]
    lines = [event for event in happened(run, Said) if "e" in event.text.casefold()]
    assert found["all"] > len(lines)


def test_by_meaning_it_leads_to_the_line_too(browser: "Browser", run: Run) -> None:
    from playwright.sync_api import expect

    with serving(make_app(RunList(run.folder))) as address, sound_page(browser) as page:
        page.goto(f"{address}/run/{run.name}#panel=search")
        page.get_by_label("How to search").select_option("by meaning")
        expect(page.locator("#panel")).to_contain_text("nearest to them in meaning")
        said = next(event.memory for event in happened(run, Remembered) if event.memory.message)
        page.get_by_label("All lines, thoughts, memories and plans").fill(said.text)
        hits = page.locator(".search-hits li")
        expect(hits).to_have_count(MOST, timeout=60_000)  # Chroma is loaded
        expect(page.locator("#panel")).to_contain_text("The 20 nearest of")
        expect(hits.first).to_contain_text("Ines, Miriam")
        expect(hits.first).to_contain_text("nearness 1.00")
        assert "by=meaning" in page.url
        hits.first.get_by_role("button").click()
        expect(page.locator(f"#line-{said.message}")).to_be_visible()
        page.goto("about:blank")


def test_what_keeps_a_search_from_being_made_is_said(browser: "Browser", run: Run) -> None:
    from playwright.sync_api import expect

    (run.folder / "memory").write_text("", encoding="utf-8")
    room = browser.new_context()
    page = room.new_page()  # whose console tells of the refusal too
    with serving(make_app(RunList(run.folder))) as address:
        page.goto(f"{address}/run/{run.name}#panel=search&by=meaning&q=sleep")
        expect(page.locator("#panel .warn")).to_contain_text("cannot be written", timeout=60_000)
        page.get_by_label("How to search").select_option("with these words")
        expect(page.locator(".search-hits li")).not_to_have_count(0)
        expect(page.locator("#panel .warn")).to_have_count(0)
        page.goto("about:blank")
    room.close()


def test_a_search_leads_to_the_line(browser: "Browser", run: Run, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    file = tmp_path / "out.html"
    write_bundle(Log(run.folder), file)
    with serving(make_app(RunList(run.folder))) as address, sound_page(browser) as page:
        for where in (f"{address}/run/{run.name}", f"file://{file}"):
            page.goto("about:blank")
            page.goto(where)
            page.wait_for_selector("main[data-drawn]")
            page.keyboard.press("/")
            page.get_by_label("All lines, thoughts, memories and plans").fill("uber fluß")
            hits = page.locator(".search-hits li")
            expect(hits).to_have_count(1)
            expect(hits.locator("mark")).to_have_text(["Über", "Fluß"])
            assert page.locator("main img").count() == 0
            assert "\u202e" not in page.locator("main").inner_text()
            hits.get_by_role("button").click()
            expect(page.locator("#line-1")).to_contain_text("Über den Fluß")
            assert page.evaluate("() => window.hurt") is None
        page.goto("about:blank")
