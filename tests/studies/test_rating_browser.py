"""Raters' journeys in a browser: from link to CSV, away and back, by keyboard, offline, past hostile text."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="pip install -e '.[test-all]'")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from simcounsel.studies.answers import import_answers, last_answers, read_answers
from simcounsel.studies.platforms import write_for
from simcounsel.studies.site import make_rating_app
from simcounsel.studies.study import Study, open_study
from simcounsel.studies.table import write_csv
from tests.studies.studies import HOSTILE, instrument, lived, made
from tests.studies.test_rating_kinds import recalling
from tests.viewer.conftest import serving, sound_page

pytestmark = pytest.mark.slow

PLAIN = "The kettle is on and the rain has stopped."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in which nice things are said."""
    folder = tmp_path_factory.mktemp("journeys") / "runs"
    lived(folder, PLAIN, condition="everyone")
    return folder


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in which the two ways of recall differ."""
    folder = tmp_path_factory.mktemp("remembering") / "runs"
    recalling(folder)
    return folder


@pytest.fixture(scope="module")
def hostile_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in which everybody speaks, acts and remembers in code."""
    folder = tmp_path_factory.mktemp("hostile") / "runs"
    lived(folder, HOSTILE)
    recalling(folder, hostile=True)
    return folder


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    made(runs, tmp_path / "study")
    return tmp_path / "study"


@contextmanager
def visiting(context: BrowserContext, address: str) -> Iterator[Page]:
    """A page; when it is left, nothing has gone wrong in it: no error, no breach of its policy."""
    page = context.new_page()
    wrong: list[str] = []
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    yield page
    assert not wrong
    page.close()


def link(base: str, study: Study, rater: int = 0) -> str:
    return f"{base}/rate/{study.raters[rater].token}"


def answer(page: Page, kind: int, real: int | str, comment: str = "") -> None:
    """Answer the two questions of the test instrument with the mouse, and go on."""
    page.locator("#question-kind .rate-point").nth(kind - 1).click()
    if real == "none":
        page.locator("#question-real .rate-none").click()
    else:
        page.locator("#question-real .rate-point").nth(int(real) - 1).click()
    page.get_by_label("Comment").fill(comment)
    page.locator("form [type=submit]").click()


def test_from_the_link_to_the_csv(folder: Path, browser: Browser) -> None:
    study = open_study(folder)
    count = len(study.items)
    with (
        serving(make_rating_app(folder)) as base,
        visiting(browser.new_context(), link(base, study)) as page,
    ):
        expect(page.get_by_text("Then answer.")).to_be_visible()
        page.get_by_role("button", name="Begin").click()
        for number in range(count):
            expect(
                page.get_by_role("heading", name=f"Conversation {number + 1} of {count}")
            ).to_be_focused()
            expect(page.get_by_role("region", name="The conversation")).to_contain_text(PLAIN)
            answer(page, 1 + number % 5, "none" if number == 0 else 11, f"note, {number}")
        expect(page.get_by_role("heading", name="All done. Thank you!")).to_be_visible()
        expect(page.get_by_text(f"{count} of {count} rated", exact=True)).to_be_visible()
    assert write_csv(folder, folder / "r.csv") == 2 * count
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        table = {(row["item"], row["question"]): row for row in csv.DictReader(file)}
    for number, id in enumerate(study.raters[0].order):
        kind, real = table[id, "kind"], table[id, "real"]
        assert (kind["value"], real["value"]) == (str(1 + number % 5), "" if number == 0 else "11")
        assert (kind["position"], kind["comment"], kind["rater"]) == (
            str(number + 1),
            f"note, {number}",
            "rater-01",
        )
        assert 0 < float(kind["seconds"]) < 60


