"""A trainee's session in a browser, on a phone and at a desk: line, feedback, undo, report; offline and back; a supervisor's note."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simcounsel.practice.clients import levels
from simcounsel.practice.group import Practice
from simcounsel.practice.site import make_practice_app
from tests.practice.stage import folder_of, practicing
from tests.stage import tiny
from tests.viewer.conftest import serving

pytestmark = pytest.mark.slow(20)
GOOD = "You lie there and count the hours, and you are tired."
POOR = "You should go to bed earlier."


@pytest.fixture
def practice(tmp_path: Path) -> Iterator[Practice]:
    levels(tiny())  # read once, as `serve` does before it tells the address
    with practicing(folder_of(tmp_path)) as found:
        yield found


def sound(page: Page) -> None:
    """Nothing is wider than the screen, and axe finds nothing."""
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def say(page: Page, text: str, feedback: int) -> None:
    page.get_by_label("Your line").fill(text)
    page.get_by_role("button", name="Say it").click()
    expect(page.locator(".feedback")).to_have_count(feedback)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_a_session(practice: Practice, browser: Browser, width: int, scheme: str) -> None:
    with serving(make_practice_app(practice)) as base:
        context = browser.new_context(
            viewport={"width": width, "height": 844},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{base}/p/{practice.links['Ada']}")
        expect(page.get_by_role("heading", name="Hello Ada")).to_be_visible()
        sound(page)
        page.get_by_label("Client").select_option("Ines")
        page.get_by_role("button", name="Begin").click()
        say(page, GOOD, 1)
        expect(page.locator(".feedback")).to_contain_text("Openness: 2.4 → 2.9")
        say(page, POOR, 2)
        expect(page.locator(".feedback").nth(1)).to_contain_text("A line from the skill's file")
        sound(page)
        page.get_by_role("button", name="Take this line back").click()
        expect(page.locator(".feedback")).to_have_count(1)
        expect(page.get_by_label("Your line")).to_have_value(POOR)
        say(page, "What goes through your mind then?", 2)

        page.get_by_label("Your line").fill("half a li")
        page.reload()
        expect(page.get_by_label("Your line")).to_have_value("half a li")
        context.set_offline(True)
        page.get_by_label("Your line").fill("So the nights are long.")
        page.get_by_role("button", name="Say it").click()
        expect(page.locator(".warn")).to_contain_text("does not answer")
        context.set_offline(False)
        expect(page.locator(".feedback")).to_have_count(3, timeout=15_000)

        page.get_by_role("button", name="End and see the report").click()
        expect(page.get_by_role("heading", name="What went well")).to_be_visible()
        expect(page.locator(".ways")).to_contain_text(POOR)
        expect(page.locator(".talk")).to_contain_text("That I am ashamed.")
        sound(page)
        assert not wrong
        assert [one.said for one in practice.sessions[1].exchanges][-1] == "So the nights are long."


def test_a_supervisor_and_the_trainee(practice: Practice, browser: Browser) -> None:
    with serving(make_practice_app(practice)) as base:
        page = browser.new_page()
        held = practice.begin("Ada", "Ines", "line")
        practice.step(held, "say", {"id": "a", "text": GOOD})
        page.goto(f"{base}/p/{practice.links['supervisor']}")
        page.get_by_label("What to practice").fill("silence")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("form.card")).to_contain_text("silence")
        sound(page)
        page.get_by_role("link", name="Ada: Ines").click()
        page.get_by_label("A note on this line").first.fill("Her own words.")
        page.get_by_role("button", name="Keep the note").first.click()
        expect(page.locator(".note")).to_contain_text("Her own words.")
        sound(page)
        page.goto("about:blank")
        page.goto(f"{base}/p/{practice.links['Ada']}")
        expect(page.locator("main")).to_contain_text("silence")
        page.get_by_role("link", name="Ines").click()
        expect(page.locator(".note")).to_contain_text("Her own words.")
