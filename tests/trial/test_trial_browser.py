"""Three days of a trial with twelve participants in browsers, on phones and desktops, to the paper's tables."""

import re
from pathlib import Path
from typing import Any

import pytest

from simcounsel.trial.exporting import export_all
from simcounsel.trial.opening import serve_site
from simcounsel.trial.running import Running
from tests.commands import Command
from tests.trial.stage import Clock, links, running, written

pytestmark = pytest.mark.slow(90)
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PEOPLE, DAYS = 12, 3


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=re.compile(name, re.I)).first.click()


def answer_all(page: Any, found: Running, code: str) -> None:
    """All questionnaires that are due, by the first answer of each question."""
    while (due := next(found.people[code].left_to_ask(found.trial, found.now()), None)) is not None:
        id = found.trial.id_of(due[0])
        last = found.questionnaires[id].of("en").items[-1].id
        page.wait_for_selector(f'[data-item="{last}"]')
        for group in page.locator("fieldset").all():
            group.locator("input").first.check()
        for field in page.locator("input[type=number]").all():
            field.fill("40")
        for field in page.locator("textarea").all():
            field.fill("It was good. I liked the questions. I missed a person.")
        page.locator("main button.main").click()
        page.wait_for_selector(f'[data-item="{last}"]', state="detached")


def chat(page: Any, found: Running, code: str, texts: tuple[str, ...]) -> None:
    """Say these lines, wait for an answer to each, and end the talk."""
    page.wait_for_selector("#say")
    for text in texts:
        wait_for_turn(page, found, code)
        if found.people[code].talks[-1].over:
            break
        page.locator("#say").fill(text)
        press(page, "^send$")
        page.get_by_text(text).last.wait_for()
    wait_for_turn(page, found, code)
    if not found.people[code].talks[-1].over:
        press(page, "^end today")
    press(page, "^go on$")
    page.wait_for_selector("#say", state="detached")


def wait_for_turn(page: Any, found: Running, code: str) -> None:
    for _ in range(200):
        talk = found.people[code].talk
        if talk and (talk.awaiting or talk.over):
            page.wait_for_timeout(100)
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{code}: nobody answered")


def test_nothing_typed_is_lost_and_every_page_is_accessible(chromium: Any, tmp_path: Path) -> None:
    """A draft survives a reload, a line the loss of the connection; axe finds nothing on any stage."""
    from axe_playwright_python.sync_playwright import Axe

    folder = tmp_path / "trial"
    written(folder, 1, languages="languages: [en, fa]")
    with running(folder) as found, serve_site(found, None, 0) as base:
        context = chromium.new_context(**PHONE)
        page = context.new_page()
        page.on("dialog", lambda dialog: dialog.accept())

        def sound(stage: str) -> None:
            report = Axe().run(page)
            assert report.violations_count == 0, f"{stage}: {report.generate_report()}"
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), stage

        page.goto(base + links(folder)[0])
        page.wait_for_selector("button[lang]")
        sound("language")
        page.locator("button[lang=fa]").click()
        page.wait_for_selector("html[dir=rtl] main button.main")
        sound("information")
        page.locator("main button.main").click()
        page.wait_for_selector("input[name=read]")
        sound("consent")
        for box in page.locator("input[type=checkbox]").all():
            box.check()
        page.locator("main button.main").click()
        page.wait_for_selector("#name")
        sound("name")
        page.locator("main button.main").click()
        page.wait_for_selector("[data-item=age]")
        page.locator("input[type=number]").fill("44")
        sound("questions")
        page.reload()
        page.wait_for_selector("[data-item=age]")
        assert page.locator("input[type=number]").input_value() == "44", "answers are kept, too"
        answer_all(page, found, "P001")
        page.wait_for_selector("#say")
        wait_for_turn(page, found, "P001")
        page.locator("#say").fill("a draft")
        page.reload()
        page.wait_for_selector("#say")
        assert page.locator("#say").input_value() == "a draft"
        wait_for_turn(page, found, "P001")
        context.set_offline(True)
        page.locator("#say").fill("said without a connection")
        page.locator("form.say button").click()
        page.wait_for_selector("[data-unsent]")
        sound("talk")
        context.set_offline(False)
        page.wait_for_selector("[data-unsent]", state="detached", timeout=30_000)
        wait_for_turn(page, found, "P001")
        assert [line.text for line in found.people["P001"].talks[0].own()] == [
            "said without a connection"
        ]
        page.get_by_role("button").filter(has_text="کمک فوری").click()
        sound("help")


def test_three_days_end_in_the_papers_tables(
    chromium: Any, tmp_path: Path, simcounsel: Command
) -> None:
    folder = tmp_path / "trial"
    written(folder, PEOPLE, days=f"days: {DAYS}", allocation="allocation: {blocks: [1]}")
    clock = Clock()
    with running(folder, clock) as found, serve_site(found, None, 0) as base:
        pages = []
        for number, link in enumerate(links(folder)):
            kind = PHONE if number % 2 else DESKTOP
            page = chromium.new_context(**kind).new_page()
            page.on("dialog", lambda dialog: dialog.accept())
            page.goto(base + link)
            pages.append((f"P{number + 1:03}", page))
        for number, (code, page) in enumerate(pages):
            press(page, "^continue$")
            page.wait_for_selector("input[name=read]")
            for box in page.locator("input[type=checkbox]").all():
                box.check()
            press(page, "^I agree")
            page.locator("#name").fill(f"Guest {'abcdefghijkl'[number]}")
            press(page, "^continue$")
            page.wait_for_selector("[data-item=age]")
            answer_all(page, found, code)
        for day in range(DAYS):
            for code, page in pages:
                if day:
                    page.reload()
                chat(page, found, code, ("I slept badly again.", "The flat upstairs is loud."))
            clock.days(1)
        for code, page in pages:
            page.reload()
            answer_all(page, found, code)
            page.get_by_text("That was the last part").wait_for()
        arms = [one.arm for one in found.people.values()]
        assert sorted(arms.count(arm) for arm in set(arms)) == [4, 4, 4]
        assert all(len(one.talks) == DAYS for one in found.people.values())
        assert found.store.damages() == []
        list(export_all(found, folder / "export"))
    ended = simcounsel(
        "study",
        "replicate",
        "structure-matters",
        "--people",
        folder / "export",
        "--out",
        tmp_path / "r",
    )
    assert ended.code == 0, ended.err
    told = (tmp_path / "r" / "replication.md").read_text(encoding="utf-8")
    assert "People took part in these." in told and "staged: published, n 22 | people" in told
    assert "12 clients: people (4 " in told
    ended = simcounsel("verify", folder / "export" / "runs")
    assert ended.code == 0 and ended.out.count("holds") == PEOPLE
