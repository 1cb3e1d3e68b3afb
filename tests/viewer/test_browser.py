"""What a scientist does with a run in the browser, in Debian's Chromium."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simcounsel.engine.forking import fork
from simcounsel.events import BeliefMoved, Said
from simcounsel.llm.question import Question
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.interviews import interview_routes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import ROOT, TINY, go_on, happened, live, switchboard, three, tiny
from tests.viewer.conftest import serving, sound_page

pytestmark = pytest.mark.slow

PANELS = ("days", "outcomes", "person", "memory", "talks", "hood", "search")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: everybody for twelve ticks, and a fork of it without the counselor."""
    folder = tmp_path_factory.mktemp("shelf")
    run = live(folder, three())
    go_on(fork(run, 4, {"condition": "client_layperson"}, folder))
    return folder


@pytest.fixture(scope="module")
def url(shelf: Path) -> Iterator[str]:
    with serving(make_app(RunList(shelf))) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with sound_page(
        browser, accept_downloads=True, permissions=["clipboard-read", "clipboard-write"]
    ) as page:
        yield page


def names(shelf: Path) -> tuple[str, str]:
    """The run, and its fork."""
    runs = {name: Run.open(shelf / name) for name in RunList(shelf).names()}
    child = next(name for name, run in runs.items() if run.manifest.parent)
    return next(name for name in runs if name != child), child


def opened(page: Page, url: str, shelf: Path, moment: str = "") -> None:
    page.goto(f"{url}/run/{names(shelf)[0]}{moment}")
    page.wait_for_selector("main[data-drawn]")


def at(page: Page, tick: int, panel: str) -> None:
    page.wait_for_selector(f'main[data-drawn="{tick}:{panel}"]')


def test_from_the_list_to_a_run(page: Page, url: str, shelf: Path) -> None:
    page.goto(url)
    page.get_by_role("link", name=names(shelf)[0], exact=True).click()
    page.wait_for_selector("main[data-drawn]")
    expect(page.get_by_role("heading", name="Tiny")).to_be_visible()
    expect(page.locator(".line").first).to_contain_text("Miriam")
    assert "who=Ines" in page.url and "panel=talks&" in f"{page.url}&" and "tick=2" in page.url
    expect(page.locator(".story summary")).to_have_text(
        "Ines, 34, technical illustrator for an engineering firm, working from home, client"
    )
    expect(page.locator(".story")).to_contain_text("Insomnia. Of late Ines has been worn thin")
    expect(page.locator(".story")).to_contain_text("Talked with Miriam (counselor) once")
    expect(page.locator(".story")).to_contain_text("no danger heard")
    expect(page.locator(".map-side")).to_be_hidden()
    page.get_by_role("tab", name="Days").click()
    expect(page.locator(".figure")).to_have_count(3)


def test_a_stale_address_falls_back_to_the_run(page: Page, url: str, shelf: Path) -> None:
    opened(page, url, shelf, "#who=Nobody&tick=999&chat=gone&panel=talks")
    at(page, 0, "talks")
    note = page.get_by_role("status").filter(has_text="This address names")
    expect(note).to_contain_text("a person “Nobody” and a conversation and a moment")
    expect(page.locator("ol.lines li").first).to_be_visible()
    assert "Nobody" not in page.url and "gone" not in page.url
    page.goto("about:blank")
    opened(page, url, shelf, "#tick=1")
    expect(page.get_by_role("status").filter(has_text="This address names")).to_have_count(0)


def test_replay_with_keys_and_a_link_that_shows_the_same(page: Page, url: str, shelf: Path) -> None:
    opened(page, url, shelf, "#tick=0")
    page.keyboard.press("ArrowRight")
    at(page, 1, "days")
    page.keyboard.press("Shift+ArrowRight")
    at(page, 3, "days")
    page.keyboard.press("ArrowLeft")
    at(page, 2, "days")
    page.keyboard.press("Home")
    at(page, 0, "days")
    page.keyboard.press("]")
    at(page, 2, "days")
    expect(page.locator("#live")).to_contain_text("talk Miriam and Ines")
    page.keyboard.press("]")
    page.wait_for_function("() => !document.getElementById('main').dataset.drawn.startsWith('2:')")
    page.keyboard.press("[")
    at(page, 2, "days")
    page.get_by_role("tab", name="Person").click()
    at(page, 2, "person")
    # not inner_text: cards that the browser has not yet laid out (content-visibility) have none
    link, shown = page.url, page.locator("#panel").text_content()
    assert shown and "The persona file" in shown
    page.goto("about:blank")
    page.goto(link)
    at(page, 2, "person")
    assert page.locator("#panel").text_content() == shown


