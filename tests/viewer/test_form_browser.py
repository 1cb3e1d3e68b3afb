"""A questionnaire on the page of a person in a seat: it is filled in by hand, on a desktop and on a phone, by light and in the dark."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simcounsel.engine.simulation import Simulation
from simcounsel.events import Measured, Said
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.world import World
from simcounsel.viewer.human import Board
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from simcounsel.viewer.turns import taking_part
from tests.stage import begun, changed, happened, switchboard, tiny
from tests.viewer.conftest import site, sound_page
from tests.viewer.seated import seated
from tests.viewer.test_questionnaires import asking, survey

pytestmark = pytest.mark.slow

SHOTS = os.environ.get("SIMCOUNSEL_SHOTS")
SIZES = {"desktop": (1400, 900), "phone": (390, 844)}


@pytest.fixture(params=[("desktop", "light"), ("phone", "dark")], ids="-".join)
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    size, look = request.param
    width, height = SIZES[size]
    with sound_page(browser, width, color_scheme=look) as page:
        page.set_viewport_size({"width": width, "height": height})
        yield page


def shot(page: Page, name: str) -> None:
    if SHOTS:
        dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        width = page.evaluate("innerWidth")
        page.screenshot(path=f"{SHOTS}/{name}-{width}-{'dark' if dark else 'light'}.png")


@contextmanager
def lived(page: Page, out: Path, world: World, seconds: float | None = None) -> Iterator[Run]:
    """A run of one tick whose questionnaires the page is asked."""
    run = begun(out, world)
    board, models = Board(who="Ines", seconds=seconds), switchboard(Scripted())
    with taking_part(run.folder, models, board, 0) as address:
        living = threading.Thread(
            target=lambda: Simulation(run.world, run=run, models=models).run(1), daemon=True
        )
        page.goto(address)
        living.start()
        yield run
        living.join(30)
        assert not living.is_alive()
        page.goto("about:blank")


def sound(page: Page) -> None:
    """Nothing is wider than the window, and nobody is shut out."""
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_questionnaire_is_filled_in(page: Page, tmp_path: Path) -> None:
    with lived(page, tmp_path, asking(("phq9", "start"), ("session_alliance", "start"))) as run:
        form = page.get_by_role("region", name="A few questions")
        expect(form).to_contain_text("Over the last 2 weeks", timeout=30_000)
        expect(form).to_contain_text("You answer for Ines.")
        expect(page.get_by_label("What comes")).to_be_hidden()
        shot(page, "form")
        sound(page)
        for item in form.get_by_role("group").all()[:8]:
            item.get_by_text("Several days").click()
        expect(form.get_by_text("8 of 9 answered")).to_be_visible()
        form.get_by_role("button", name="Send my answers").click()
        expect(form.get_by_role("alert")).to_contain_text("Not answered yet: 1.")
        expect(form.get_by_role("group").nth(8).get_by_label("Not at all")).to_be_focused()
        shot(page, "form-open")
        page.reload()
        expect(form.get_by_text("8 of 9 answered")).to_be_visible(timeout=30_000)
        form.get_by_role("group").nth(8).get_by_text("Prefer not to answer").click()
        sound(page)
        form.get_by_role("button", name="Send my answers").click()
        expect(form.get_by_role("group")).to_have_count(4, timeout=30_000)
        form.get_by_role("group").nth(0).get_by_text("10 entirely true for me").click()
        form.get_by_role("button", name="Prefer not to answer the rest").click()
        shot(page, "form-numbers")
        sound(page)
        form.get_by_role("button", name="Send my answers").click()
        expect(form).to_be_hidden()
    phq9, alliance = happened(run, Measured)
    assert [one.value for one in phq9.items] == [1] * 8 + [None]
    assert [one.value for one in alliance.items] == [10, None, None, None]


def test_an_answer_that_tells_danger_brings_the_help_lines(page: Page, tmp_path: Path) -> None:
    world = asking(("phq9", "start"))
    world = changed(world, safety=world.safety.model_copy(update={"locale": "en-GB"}))
    with lived(page, tmp_path, world):
        form = page.get_by_role("region", name="A few questions")
        form.get_by_role("group").nth(8).get_by_text("Nearly every day").click(timeout=30_000)
        form.get_by_role("button", name="Prefer not to answer the rest").click()
        form.get_by_role("button", name="Send my answers").click()
        expect(page.get_by_label("Help lines")).to_contain_text("Emergency: 999", timeout=30_000)
        shot(page, "form-danger")


def test_in_chinese_and_with_a_limit(page: Page, tmp_path: Path) -> None:
    with lived(page, tmp_path, asking(("gad7", "start"), world=tiny(language="zh")), 60) as run:
        form = page.get_by_role("region", name="几个问题")
        expect(form).to_contain_text("还剩", timeout=30_000)
        shot(page, "form-zh")
        form.get_by_role("button", name="我需要更多时间").click()
        expect(form).to_contain_text("还剩 13 分")
        sound(page)
        form.get_by_role("button", name="其余的都不愿回答").click()
        form.get_by_role("button", name="提交答案").click()
        expect(form).to_be_hidden()
    assert {one.reason for one in happened(run, Measured)[0].items} == {"preferred not to answer"}


def test_the_outcomes_say_who_answered_and_what_the_protocol_decided(
    page: Page, tmp_path: Path
) -> None:
    run = begun(tmp_path, asking(("phq9", "tick 3"), ("gad7", "tick 3")))
    seated(run, 4, form=survey)
    lines = sum(one.who == "Miriam" for one in happened(run, Said))
    with site(page, make_app(RunList(tmp_path))) as address:
        page.goto(f"{address}/run/{run.name}#panel=outcomes&who=Ines")
        who = page.get_by_label("Who answered")
        expect(who).to_contain_text("★ asked of the person in the seat")
        expect(page.get_by_text(f"The safety protocol decided 0 of {lines} lines")).to_be_visible()
        expect(page.get_by_text("model that is there for trying")).to_have_count(0)
        shot(page, "outcomes")
        page.locator(".measured > *").first.click()
        expect(page.get_by_text("preferred not to answer").first).to_be_visible()
        shot(page, "outcomes-open")