def test_one_can_stop_and_return(folder: Path, browser: Browser) -> None:
    study, context = open_study(folder), browser.new_context()
    with serving(make_rating_app(folder)) as base:
        with visiting(context, link(base, study)) as page:
            page.get_by_role("button", name="Begin").click()
            answer(page, 2, 7)
            expect(page.get_by_role("heading", name="Conversation 2 of")).to_be_visible()
            page.locator("#question-kind .rate-point").nth(4).click()
            page.get_by_label("Comment").fill("half done")
        with visiting(context, link(base, study)) as page:
            page.get_by_role("button", name="Go on with number 2").click()
            expect(page.get_by_role("radio", name="5, yes")).to_be_checked()
            expect(page.get_by_label("Comment")).to_have_value("half done")
        with visiting(browser.new_context(), link(base, study)) as page:
            page.get_by_role("button", name="Number 1, rated", exact=True).click()
            expect(page.get_by_role("radio", name="2 of 5")).to_be_checked()
            expect(page.get_by_role("radio", name="7 of 11")).to_be_checked()
            page.locator("#question-kind .rate-point").nth(2).click()
            page.get_by_role("button", name="Save the change").click()
            expect(page.get_by_role("heading", name="Conversation 2 of")).to_be_visible()
        with visiting(context, link(base, study, 1)) as page:
            expect(page.get_by_role("button", name="Begin")).to_be_visible()
    assert [answer.answers["kind"] for answer in read_answers(folder)] == [2, 3]


def test_by_keyboard_alone(folder: Path, browser: Browser) -> None:
    study = open_study(folder)
    with (
        serving(make_rating_app(folder)) as base,
        visiting(browser.new_context(), link(base, study)) as page,
    ):
        press = page.keyboard.press
        press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        press("Tab")
        expect(page.get_by_role("button", name="Begin")).to_be_focused()
        press("Enter")
        expect(page.get_by_role("heading", name="Conversation 1")).to_be_focused()
        press("Tab")
        expect(page.get_by_role("region", name="The conversation")).to_be_focused()
        press("Tab")
        press("Space")
        press("ArrowRight")
        press("ArrowRight")
        expect(page.get_by_role("radio", name="3 of 5")).to_be_checked()
        assert (
            page.evaluate(
                "getComputedStyle(document.activeElement.nextElementSibling).outlineStyle"
            )
            == "solid"
        )
        page.locator("form [type=submit]").focus()
        press("Enter")
        expect(page.get_by_role("alert")).to_have_text("One question has no answer yet.")
        expect(page.locator("#question-real input").first).to_be_focused()
        press("ArrowLeft")
        expect(
            page.locator("#question-real").get_by_role("radio", name="cannot say")
        ).to_be_checked()
        press("Tab")
        expect(page.get_by_label("Comment")).to_be_focused()
        page.keyboard.type("typed")
        press("Tab")
        press("Tab")
        press("Enter")
        expect(page.get_by_role("heading", name="Conversation 2")).to_be_focused()
        expect(page.get_by_role("status")).to_contain_text("Saved. 1 of")
    (kept,) = read_answers(folder)
    assert (kept.answers, kept.comment) == ({"kind": 3, "real": None}, "typed")


def test_a_server_that_is_gone_loses_nothing(folder: Path, browser: Browser) -> None:
    study, context = open_study(folder), browser.new_context()
    with serving(make_rating_app(folder)) as base:
        page = context.new_page()
        page.goto(link(base, study))
        page.get_by_role("button", name="Begin").click()
        context.set_offline(True)
        answer(page, 4, 4, "kept")
        expect(page.get_by_role("alert")).to_contain_text(
            "Not saved: the server cannot be reached. Your answers are still here"
        )
        context.set_offline(False)
        page.locator("form [type=submit]").click()
        expect(page.get_by_role("heading", name="Conversation 2")).to_be_visible()
    assert [answer.comment for answer in read_answers(folder)] == ["kept"]