def test_play_shows_the_talk_line_by_line_and_stops_at_the_end(
    page: Page, url: str, shelf: Path
) -> None:
    opened(page, url, shelf, "#tick=2&who=Ines")
    page.get_by_label("Speed").select_option("16")
    lines = json.loads(
        page.evaluate(
            "async (run) => (await (await fetch(`/api/runs/${run}/conversation/2%3AInes%2BMiriam`)).text())",
            names(shelf)[0],
        )
    )["lines"]
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".speech:visible").first).to_have_text(lines[0]["text"])
    page.wait_for_selector('main[data-drawn="11:days"]', timeout=30_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_why_something_came_to_mind(page: Page, url: str, shelf: Path) -> None:
    opened(page, url, shelf, "#tick=11&who=Ines&panel=memory")
    hits = page.locator(".hits").first.locator("li")
    expect(hits.first).to_be_visible()
    for hit in hits.all():
        score = float(hit.locator(".score").text_content() or "")
        widths = hit.locator(".term").evaluate_all(
            "all => all.map((one) => parseFloat(one.style.width))"
        )
        assert len(widths) == 5
        assert sum(widths) / 100 == pytest.approx(score, abs=0.006), (
            "the five parts do not add up to the score"
        )
    before = page.locator(".card .row span").first.text_content() or ""
    page.get_by_role("button", name="Earlier recall").click()
    expect(page.locator(".card .row span").first).not_to_have_text(before)
    page.get_by_role("searchbox", name="Find in short-term memory").fill("said to")
    expect(page.locator(".memories").last.locator("li").first).to_contain_text("said to")


def test_a_belief_that_moved_is_told_with_what_moved_it(browser: Browser, tmp_path: Path) -> None:
    """Evidence of the same day with its time, of another day with the day, what was brought along as such."""

    def concluded(question: Question[Any], draw: Random) -> str:
        insight = {
            "text": "Ines sees it.",
            "evidence": [1],
            "emotion": "trust",
            "intensity": 4,
            "poignancy": 4,
        }
        many = len(re.findall(r"^\d+\. ", question.prompt, re.MULTILINE))
        step = {
            "belief": "C1",
            "evidence": list(range(1, min(many, 8) + 1)),
            "why": "She listened.",
            "step": -4,
        }
        return json.dumps({"insights": [insight], "beliefs": [step]})

    world = tiny(ticks=60, memory__reflect_after_memories=12)
    run = live(tmp_path, world, models=switchboard(Scripted({"insights": concluded})))
    moved = [entry for entry in run.entries() if isinstance(entry.event, BeliefMoved)]
    write_bundle(Log(run.folder), tmp_path / "run.html")
    for width in (1440, 390):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(f"{(tmp_path / 'run.html').as_uri()}#tick=59&who=Ines&panel=memory")
        card = page.locator("section.card", has_text="Beliefs that moved")
        expect(card.locator("> ul > li")).to_have_count(len(moved))
        first, last = moved[0].event, moved[-1].event
        expect(card.locator("> ul > li").last).to_contain_text(
            f"{first.before}\u00a0→\u00a0{first.after} of 100"
        )
        expect(card.locator("> ul > li").first).to_contain_text(
            f"{last.before}\u00a0→\u00a0{last.after} of 100"
        )
        expect(card).to_contain_text("from before the run")
        expect(card).to_contain_text("Monday 2 March, ")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_conversation_to_take_away(page: Page, url: str, shelf: Path) -> None:
    opened(page, url, shelf, "#tick=2&who=Ines&panel=talks")
    first = page.locator(".line").first
    expect(first).to_contain_text("Miriam")
    first.locator("summary").click()
    expect(first).to_contain_text("Chose greet out of greet: the meeting begins")
    text = page.evaluate(
        "async (run) => (await (await fetch(`/api/runs/${run}/conversation/2%3AInes%2BMiriam`)).json()).text",
        names(shelf)[0],
    )
    with page.expect_download() as download:
        page.get_by_role("button", name="Download Text").click()
    assert Path(download.value.path()).read_text(encoding="utf-8") == text
    page.get_by_role("button", name="Copy Markdown").click()
    expect(page.locator("#live")).to_have_text("copied as Markdown")
    assert page.evaluate("() => navigator.clipboard.readText()").startswith(
        "## Miriam and Ines, Monday 2 March, 09:00"
    )


def test_the_prompt_behind_a_line(page: Page, url: str, shelf: Path) -> None:
    opened(page, url, shelf, "#tick=2&who=Ines&panel=talks")
    line = page.locator(".line").nth(1)
    words = line.locator("p.said").text_content() or ""
    assert words
    line.locator("summary").click()
    line.get_by_role("button", name="the prompt behind it").click()
    reply = page.get_by_role("region", name="reply")
    expect(reply).to_contain_text(words)
    expect(page.get_by_role("region", name="user")).to_contain_text("Ines")


def test_two_runs_side_by_side(page: Page, url: str, shelf: Path) -> None:
    page.goto(url)
    for name in names(shelf):
        page.get_by_label(f"choose {name}", exact=True).check()
    page.get_by_role("button", name="Compare two").click()
    expect(page.locator(".person-pair")).to_have_count(3)
    expect(page.locator("main")).to_contain_text(
        "They part on Monday 2 March, 10:00, where one was forked."
    )
    page.keyboard.press("End")
    ines, miriam = page.get_by_label("Ines", exact=True), page.get_by_label("Miriam", exact=True)
    expect(miriam).to_contain_text("not here")
    expect(ines.get_by_role("img")).to_have_count(2)
    expect(ines.locator("p").first).to_contain_text(
        re.compile("Does something else|the same in both")
    )
    hours = ines.get_by_role("row").filter(has=page.get_by_role("rowheader", name="work, hours"))
    expect(hours.get_by_role("cell").last).to_have_text(re.compile(r"^[+−]?[0-9.]+$"))


def test_the_demo_leads_from_a_talk_to_the_days_without_a_counselor(
    page: Page, tmp_path: Path
) -> None:
    """As it is typed, in an empty folder: the first session, and four steps."""
    command = [sys.executable, "-m", "simcounsel", "demo", "--no-browser"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    ) as site:
        try:
            assert site.stdout is not None
            page.goto(site.stdout.readline().split()[1])
            guide = page.locator(".tour")
            expect(guide).to_contain_text("1 of 4: A talk")
            expect(page.locator(".line").first).to_contain_text("Hello, Ines, come in.")
            expect(page.locator(".story")).to_contain_text(
                "Insomnia severity 21 → 20; talked with Miriam (counselor) twice"
            )
            guide.get_by_role("button", name="Next").click()
            expect(page.locator(".line.now .hits li").first).to_be_visible()
            guide.get_by_role("button", name="Next").click()
            expect(page.get_by_label("What it rests on")).to_contain_text("total: 21")
            assert Axe().run(page).violations_count == 0
            guide.get_by_role("button", name="Next").click()
            expect(page.locator(".answer")).to_contain_text("insomnia severity is 20 in both")
            expect(page.locator(".answer")).to_contain_text("met Miriam and Omar in A, Omar in B")
            expect(guide).to_contain_text("simcounsel run insomnia --ticks 24")
            guide.get_by_role("button", name="Back").click()
            expect(guide).to_contain_text("3 of 4")
            guide.get_by_role("button", name="End the tour").click()
            expect(guide).to_have_count(0)
            page.goto(page.url.split("/run/")[0])
            expect(page.locator("#gallery li")).to_have_count(5)
            assert Axe().run(page).violations_count == 0
        finally:
            site.terminate()


def test_a_run_that_goes_on(page: Page, tmp_path: Path) -> None:
    run = live(tmp_path, tiny(), 3)
    with serving(make_app(RunList(run.folder))) as address:
        page.goto(f"{address}/#tick=2")
        page.wait_for_selector("main[data-drawn]")
        expect(page.locator("header")).to_contain_text("1.5 of 6 hours")
        page.keyboard.press("End")
        go_on(run, 2)
        page.wait_for_selector('main[data-drawn="4:days"]', timeout=15_000)
        expect(page.locator("header")).to_contain_text("2.5 of 6 hours")


def test_one_file_without_a_server(page: Page, shelf: Path, tmp_path: Path) -> None:
    file = tmp_path / "day.html"
    write_bundle(Log(shelf / names(shelf)[0]), file)
    page.context.set_offline(True)
    for panel in PANELS:
        page.goto(f"file://{file}#tick=2&who=Ines&panel={panel}")
        page.reload()
        at(page, 2, panel)
        assert page.locator(".warn[role=alert]").count() == 0
    page.goto(f"file://{file}#tick=2&who=Ines&panel=talks")
    page.locator(".line").nth(1).locator("summary").click()
    page.locator(".line").nth(1).get_by_role("button", name="the prompt behind it").click()
    expect(page.get_by_role("region", name="reply")).to_have_count(1)


NASTY = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt=1'> javascript:alert(1) \u202edlrow\u202c \x00 \U0001f642 [a](javascript:alert(1))"


def spoiled(shelf: Path, out: Path) -> Path:
    """A run in which whatever a model or a user wrote is hostile, or very long."""
    folder = Path(shutil.copytree(shelf / names(shelf)[0], out / "nasty"))

    def poison(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            closed = "cause" if value.get("kind") != "warned" else None  # one of a list, no words
            return {k: v if k == closed else poison(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(v, key) for v in value]
        return (
            NASTY + "y" * (100_000 if key == "text" and "number" in value else 0)
            if key in POISONED and isinstance(value, str)
            else value
        )

    for name in ("events.jsonl", "calls.jsonl"):
        lines = [
            json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()
        ]
        spaced = name == "calls.jsonl"
        text = "".join(
            json.dumps(poison(line), ensure_ascii=False, separators=None if spaced else (",", ":"))
            + "\n"
            for line in lines
        )
        (folder / name).write_text(text, encoding="utf-8")
    return folder


POISONED = {
    "text",
    "about",
    "activity",
    "query",
    "do",
    "why",
    "characteristic",
    "recent_feeling",
    "reason",
    "cause",
    "trigger",
    "reply",
    "content",
    "questions",
}


def test_hostile_text_does_nothing(page: Page, shelf: Path, tmp_path: Path) -> None:
    folder = spoiled(shelf, tmp_path)
    write_bundle(Log(folder), tmp_path / "nasty.html")
    with serving(make_app(RunList(folder))) as address:
        for start in (f"{address}/run/nasty", f"file://{tmp_path}/nasty.html"):
            for panel in PANELS:
                page.goto(f"{start}#tick=2&who=Ines&panel={panel}")
                at(page, 2, panel)
                assert page.evaluate("() => window.hurt") is None
                assert (
                    page.locator("main img, main script, main a[href^='javascript']").count() == 0
                )
                assert "\u202e" not in page.locator("main").inner_text()
                assert page.evaluate(
                    "() => document.documentElement.scrollWidth <= innerWidth + 1"
                ), f"{panel} is wider than the window"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_accessible(browser: Browser, url: str, shelf: Path, scheme: Any, width: int) -> None:
    """Colors do not depend on the width: each scheme at one of two widths sees all of both."""
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    a, b = names(shelf)
    pages = [
        url,
        f"{url}/compare?a={a}&b={b}",
        *(f"{url}/run/{a}#tick=2&who=Ines&panel={panel}" for panel in PANELS),
    ]
    for address in pages:
        page.goto("about:blank")
        page.goto(address)
        if "/run/" in address:
            page.wait_for_selector("main[data-drawn]")
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), (
            f"{address} is wider than the window"
        )
        found = Axe().run(page)
        assert found.violations_count == 0, f"{address}\n{found.generate_report()}"
    context.close()


def test_half_a_run(page: Page, shelf: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shelf / names(shelf)[0], tmp_path / "half"))
    (folder / "manifest.json").unlink()
    (folder / "calls.jsonl").unlink()
    with serving(make_app(RunList(folder))) as address:
        page.goto(f"{address}/run/half#tick=2&who=Ines&panel=hood")
        at(page, 2, "hood")
        expect(page.locator(".problems")).to_contain_text("manifest.json is missing")
        expect(page.locator(".problems")).to_contain_text("calls.jsonl is missing")
        expect(page.locator(".people-bar button")).to_have_count(3)


def test_an_interview(page: Page, shelf: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shelf / names(shelf)[0], tmp_path / "asked"))
    before = {file.name: file.read_bytes() for file in folder.glob("*.json*")}
    only = RunList(folder)
    with serving(make_app(only, more=interview_routes(only))) as address:
        page.goto(f"{address}/run/asked#tick=6&who=Ines&panel=interview")
        at(page, 6, "interview")
        page.get_by_label("Your question").fill("What kept you awake?")
        page.get_by_role("button", name="Ask", exact=True).click()
        answers = page.get_by_role("log", name="Questions and answers")
        expect(answers).to_contain_text("What kept you awake?")
        expect(answers.locator("li")).to_have_count(1, timeout=20_000)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        shown = answers_of(page)
        page.goto("about:blank")  # so that the page asks nothing of a site that is gone
    stored = [
        json.loads(line)
        for line in next((folder / "interviews").glob("*.jsonl"))
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    answer = next(line for line in stored if line.get("kind") == "answer")
    assert answer["question"] == "What kept you awake?"
    assert answer["answer"] in shown
    assert {file.name: file.read_bytes() for file in folder.glob("*.json*")} == before, (
        "the interview changed the run"
    )


def answers_of(page: Page) -> str:
    return page.get_by_role("log", name="Questions and answers").inner_text()


def test_a_humans_turn(page: Page, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "simcounsel",
        "run",
        str(TINY),
        "--model",
        "scripted",
        "--human",
        "Miriam",
        "--human-seconds",
        "60",
        "--port",
        "0",
        "--out",
        str(tmp_path),
        "--quiet",
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
            said = 0
            while process.poll() is None and said < 2:
                box = page.locator(".turn textarea")
                box.wait_for(timeout=30_000)
                box.fill(f"Tell me more, {said}.")
                if said == 0:
                    found = Axe().run(page)
                    assert found.violations_count == 0, found.generate_report()
                else:
                    page.get_by_label("goodbye", exact=False).check()
                page.locator(".turn button[type=submit]").click()
                said += 1
                if said < 2:
                    expect(box).to_have_value("", timeout=30_000)
            page.goto("about:blank")  # the site ends with the run
            process.wait(timeout=60)
        finally:
            process.kill()
    run = Run.open(next(tmp_path.iterdir()))
    lines = [event for event in happened(run, Said) if event.who == "Miriam"]
    assert [(event.text, event.source) for event in lines[:2]] == [
        ("Tell me more, 0.", "human"),
        ("Tell me more, 1.", "human"),
    ]


def test_days_as_pictures(page: Page, url: str, shelf: Path) -> None:
    """A talk in the picture opens; everybody's day is another view; what is drawn has a legend."""
    opened(page, url, shelf, "#tick=2&who=Ines")
    expect(page.get_by_label("Kinds of activity").get_by_role("listitem").first).to_be_visible()
    talk = page.get_by_role("button", name="talk").first
    expect(talk).to_have_attribute("aria-label", re.compile(r"Ines and Miriam|Miriam and Ines"))
    page.get_by_label("Show").select_option("people")
    rows = page.locator(".dayrows svg")
    for name in ("Ines, client", "Miriam, counselor"):
        expect(rows).to_contain_text(name)
    talk.focus()
    page.keyboard.press("Enter")
    expect(page.locator("ol.lines li").first).to_be_visible()
    assert "panel=talks" in page.url and "rows=people" in page.url


def test_on_a_phone_the_panel_comes_first(browser: Browser, url: str, shelf: Path) -> None:
    with sound_page(browser, 390) as page:
        opened(page, url, shelf, "#tick=2&who=Ines")
        fold = page.get_by_text("Map: who is where")
        tops = [place.bounding_box() for place in (page.get_by_role("tablist"), fold)]
        assert tops[0] and tops[1] and tops[0]["y"] < tops[1]["y"]
        expect(page.get_by_role("region", name="Counseling Center")).to_be_hidden()
        fold.click()
        page.get_by_text("Who is where, in words").click()
        expect(page.locator(".where-words li").filter(has_text="Ines, client")).to_contain_text(
            "Feels"
        )
