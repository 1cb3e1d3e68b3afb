"""What a scientist does with a synthesis in the browser."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from simcounsel.corpus.synthesis import pages as syntheses
from simcounsel.corpus.synthesis.sessions import Sessions, sessions_of
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.corpus.written import go_on, lines, stored, talk, written
from tests.viewer.conftest import serving, site, sound_page
from tests.viewer.test_browser import NASTY

pytestmark = pytest.mark.slow

DRAWN = "main[data-drawn]"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return written(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="module")
def handmade(run: Run) -> str:
    """A synthesis by hand beside it: of S0001 the first draft is revised, the second only criticized; of S0002 none."""
    stored(
        run.folder.parent / "handmade",
        lines(
            *talk("S0001"),
            *talk("S0002", theme="work", revised=-1),
            *talk("S0003", theme="work", revised=2, wave=1),
        ),
    )
    return "handmade"


@pytest.fixture(scope="module")
def url(run: Run, handmade: str) -> Iterator[str]:
    with serving(make_app(RunList(run.folder.parent))) as address:
        yield address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with sound_page(browser) as page:
        yield page


def opened(page: Page, url: str, run: str, shown: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{url}/run/{run}{shown}")
    page.wait_for_selector(DRAWN)


def shows(page: Page, session: str) -> None:
    page.wait_for_selector(f'main[data-drawn="{session}"]')


def listed(page: Page) -> list[str]:
    return page.locator(".list strong:visible").all_inner_texts()


def test_from_the_list_of_runs_to_a_session(page: Page, url: str, run: Run) -> None:
    page.goto(url)
    page.get_by_role("link", name=run.name, exact=True).click()
    page.wait_for_selector(DRAWN)
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs / synthesis")
    expect(page.locator("#head")).to_contain_text("6 of 6 sessions in 3 of 3 waves")
    expect(page.locator(".roles li")).to_have_count(6)
    assert listed(page) == [f"S000{number}" for number in range(1, 7)]
    expect(page.get_by_role("heading", level=2)).to_contain_text("S0001: sleep")


def test_filters(page: Page, url: str, handmade: str) -> None:
    opened(page, url, handmade)
    page.get_by_label("Theme").select_option("work")
    assert listed(page) == ["S0002", "S0003"]
    expect(page.get_by_role("navigation").get_by_role("status")).to_have_text("2 of 3 sessions")
    page.get_by_label("revised only").check()
    assert listed(page) == ["S0003"]
    page.get_by_label("Theme").select_option("")
    assert listed(page) == ["S0001", "S0003"]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").click()
    shows(page, "S0003")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_label("revised only").uncheck()
    page.get_by_role("button", name="Before").click()
    shows(page, "S0002")


def test_a_link_shows_the_same(page: Page, url: str, handmade: str) -> None:
    opened(page, url, handmade, "#S0002")
    shows(page, "S0002")
    expect(page.locator('[aria-current="true"]')).to_contain_text("S0002")
    opened(page, url, handmade, "#S0001:4")
    expect(page.locator(".turns .now")).to_have_attribute("data-message", "4")
    opened(page, url, handmade, "#strategies")
    expect(page.get_by_role("tab", name="Strategies")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="What the counselor has learned")).to_be_visible()
    opened(page, url, handmade, "#S0999")
    expect(page.locator("#panel")).to_contain_text(
        "S0999 is not among the 3 sessions that are written; it appears here as soon as its wave is complete."
    )


def test_a_strategy_and_where_it_comes_from(page: Page, url: str, run: Run) -> None:
    first = syntheses.overview(History.of(run))["strategies"][0]
    opened(page, url, run.name, f"#{first['id']}")
    expect(page.locator(".learned .now")).to_contain_text(first["text"])
    page.locator(".learned .now").get_by_role("link", name=first["session"]).first.click()
    shows(page, first["session"])
    learned = page.locator(
        "#panel > section", has=page.get_by_role("heading", name="What was learned from it")
    )
    expect(learned).to_contain_text(first["text"])
    learned.get_by_role("link", name=f"new: {first['id']}").click()
    expect(page.get_by_role("tab", name="Strategies")).to_have_attribute("aria-selected", "true")


def test_draft_critique_and_revision(page: Page, url: str, handmade: str) -> None:
    opened(page, url, handmade, "#S0001")
    expect(page.locator("#panel")).to_contain_text(
        "2 of 3 facts told in 4 lines; 1 of 2 counselor lines revised; nothing new learned."
    )
    revised = page.locator('[data-message="2"] .loop')
    assert revised.get_by_role("heading", level=4).all_inner_texts() == [
        "Draft",
        "Critique, least: listening 2",
        "Revision, as it was said",
    ]
    assert [text.strip() for text in revised.locator("del .said").all_inner_texts()] == [
        "Why did that happen,"
    ]
    assert [text.strip() for text in revised.locator("ins .said").all_inner_texts()] == [
        "You say so. What happened,"
    ]
    draft = revised.locator("> div").first
    assert draft.locator("ins").count() == 0
    assert draft.inner_text().split("\n") == ["Draft", "removed:", "Why did that happen, number 2?"]
    cut = page.evaluate(
        "() => import('/static/words.js').then((words) => words.sides('Say more. Or not?', 'Say more.').map((side) => side.textContent))"
    )
    assert cut == ["Say more. removed: Or not?", "Say more."]
    expect(revised).to_contain_text("Give it back first.")
    revised.locator("summary").click()
    expect(revised.locator(".bars")).to_contain_text("sympathy")
    kept = page.locator('[data-message="4"] .loop')
    expect(kept).to_contain_text("The corrector gave no usable line: the draft was said.")
    opened(page, url, handmade, "#S0002")
    expect(page.locator(".turns .loop")).to_have_count(0)
    expect(page.locator(".turns li.counselor .line")).to_have_count(2)


def test_without_a_corrector_the_page_says_so(page: Page, tmp_path: Path) -> None:
    run = written_apart(tmp_path)
    with site(page, make_app(RunList(run))) as address:
        opened(page, address, "alone")
        expect(page.locator("#head .out")).to_have_count(1)
        expect(page.locator("#head .out")).to_contain_text("corrector")
        expect(page.locator(".loop").first).to_contain_text(
            "The corrector takes no part in this synthesis: the draft was said."
        )


def written_apart(folder: Path) -> Path:
    """A synthesis by hand whose settings leave the corrector out."""
    manifest = json.loads(
        (stored(folder / "with", lines(*talk("S0001", revised=0))) / "synthesis.json").read_text(
            encoding="utf-8"
        )
    )
    manifest["synthesis"]["without"] = ["corrector"]
    return stored(folder / "alone", lines(*talk("S0001", revised=0)), manifest)


def test_the_picture_of_how_a_client_opens_up(page: Page, url: str, handmade: str) -> None:
    opened(page, url, handmade, "#S0001")
    picture = page.get_by_role("img", name=re.compile("facts told"))
    assert (
        picture.get_attribute("aria-label")
        == "2 of 3 facts told: describes in line 1, describes in line 3; 1 of 2 counselor lines revised"
    )
    assert [picture.locator(f"g.{kind} > *").count() for kind in ("told", "mended", "kept")] == [
        2,
        1,
        1,
    ]
    left, right = (
        float(dot.get_attribute("cx") or "") for dot in picture.locator("g.told > circle").all()
    )
    assert left < right
    expect(picture).to_contain_text("2 of 3")
    page.get_by_text("The situation and the client's file").click()
    rows = page.get_by_role("region", name="File").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("invented")
    expect(rows.nth(2)).to_contain_text("never")
    rows.nth(1).get_by_role("link", name="line 3").click()
    expect(page.locator(".turns .now")).to_have_attribute("data-message", "3")


def test_keys(page: Page, url: str, run: Run) -> None:
    opened(page, url, run.name)
    for key, session in (("j", "S0002"), ("j", "S0003"), ("k", "S0002"), ("k", "S0001")):
        page.keyboard.press(key)
        shows(page, session)
    page.keyboard.press("k")
    expect(page.locator("#live")).to_have_text("S0001: sleep")
    page.get_by_role("tab", name="Session").focus()
    page.keyboard.press("ArrowRight")
    shows(page, "strategies")
    expect(page.get_by_role("tab", name="Strategies")).to_be_focused()
    expect(page.get_by_role("tab", name="Session")).to_have_attribute("tabindex", "-1")
    page.keyboard.press("ArrowRight")
    shows(page, "S0001")
    page.locator('[aria-current="true"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    shows(page, "S0002")
    expect(page.locator('[aria-current="true"]')).to_be_focused()
    page.get_by_label("Theme").focus()
    page.keyboard.press("j")
    expect(page.locator(DRAWN)).to_have_attribute("data-drawn", "S0002")


def test_the_skip_link_keeps_the_address(page: Page, url: str, run: Run) -> None:
    opened(page, url, run.name, "#S0003")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    assert page.url.endswith("#S0003")


def test_prompts_come_when_they_are_asked_for(page: Page, url: str, run: Run) -> None:
    name, message = next(
        (one.id, line.message) for one in sessions_of(run) for line in one.lines if line.revised
    )
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    opened(page, url, run.name, f"#{name}")
    assert not any("/asked/" in one for one in fetched)
    line = page.locator(f'[data-message="{message}"] .asked')
    line.get_by_text("prompts and replies").click()
    expect(line.locator("details b")).to_have_text(["support", "evaluate", "correct"])
    assert sum("/asked/" in one for one in fetched) == 1
    for number in range(3):
        line.locator("details summary").nth(number).click()
    expect(line.get_by_role("region", name=f"Line {message}, evaluate: user")).to_contain_text(
        "Person:"
    )
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.get_by_text("The situation and the client's file").click()
    page.locator("#panel > details .asked").get_by_text("prompts and replies").click()
    expect(page.get_by_role("region", name="The file, extract: reply")).to_contain_text("facts")


def test_a_synthesis_that_grows(page: Page, tmp_path: Path) -> None:
    run = written(tmp_path, 1)
    with site(page, make_app(RunList(run.folder))) as address:
        opened(page, address, run.name, "#S0002")
        expect(page.locator("#head")).to_contain_text("2 of 6 sessions in 1 of 3 waves")
        page.get_by_text("The situation and the client's file").click()
        focused = page.get_by_role("button", name="Before")
        focused.focus()
        page.evaluate("() => { window.before = document.querySelector('.turns li'); }")
        go_on(run, 1)
        expect(page.locator(".list strong")).to_have_count(4, timeout=15_000)
        expect(page.locator("#head")).to_contain_text("4 of 6 sessions in 2 of 3 waves")
        expect(page.locator("#live")).to_have_text("4 of 6 sessions are written")
        expect(focused).to_be_focused()
        assert page.evaluate("() => window.before.isConnected"), "what is read was drawn again"
        expect(page.get_by_role("region", name="File")).to_be_visible()
        page.goto(f"{address}/run/{run.name}#S0005")
        expect(page.locator("#panel")).to_contain_text("S0005 is not among the 4 sessions")
        go_on(run)
        expect(page.get_by_role("heading", level=2)).to_contain_text(
            "S0005: couple", timeout=15_000
        )


def test_a_synthesis_of_which_nothing_is_written_yet(page: Page, tmp_path: Path) -> None:
    run = written(tmp_path, 0)
    with site(page, make_app(RunList(run.folder))) as address:
        opened(page, address, run.name)
        expect(page.locator("#panel")).to_have_text("Nothing is written yet.")
        expect(page.locator(".shelf")).to_contain_text("No wave is complete yet.")
        go_on(run, 1)
        expect(page.get_by_role("heading", level=2)).to_contain_text("S0001", timeout=15_000)


def test_one_file_without_a_server(page: Page, run: Run, tmp_path: Path) -> None:
    log = Log(run.folder)
    log.refresh()
    write_bundle(log, tmp_path / "all.html")
    page.context.set_offline(True)
    for number in range(1, 7):
        page.goto("about:blank")
        page.goto(f"file://{tmp_path}/all.html#S000{number}")
        shows(page, f"S000{number}")
        expect(page.get_by_role("heading", level=2)).to_contain_text(f"S000{number}: ")
        assert page.locator(".turns > li").count() > 3
    page.locator(".turns .asked").first.get_by_text("prompts and replies").click()
    expect(page.get_by_role("region", name="Line 1, seek: reply")).to_be_visible()
    page.keyboard.press("k")
    shows(page, "S0005")
    page.get_by_role("tab", name="Strategies").click()
    expect(page.locator(".learned > li")).to_have_count(
        len(Sessions(History(log)).strategies().all())
    )
    assert page.locator("[role=alert]").count() == 0


def test_a_file_without_prompts_says_so(
    page: Page, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simcounsel.viewer.bundle.PROMPTS_MOST", 1000)
    log = Log(run.folder)
    log.refresh()
    write_bundle(log, tmp_path / "small.html")
    page.goto(f"file://{tmp_path}/small.html")
    page.wait_for_selector(DRAWN)
    page.locator(".turns .asked").first.get_by_text("prompts and replies").click()
    expect(page.locator(".turns .asked .warn")).to_contain_text(
        "This file does not hold that part; open the run with `simcounsel view` to see it."
    )


def spoiled(folder: Path, out: Path) -> Path:
    """The same run in which whatever a model wrote is hostile, and lines are 5,000 characters and more."""
    copy = Path(shutil.copytree(folder, out / "nasty"))
    keys = {
        "text",
        "advice",
        "reasoning",
        "before",
        "reason",
        "theme",
        "cause",
        "skill",
        "situation",
        "reply",
        "content",
        "id",
    }

    def poison(value: Any, key: str = "", kind: str = "") -> Any:
        if isinstance(value, dict):
            return {k: poison(v, k, value.get("kind", kind)) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(v, key, kind) for v in value]
        if (
            not isinstance(value, str)
            or key not in keys
            or (key == "id" and re.fullmatch(r"[KF]\d+", value))
        ):
            return value
        return f"{value[:9]} {NASTY} \u2067abc\u2069" + "y" * (5000 if key == "text" else 0)

    for name in ("events.jsonl", "calls.jsonl"):
        entries = [
            json.loads(line) for line in (copy / name).read_text(encoding="utf-8").splitlines()
        ]
        dumps = {"separators": (",", ":")} if name == "events.jsonl" else {}
        (copy / name).write_text(
            "".join(
                json.dumps(poison(entry), ensure_ascii=False, **dumps) + "\n" for entry in entries
            ),
            encoding="utf-8",
        )
    return copy


READ = """() => ["head", "main", "live"].map((id) => document.getElementById(id)).map((part) => part.textContent
  + [...part.querySelectorAll("[title], [aria-label]")].map((one) => `${one.title} ${one.getAttribute("aria-label")}`).join(" ")).join(" ")"""
"""All that is read on the page, by eyes or by a screen reader."""


def test_hostile_text_does_nothing(page: Page, run: Run, tmp_path: Path) -> None:
    folder = spoiled(run.folder, tmp_path)
    log = Log(folder)
    log.refresh()
    write_bundle(log, tmp_path / "nasty.html")
    with site(page, make_app(RunList(folder))) as address:
        for start in (f"{address}/run/nasty", f"file://{tmp_path}/nasty.html"):
            for shown in ("#S0001", "#strategies"):
                page.goto("about:blank")
                page.goto(start + shown)
                page.wait_for_selector(DRAWN)
                page.evaluate(
                    "document.querySelectorAll('details').forEach(one => one.open = true)"
                )
                expect(page.locator("main")).to_contain_text(
                    "</script><script>window.hurt = 1</script>"
                )
                assert page.evaluate("() => window.hurt") is None
                bad = page.locator("main img:not(svg), main script, main a[href^='javascript']")
                assert bad.count() == 0
                assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.evaluate(READ))
                for width in (1280, 390):
                    page.set_viewport_size({"width": width, "height": 844})
                    assert page.evaluate(
                        "() => document.documentElement.scrollWidth <= innerWidth + 1"
                    ), f"{shown} is wider than {width}"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_accessible(
    browser: Browser, url: str, run: Run, handmade: str, scheme: Any, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    for name, shown in (
        (run.name, "#S0003"),
        (run.name, "#S0003:2"),
        (run.name, "#strategies"),
        (handmade, "#S0001"),
        (handmade, "#S0999"),
    ):
        opened(page, url, name, shown)
        for opening in ("as it is", "all open"):
            if opening == "all open":
                page.evaluate(
                    "() => { for (const one of document.querySelectorAll('details:not(.asked)')) one.open = true; }"
                )
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1"), (
                f"{shown} is wider than the window"
            )
            found = Axe().run(page)
            assert found.violations_count == 0, (
                f"{name}{shown}, {opening}\n{found.generate_report()}"
            )
    moving = "() => [...document.querySelectorAll('*')].filter((one) => { const style = getComputedStyle(one); return style.transitionDuration !== '0s' || style.animationName !== 'none'; }).length"
    assert page.evaluate(moving) == 0
    context.close()


def test_dark_mode_is_dark(browser: Browser, url: str, run: Run) -> None:
    lightness = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        opened(page, url, run.name)
        colors = page.evaluate(
            "() => [getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.querySelector('.line, .loop')).backgroundColor]"
        )
        lightness[scheme] = [
            sum(int(part) for part in re.findall(r"\d+", color)[:3]) for color in colors
        ]
        context.close()
    assert all(
        light > 600 > 200 > dark
        for light, dark in zip(lightness["light"], lightness["dark"], strict=True)
    )


def test_the_picture_is_readable_on_a_phone(browser: Browser, url: str, run: Run) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    opened(page, url, run.name)
    size = "() => { const svg = document.querySelector('.course svg'); return 11 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; }"
    assert page.evaluate(size) > 10
    page.set_viewport_size({"width": 1280, "height": 844})
    page.wait_for_function(
        "() => document.querySelector('.course svg').viewBox.baseVal.width > 400"
    )
    assert page.evaluate(size) > 9
    context.close()


def test_a_damaged_log(page: Page, tmp_path: Path) -> None:
    entries = [
        entry
        for entry in lines(*talk("S0001"), *talk("S0002"))
        if (entry["kind"], entry.get("session"))
        not in (("extracted", "S0001"), ("session_ended", "S0002"))
    ]
    stored(tmp_path / "lost", entries, {})
    with site(page, make_app(RunList(tmp_path))) as address:
        opened(page, address, "lost", "#S0001")
        expect(page.locator("main")).to_contain_text(
            "synthesis.json is missing: settings, situations and models are not known"
        )
        expect(page.locator("#head")).to_contain_text("2 of ? sessions in 1 of ? waves")
        expect(page.locator("#panel")).to_contain_text(
            "The log lost the beginning of this session: its theme and the client's file are not known."
        )
        expect(page.locator(".turns > li")).to_have_count(4)
        page.keyboard.press("j")
        shows(page, "S0002")
        expect(page.locator("#panel")).to_contain_text("The log lost the end of this session.")
        expect(page.locator(".list")).to_contain_text("its end is missing")


def test_two_syntheses_are_not_compared_but_told_why(
    page: Page, browser: Browser, url: str, run: Run, handmade: str
) -> None:
    strange = browser.new_page()  # its console notes the refusal
    strange.goto(url)
    for name in (run.name, handmade):
        strange.get_by_label(f"choose {name}", exact=True).check()
    strange.get_by_role("button", name="Compare two").click()
    alert = strange.get_by_role("alert")
    expect(alert).to_contain_text("are syntheses of dialogues: nobody lives through days there")
    expect(alert).to_contain_text("Open each for itself")
    strange.close()


def test_thousands_of_sessions_stay_quick(page: Page, tmp_path: Path) -> None:
    """Milliseconds are those of two busy cores; without what keeps the list cheap each would be several times as much."""
    some = lines(*talk("S0001"))
    numbered = (
        (entry | {"session": f"S{number:04d}", "tick": number // 300})
        for number in range(1, 5701)
        for entry in some
    )
    stored(tmp_path / "many", numbered)
    with site(page, make_app(RunList(tmp_path))) as address:
        opened(page, address, "many", "#S3000")
        expect(page.locator(".shelf [role=status]")).to_have_text("5700 sessions")
        expect(page.locator('[aria-current="true"]')).to_be_in_viewport()
        expect(page.locator('.list [tabindex="0"]')).to_have_count(1)
        took = page.evaluate("""async () => {
          const main = document.querySelector("main");
          const steps = [];
          for (let number = 3001; number <= 3015; number += 1) {
            const began = performance.now();
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
            while (main.dataset.drawn !== `S${number}`) await new Promise((done) => requestAnimationFrame(done));
            steps.push(performance.now() - began);
          }
          return steps.sort((a, b) => a - b)[7];
        }""")
        assert took < 500
        page.get_by_label("revised only").check()
        page.get_by_label("Theme").select_option("sleep")
        expect(page.locator(".shelf [role=status]")).to_have_text("5700 sessions")
