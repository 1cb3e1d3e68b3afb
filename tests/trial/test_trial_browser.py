"""Three days of a trial with twelve participants in browsers, on phones and desktops, to the paper's tables."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcounsel.trial.exporting import export_all
from simcounsel.trial.opening import serve_site
from simcounsel.trial.running import Running
from tests.commands import Command
from tests.trial.stage import Clock, links, running, written

pytestmark = pytest.mark.slow(90)
ARGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    " --disable-sync --no-first-run"
).split()
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PEOPLE, DAYS = 12, 3


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGS)
        yield browser
        browser.close()


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=re.compile(name, re.I)).first.click()


def answer_all(page: Any, found: Running, code: str) -> None:
    """All questionnaires that are due, by the first answer of each question."""
    while page.locator("form [name]").count() or page.locator("fieldset").count():
        done = len(found.people[code].answers)
        for group in page.locator("fieldset").all():
            if group.locator("input[type=radio]").count():
                group.locator("input[type=radio]").first.check()
            elif group.locator("input[type=checkbox]").count():
                group.locator("input[type=checkbox]").first.check()
        for field in page.locator("input[type=number]").all():
            field.fill("40")
        for field in page.locator("textarea").all():
            field.fill("It was good. I liked the questions. I missed a person.")
        press(page, "continue|next|send|go on")
        page.wait_for_timeout(150)
        for _ in range(100):
            if len(found.people[code].answers) > done:
                break
            page.wait_for_timeout(50)
        page.wait_for_timeout(150)
        if page.locator("#say, textarea[name=say]").count():
            return


def chat(page: Any, found: Running, code: str, texts: tuple[str, ...]) -> None:
    """Say these lines, wait for an answer to each, and end the talk."""
    for text in texts:
        wait_for_turn(page, found, code)
        if found.people[code].talks[-1].over:
            break
        page.locator("textarea").first.fill(text)
        press(page, "send")
        page.wait_for_timeout(100)
    wait_for_turn(page, found, code)
    if not found.people[code].talks[-1].over:
        press(page, "end")
        for _ in range(200):
            if found.people[code].talks[-1].over:
                break
            page.wait_for_timeout(50)
    press(page, "go on|continue|next")


def wait_for_turn(page: Any, found: Running, code: str) -> None:
    for _ in range(200):
        talk = found.people[code].talk
        if talk and (talk.awaiting or talk.over):
            page.wait_for_timeout(150)
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{code}: nobody answered")


def test_three_days_end_in_the_papers_tables(
    chromium: Any, tmp_path: Path, simcounsel: Command
) -> None:
    folder = tmp_path / "trial"
    written(folder, PEOPLE, days=f"days: {DAYS}", talks="talks: {a_day: 1, lines: 8}")
    clock = Clock()
    with running(folder, clock) as found, serve_site(found, None, 0) as base:
        pages = []
        for number, link in enumerate(links(folder)):
            kind = PHONE if number % 2 else DESKTOP
            page = chromium.new_context(**kind).new_page()
            page.goto(base + link)
            pages.append((f"P{number + 1:03}", page))
        for number, (code, page) in enumerate(pages):
            press(page, "continue|next|read")
            for box in page.locator("input[type=checkbox]").all():
                box.check()
            press(page, "agree|take part")
            page.locator("input").first.fill(f"Guest {'abcdefghijkl'[number]}")
            press(page, "continue|next")
            page.wait_for_timeout(200)
            answer_all(page, found, code)
        for day in range(DAYS):
            for code, page in pages:
                if day:
                    page.reload()
                chat(page, found, code, ("I slept badly again.", "The flat upstairs is loud."))
            clock.days(1)
        for code, page in pages:
            page.reload()
            page.wait_for_timeout(300)
            answer_all(page, found, code)
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