@pytest.mark.parametrize("storage", [True, False])
def test_the_offline_file_hands_over_its_answers(
    folder: Path, tmp_path: Path, browser: Browser, storage: bool
) -> None:
    study, context = open_study(folder), browser.new_context(offline=True)
    if not storage:
        context.add_init_script(
            "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
        )
    file, count = (folder / "offline" / "rater-02.html").as_uri(), len(study.items)
    with visiting(context, file) as page:
        expect(page.get_by_role("button", name="Download answers")).to_have_count(0)
        assert (
            page.get_by_text("Please download your answers before you close").is_visible()
            is not storage
        )
        page.get_by_role("button", name="Begin").click()
        answer(page, 1, "none")
        if storage:
            page.goto(file)
            page.get_by_role("button", name="Go on with number 2").click()
        for number in range(1, count):
            answer(page, 3, number, f"offline {number} “quoted” \u2028 end")
        with page.expect_download() as coming:
            page.locator("main").get_by_role("button", name="Download answers").click()
        expect(page.get_by_text("Downloaded.", exact=True)).to_be_visible()
    coming.value.save_as(tmp_path / coming.value.suggested_filename)
    back = tmp_path / f"answers-{study.study}-rater-02.jsonl"
    records = [
        json.loads(record) for record in back.read_text(encoding="utf-8").split("\n") if record
    ]
    fields = {"study", "rater", "item", "position", "answers", "comment", "time", "seconds"}
    assert [record["position"] for record in records] == list(range(1, count + 1)) and all(
        set(record) == fields for record in records
    )
    assert import_answers(folder, [back]).new == count
    assert {id for _, id in last_answers(read_answers(folder))} == {item.id for item in study.items}
    assert write_csv(folder, folder / "r.csv") == 2 * count


def test_two_tabs_of_an_offline_file_keep_both_answers(folder: Path, browser: Browser) -> None:
    context, file = browser.new_context(), (folder / "offline" / "rater-01.html").as_uri()
    with visiting(context, file) as one, visiting(context, file) as two:
        for page in (one, two):
            page.get_by_role("button", name="Begin").click()
        answer(one, 1, 1)
        expect(one.get_by_role("heading", name="Conversation 2")).to_be_visible()
        answer(two, 2, 2)
        expect(two.get_by_role("heading", name="Conversation 2")).to_be_visible()
        two.wait_for_function(  # Chromium tells other tabs of a new key a moment later
            "Object.keys(localStorage).filter((key) => key.includes(':answer:')).length === 2"
        )
        with two.expect_download() as coming:
            two.get_by_role("button", name="Download answers").click()
        assert len(coming.value.path().read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("about", "offline"),
    [("transcripts", False), ("personas", True), ("persona and talk", False), ("recalls", True)],
)
def test_hostile_text_does_nothing(
    hostile_runs: Path, tmp_path: Path, browser: Browser, about: str, offline: bool
) -> None:
    items = [
        {
            "id": "kind",
            "text": HOSTILE,
            "low": "<b>no</b>",
            "high": "</script><script>window.caught=3</script>",
        }
    ]
    study = made(
        hostile_runs,
        tmp_path,
        instrument(about=about, title="</title><script>1", instructions=HOSTILE, items=items),
    )
    with serving(make_rating_app(tmp_path)) as base:
        address = (
            (tmp_path / "offline" / "rater-01.html").as_uri() if offline else link(base, study)
        )
        with visiting(browser.new_context(), address) as page:
            page.get_by_role("button", name="Begin").click()
            shown = page.locator(".rate-text .said").filter(has_text="window.caught = 1").first
            expect(shown).to_contain_text("<script>window.caught = 1</script>")
            text = shown.inner_text()
            assert "\u202e" not in text and "\x00" not in text and "\u2400" in text
            assert page.evaluate("window.caught") is None
            assert page.locator("main script, main img, main b:not(.said), legend *").count() == 0
            page.locator(".rate-point").first.click()
            page.get_by_label("Comment").fill(HOSTILE.replace("\x00", ""))
            page.locator("form [type=submit]").click()
            expect(page.locator(".rate-bar")).to_contain_text("1 of ")
            if len(study.items) > 1:
                page.locator("details summary").click()
            page.locator(".rate-all button").first.click()
            expect(page.get_by_label("Comment")).to_have_value(HOSTILE.replace("\x00", ""))
            assert page.evaluate("window.caught") is None


def violations(page: Page) -> list[Any]:
    """What axe-core finds, in short."""
    return [
        (found["id"], found["nodes"][0]["html"], found["nodes"][0]["any"][:1])
        for found in Axe().run(page).response["violations"]
    ]


