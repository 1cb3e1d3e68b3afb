"""Participants' and the coordinator's pages in a browser: by keyboard, on a narrow phone, in the dark."""

import re
from pathlib import Path
from typing import Any

import pytest

from simcounsel.trial.opening import serve_site
from simcounsel.trial.running import Running
from tests.trial.stage import links, running, written
from tests.trial.test_trial_browser import answer_all, wait_for_turn

pytestmark = pytest.mark.slow(60)
NARROW = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
DANGER = {"en": "I want to kill myself.", "fa": "میخوام خودمو بکشم"}


def sound(page: Any, stage: str) -> None:
    """Axe finds nothing, and nothing is wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe

    report = Axe().run(page)
    assert report.violations_count == 0, f"{stage}: {report.generate_report()}"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), stage


def tab_to(page: Any, selector: str) -> None:
    """By the tabulator only, from wherever the focus is."""
    for _ in range(80):
        if page.evaluate("s => document.activeElement?.matches(s)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector}: no keyboard comes there")


def enter(page: Any, found: Running, code: str, language: str | None = None) -> None:
    """Up to the first talk."""
    if language:
        page.locator(f"button[lang={language}]").click()
    page.locator("main button.main").click()
    page.wait_for_selector("input[name=read]")
    for box in page.locator("input[type=checkbox]").all():
        box.check()
    page.locator("main button.main").click()
    page.wait_for_selector("#name")
    page.locator("main button.main").click()
    page.wait_for_selector("[data-item=age]")
    answer_all(page, found, code)
    page.wait_for_selector("#say")
    wait_for_turn(page, found, code)


def opened(browser: Any, address: str, **kind: Any) -> Any:
    page = browser.new_context(**kind).new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(address)
    return page


def test_consent_and_questions_by_keyboard_alone(chromium: Any, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    written(folder, 1)
    with running(folder) as found, serve_site(found, None, 0) as base:
        page = opened(chromium, base + links(folder)[0], color_scheme="dark", **NARROW)
        page.wait_for_selector("main h1")
        assert page.evaluate("document.activeElement.tagName") == "H1"
        tab_to(page, "main button.main")
        page.keyboard.press("Enter")
        page.wait_for_selector("input[name=read]")
        tab_to(page, "main button.main")
        page.keyboard.press("Enter")
        page.locator("#problem").get_by_text("tick each").wait_for()
        assert page.evaluate("document.activeElement.name") == "read", "what is open has the focus"
        for box in page.locator("input[type=checkbox]").all():
            tab_to(page, f"input[name={box.get_attribute('name')}]")
            page.keyboard.press("Space")
        tab_to(page, "main button.main")
        page.keyboard.press("Enter")
        page.wait_for_selector("#name")
        tab_to(page, "#name")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-item=age]")
        tab_to(page, "main button.main")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "age"
        told = page.locator("#age").get_attribute("aria-describedby").split()
        assert "Please answer" in "".join(page.locator(f"#{id}").inner_text() for id in told)
        sound(page, "questions with errors, dark")
        page.keyboard.insert_text("۴۴")
        assert page.locator("#age").input_value() == "44", "Persian digits are numbers"
        for item in ("gender", "education", "language"):
            tab_to(page, f"input[name={item}]")
            page.keyboard.press("Space")
        tab_to(page, "main button.main")
        page.keyboard.press("Enter")
        page.wait_for_selector("[data-item=age]", state="detached")
        (answers,) = found.people["P001"].answers.values()
        assert answers["age"] == 44 and answers["gender"] == "woman"


@pytest.mark.parametrize("language", ["en", "fa"])
def test_danger_shows_help_and_each_later_page_is_accessible(
    chromium: Any, tmp_path: Path, language: str
) -> None:
    folder = tmp_path / "trial"
    written(folder, 1, languages="languages: [en, fa]", days="days: 2")
    with running(folder) as found, serve_site(found, None, 0) as base:
        light = "dark" if language == "fa" else "light"
        page = opened(chromium, base + links(folder)[0], color_scheme=light, **NARROW)
        enter(page, found, "P001", language)
        page.locator("#say").fill(DANGER[language])
        page.locator("form.say button").click()
        page.wait_for_selector("#notice:not([hidden])")
        page.wait_for_timeout(300)
        assert page.evaluate("notice.getBoundingClientRect().top >= 0"), "it is on the screen"
        assert page.locator("#notice a[href='tel:116123']").is_visible()
        sound(page, "notice")
        page.locator("button.warn").click()
        page.wait_for_selector("dialog[open]")
        sound(page, "help")
        page.keyboard.press("Escape")
        wait_for_turn(page, found, "P001")
        page.locator("main > button.link").click()
        page.locator("main .row button.main").click()
        page.wait_for_selector("#say", state="detached")
        sound(page, "wait")
        page.locator("footer button").last.click()
        page.wait_for_selector("dialog[open]")
        sound(page, "stop")
        page.locator("dialog button").nth(1).click()
        page.wait_for_selector("dialog[open]", state="detached")
        page.wait_for_timeout(500)
        sound(page, "withdrawn")
        assert found.people["P001"].withdrawn == "deleted"
        assert page.evaluate("localStorage.length") == 0


def test_what_is_too_long_or_of_an_earlier_talk_is_not_lost(chromium: Any, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    written(folder, 1)
    with running(folder) as found, serve_site(found, None, 0) as base:
        page = opened(chromium, base + links(folder)[0], **DESKTOP)
        enter(page, found, "P001")
        long = "word " * 500
        page.locator("#say").fill(long)
        page.keyboard.press("Enter")
        assert page.locator("#say").input_value() == long, "nothing is cut off"
        assert "2000" in page.locator("#say-problem").inner_text()
        assert page.locator("[data-unsent]").count() == 0
        page.locator("#say").fill("")
        page.evaluate(
            """async () => {
                const { me } = await (await fetch("/api/state")).json();
                localStorage.setItem(`${me}/unsent`, JSON.stringify([{ id: "x", text: "of yesterday", talk: -1 }]));
            }"""
        )
        page.reload()
        page.wait_for_selector("#say")
        assert page.locator("#say").input_value() == "of yesterday"
        assert found.people["P001"].talks[0].own() == []


def test_the_coordinator_sees_alerts_first_and_loses_no_note(chromium: Any, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    password = written(folder, 2)
    with running(folder) as found, serve_site(found, None, 0) as base:
        watch = opened(chromium, f"{base}/watch", **DESKTOP)
        watch.wait_for_selector("#password")
        sound(watch, "log in")
        watch.locator("#password").fill(password)
        watch.keyboard.press("Enter")
        watch.wait_for_selector("table")
        for number, link in enumerate(links(folder)):
            page = opened(chromium, base + link, **DESKTOP)
            enter(page, found, f"P00{number + 1}")
            page.locator("#say").fill(DANGER["en"])
            page.keyboard.press("Enter")
            watch.locator(".alert h2").get_by_text(f"P00{number + 1}").wait_for()
            if not number:
                watch.locator(".alert input").last.fill("called at 12:05")
                watch.locator(".alert input").last.focus()
        assert watch.locator(".alert input").last.input_value() == "called at 12:05"
        assert watch.evaluate("document.activeElement.value") == "called at 12:05"
        assert watch.title() == "(2) alert"
        sound(watch, "watch")
        arms = {arm.name for arm in found.trial.arms}
        assert not arms & set(re.findall(r"\w+", watch.locator("body").inner_text()))
        watch.locator(".alert").last.locator("input").first.fill("AB")
        watch.locator(".alert").last.get_by_role("button", name="Acknowledge").click()
        watch.wait_for_timeout(1000)
        assert watch.title() == "(1) alert"
        (alert,) = found.people["P001"].alerts.values()
        assert alert["acknowledged"]["by"] == "AB"


def test_a_wrong_link_says_so(chromium: Any, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    written(folder, 1)
    with running(folder) as found, serve_site(found, None, 0) as base:
        page = opened(chromium, f"{base}/t/wrong", **NARROW)
        page.get_by_text("This link is not known").wait_for()
        page.goto(f"{base}/take")
        page.get_by_text("open your personal link again").wait_for()
        sound(page, "no session")
