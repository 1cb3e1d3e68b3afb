"""Danger on the page: in a conversation that is looked at, and in the words of a human who takes part."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simcounsel.engine.simulation import Simulation
from simcounsel.events import Assessed, ConversationEnded, Said
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.viewer.human import Board
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from simcounsel.viewer.turns import taking_part
from tests.danger.test_in_a_world import DANGER, lived, safety, says
from tests.stage import ROOT, TINY, begun, happened, live, switchboard, tiny
from tests.viewer.conftest import site, sound_page

pytestmark = pytest.mark.slow

SHOTS = os.environ.get("SIMCOUNSEL_SHOTS")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("danger")
    live(folder, tiny(), models=switchboard(Scripted(says(DANGER))))
    return folder


@pytest.fixture(params=[1280, 390], ids=["desktop", "phone"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with sound_page(browser, request.param) as page:
        yield page


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}-{page.viewport_size['width']}.png")  # type: ignore[index]


def narrow(page: Page) -> bool:
    """Whether nothing is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1"))


def test_a_conversation_with_danger(shelf: Path, page: Page) -> None:
    (name,) = RunList(shelf).names()
    (heard,) = happened(Run.open(shelf / name), Assessed)
    assert heard.chat is not None
    with site(page, make_app(RunList(shelf))) as address:
        page.goto(f"{address}/run/{name}#who=Ines&panel=talks&chat={quote(heard.chat)}")
        line = page.locator("#line-2")
        expect(line).to_contain_text("danger: imminent")
        expect(page.locator("#line-3")).to_contain_text("safety: emergency")
        expect(page.get_by_text("Danger was heard in 1 line.")).to_be_visible()
        page.get_by_role("button", name="Next line with danger").click()
        expect(line).to_be_focused()
        line.get_by_text("why", exact=True).click()
        expect(line).to_contain_text("danger: imminent (suicide), judged by words")
        page.locator("#line-3").get_by_text("why", exact=True).click()
        expect(page.locator("#line-3")).to_contain_text("safety: → emergency")
        shot(page, "talks")
        page.get_by_label("only these and their answers").check()
        expect(page.locator("#line-1")).to_be_hidden()
        expect(page.locator("#line-3")).to_be_visible()
        shot(page, "talks-only")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert narrow(page)


def test_what_ended_on_open_danger_comes_first(page: Page, tmp_path: Path) -> None:
    world = safety(tiny(), counselors="assess", locale="en-GB")
    lived(tmp_path, world, says(DANGER))
    (name,) = RunList(tmp_path).names()
    with site(page, make_app(RunList(tmp_path))) as address:
        page.goto(address)
        expect(page.get_by_text("Danger is left open")).to_be_visible()
        page.goto(f"{address}/run/{name}")
        banner = page.get_by_label("Danger", exact=True)
        expect(banner).to_contain_text("Danger was left open once")
        expect(banner).to_contain_text("suicide (imminent); nobody has come back to it")
        title = page.locator("h1")
        assert banner.bounding_box()["y"] < title.bounding_box()["y"]  # type: ignore[index]
        banner.get_by_text("When it was heard").click()
        expect(banner.get_by_label("Danger that was heard")).to_contain_text("judged by words: “")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        banner.get_by_label("What is open").get_by_role("button").click()
        expect(page.get_by_text("Ended on open danger: suicide (imminent).")).to_be_visible()
        expect(page.locator("#line-2")).to_contain_text("danger: imminent")
        shot(page, "open-danger")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert narrow(page)


@pytest.mark.parametrize("page", [390], ids=["phone"], indirect=True)
def test_a_human_whose_words_sound_like_danger(page: Page, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "simcounsel",
        "run",
        str(TINY),
        "--model",
        "scripted",
        "--human",
        "Ines",
        "--human-seconds",
        "60",
        "--port",
        "0",
        "--out",
        str(tmp_path),
        "--quiet",
        "--set",
        "safety.locale=en-GB",
    ]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(
                word
                for line in process.stdout
                for word in line.split()
                if word.startswith("http://")
            )
            page.goto(address)
            before = page.get_by_label("Before you take part")
            expect(before).to_contain_text("This is a simulation for research.")
            expect(before).to_contain_text("Samaritans: 116 123")
            box = page.locator(".turn textarea")
            box.wait_for(timeout=30_000)
            shot(page, "human-before")
            assert before.bounding_box()["y"] < box.bounding_box()["y"]  # type: ignore[index]
            banner = page.get_by_label("Help lines")
            expect(banner).to_be_hidden()
            box.fill("I want to kill myself, I can't go on.")
            page.locator(".turn button[type=submit]").click()
            expect(banner).to_contain_text("you matter more than this simulation", timeout=30_000)
            expect(banner).to_contain_text("Emergency: 999")
            shot(page, "human-danger")
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert narrow(page)
            box.wait_for(timeout=30_000)
            page.reload()
            expect(banner).to_contain_text("Emergency: 999")
            page.goto("about:blank")
        finally:
            process.kill()
    run = Run.open(next(tmp_path.iterdir()))
    assert {event.source for event in happened(run, Said) if event.who == "Ines"} <= {
        "human",
        "fallback",
        "generated",
    }


@pytest.mark.parametrize("page", [1280], ids=["desktop"], indirect=True)
def test_a_human_counselor_is_reminded_and_asked_before_they_part(
    page: Page, tmp_path: Path
) -> None:
    run = begun(tmp_path, safety(tiny(), counselors="assess", locale="en-GB"))
    board, models = Board(who="Miriam", seconds=60), switchboard(Scripted(says(DANGER)))
    with taking_part(run.folder, models, board, 0) as address:
        living = threading.Thread(
            target=lambda: Simulation(run.world, run=run, models=models).run(4), daemon=True
        )
        living.start()
        page.goto(address)
        box, send = page.locator(".turn textarea"), page.locator(".turn button[type=submit]")
        reminder = page.locator(".turn").get_by_label("Open danger")
        box.wait_for(timeout=30_000)
        expect(reminder).to_be_hidden()
        box.fill("Hello, how was your week?")
        send.click()
        expect(reminder).to_contain_text("Ines spoke of danger (suicide)", timeout=30_000)
        expect(reminder).to_contain_text("Emergency: 999")
        shot(page, "human-reminded")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert narrow(page)
        box.fill("Goodbye, see you on Monday.")
        page.get_by_label("Say goodbye with this line").check()
        send.click()
        expect(page.locator(".turn [role=alert]")).to_contain_text("Danger is open.")
        assert board.pending is not None, "nothing was said yet"
        send.click()
        living.join(30)
        page.goto("about:blank")
    assert not living.is_alive()
    (end,) = happened(run, ConversationEnded)
    assert (end.by, end.open_danger) == ("Miriam", "imminent")