@pytest.mark.parametrize(
    ("about", "width", "scheme"),
    [
        ("transcript_quality", 1440, "light"),
        ("transcript_quality", 390, "dark"),
        ("persona_change", 390, "light"),
        ("recall_aptness", 390, "light"),
        ("persona_consistency", 1440, "dark"),
    ],
)
def test_everybody_can_use_it(
    remembering: Path, tmp_path: Path, browser: Browser, about: str, width: int, scheme: Any
) -> None:
    study = made(remembering, tmp_path, about)
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    with serving(make_rating_app(tmp_path)) as base, visiting(context, link(base, study)) as page:
        assert violations(page) == []
        page.get_by_role("button", name="I agree to take part").click()
        assert violations(page) == []
        page.get_by_role("button", name="Begin").click()
        if study.instrument.training:
            for question in page.locator("fieldset").all():
                question.locator(".rate-none").click()
            page.locator("form [type=submit]").click()
            assert violations(page) == []
            page.get_by_role("button", name="Go on to the first").click()
        page.locator(".rate-point").nth(1).click()
        page.locator("form [type=submit]").click()
        page.locator("details summary").click()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for question in page.locator("fieldset:not(#question-attention)").all():
            question.locator(".rate-none").click()
        if page.locator("#question-attention").count():
            page.locator("#question-attention .rate-point").first.click()
        page.locator("form [type=submit]").click()
        expect(page.locator(".rate-bar")).to_contain_text("1 of ")
        assert violations(page) == []


def test_eleven_points_fit_on_a_phone(folder: Path, browser: Browser) -> None:
    with visiting(
        browser.new_context(viewport={"width": 390, "height": 800}),
        (folder / "offline" / "rater-01.html").as_uri(),
    ) as page:
        page.get_by_role("button", name="Begin").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        box = page.locator("#question-real .rate-point").last.bounding_box()
        assert box is not None and box["width"] >= 24 and box["height"] >= 24
        assert violations(page) == []


@pytest.mark.parametrize("offline", [False, True])
def test_from_consent_over_an_example_to_a_check(
    chromium: Browser, runs: Path, tmp_path: Path, offline: bool
) -> None:
    """What comes before the items, on a phone in dark colors; whoever declines sees nothing."""
    shown = {"lines": [{"speaker": "A", "text": HOSTILE}]}
    fields: dict[str, Any] = {"consent": "standard", "about_you": "standard", "checks_every": 1}
    fields["training"] = {"shown": shown, "answers": {"kind": 4}, "because": {"kind": HOSTILE}}
    study = made(runs, tmp_path / "study", instrument(**fields))
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    with serving(make_rating_app(tmp_path / "study")) as base:
        file = tmp_path / "study" / "offline" / f"{study.raters[0].name}.html"
        with visiting(context, f"file://{file}" if offline else link(base, study)) as page:
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            page.get_by_role("button", name="I do not take part").click()
            expect(page.locator("h1")).to_have_text("You do not take part")
            page.get_by_role("button", name="after all").click()
            expect(page.locator("h1")).to_have_text("What is said")
            page.get_by_role("button", name="Begin").click()
            expect(page.locator("h1")).to_contain_text("An example")
            answer(page, 2, 3)
            expect(page.get_by_label("How it could be rated")).to_contain_text(
                "You: 2 · an expert: 4"
            )
            assert page.evaluate("() => window.caught") is None
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
            page.get_by_role("button", name="Go on to the first").click()
            expect(page.locator("h1")).to_contain_text("1 of")
            answer(page, 2, 3)
            expect(page.get_by_role("alert")).to_contain_text("One question has no answer yet")
            first = study.raters[0].order[0]
            page.locator("#question-attention .rate-point").nth(
                study.raters[0].checks[first] - 1
            ).click()
            page.get_by_role("button", name="Save").first.click()
            expect(page.locator("#head")).to_contain_text("1 of")
            page.reload()
            expect(page.get_by_role("button", name="Go on with number 2")).to_be_visible()
    context.close()


def test_a_study_for_jspsych_runs_from_a_disk_and_loads_nothing_else(
    runs: Path, browser: Browser, tmp_path: Path
) -> None:
    made(runs, tmp_path / "study", instrument(consent="standard"))
    file = write_for("jspsych", tmp_path / "study")
    asked: list[str] = []
    with sound_page(browser) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        page.get_by_role("button", name="I agree to take part").click()
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("B is kind.")).to_be_visible()
    assert asked == [file.as_uri()]
