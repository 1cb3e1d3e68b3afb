"""Who sits in a seat sees what the resident knows, and nothing else: over HTTP, and a whole session in a browser."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from simcounsel.engine.simulation import Simulation
from simcounsel.events import ConversationEnded, Said
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.viewer.human import Board
from simcounsel.viewer.turns import (
    NOTES,
    NOTES_CHARACTERS,
    known,
    seat_app,
    taking_part,
    turn_routes,
)
from tests.engine.test_secrets import planted
from tests.stage import begun, happened, live, switchboard, tiny
from tests.viewer.conftest import sound_page

if TYPE_CHECKING:  # in [test-all]
    from playwright.sync_api import Browser, Page, Response


def of(run: Run, who: str = "Miriam") -> TestClient:
    board = Board(who=who, seconds=5)
    app = seat_app(run.folder, run.world, who, turn_routes(board, run.world))
    return TestClient(app, base_url="http://127.0.0.1")


def test_what_a_counselor_knows_is_the_next_meeting_and_what_was_said(tmp_path: Path) -> None:
    before = of(begun(tmp_path / "a")).get("/api/seat").json()
    assert (before["who"], before["role"], before["past"], before["over"]) == (
        "Miriam",
        "counselor",
        [],
        False,
    )
    assert before["next"]["with"] == "Ines" and before["next"]["when"].endswith("09:00")
    run = live(tmp_path / "b", tiny(), ticks=3)
    after = of(run).get("/api/seat").json()
    lines = [[one.who, one.text] for one in happened(run, Said)]
    assert (
        after["past"][0]["with"] == "Ines"
        and after["past"][0]["lines"] == lines[: len(after["past"][0]["lines"])]
    )
    assert after["now"] != before["now"]


def test_nothing_of_the_client_s_file_nor_of_the_study_is_told(tmp_path: Path) -> None:
    world, plant = planted()
    run = live(tmp_path, world, ticks=6)
    told = json.dumps(known(run.world, Log(run.folder), "Miriam"))
    spoken = " ".join(one.text for one in happened(run, Said))
    assert [word for word in plant.secrets if word in told and word not in spoken] == []
    for hidden in (run.folder.name, run.world.condition, '"seed"', "persona"):
        assert hidden not in told
    own = json.dumps(known(run.world, Log(run.folder), "Ines"))
    assert any(word in own for word in plant.secrets), (
        "who plays the client is told the client's story"
    )


def test_nothing_but_the_seat_is_served(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    client = of(run)
    assert client.get("/").status_code == 200
    for closed in (
        "/api/runs", f"/run/{run.folder.name}", f"/api/runs/{run.folder.name}/overview", f"/api/runs/{run.folder.name}/person/Ines",
        f"/api/runs/{run.folder.name}/calls/0", "/compare", "/static/run.js", "/static/index.html", "/static/..%2Fseat.py",
    ):  # fmt: skip
        assert client.get(closed).status_code == 404, closed
    for file in (
        "seat.js",
        "turn.js",
        "notice.js",
        "dom.js",
        "style.css",
        "seat.css",
        "turn.css",
        "notice.css",
    ):
        assert client.get(f"/static/{file}").status_code == 200, file


def test_notes_are_kept_with_the_run(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    client = of(run)
    assert client.post("/api/seat/notes", json={"notes": "She sleeps badly. 失眠"}).json() == {
        "kept": True
    }
    assert client.get("/api/seat").json()["notes"] == "She sleeps badly. 失眠"
    assert (run.folder / NOTES / "Miriam.txt").read_text(
        encoding="utf-8"
    ) == "She sleeps badly. 失眠"
    for wrong in ({"notes": "x" * (NOTES_CHARACTERS + 1)}, {"notes": 3}, {}):
        assert client.post("/api/seat/notes", json=wrong).status_code == 422
    assert Run.open(run.folder).ticks_done() == 1, "the run is as it was"


@pytest.fixture(params=[1280, 390], ids=["desktop", "phone"])
def page(browser: "Browser", request: pytest.FixtureRequest) -> Iterator["Page"]:
    with sound_page(browser, request.param) as page:
        yield page


@pytest.mark.slow(8)
def test_a_whole_session_from_the_seat(page: "Page", tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    world, plant = planted()
    run = begun(tmp_path, world)
    heard: list[str] = []

    def listen(response: "Response") -> None:
        if response.url.startswith("http"):
            heard.append(response.url)
            if "/api/" in response.url and response.ok:
                heard.append(response.text())

    page.on("response", listen)
    board, models = Board(who="Miriam", seconds=60), switchboard(Scripted())
    with taking_part(run.folder, models, board, 0) as address:
        page.goto(address)
        expect(page.get_by_role("heading", name="You speak for Miriam")).to_be_visible()
        expect(page.get_by_label("What comes")).to_contain_text("You will next meet Ines")
        notes = page.get_by_label("Your notes", exact=True).locator("textarea")
        notes.fill("Ask about the nights.")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
        living = threading.Thread(
            target=lambda: Simulation(run.world, run=run, models=models).run(3), daemon=True
        )
        living.start()
        box, send = page.locator(".turn textarea"), page.locator(".turn button[type=submit]")
        box.wait_for(timeout=30_000)
        expect(page.get_by_label("What comes")).to_be_hidden()
        box.fill("What is a night like")
        page.reload()
        box.wait_for(timeout=30_000)
        expect(box).to_have_value("What is a night like")  # typing is saved
        expect(notes).to_have_value("Ask about the nights.", timeout=10_000)
        done: set[int] = set()
        while living.is_alive():
            turn = board.pending
            if turn is None or turn.number in done:
                page.wait_for_timeout(30)
                continue
            page.locator(f'.turn[data-turn="{turn.number}"]:not([hidden])').wait_for(timeout=30_000)
            box.fill(f"Line {len(done)}: what is that like, Ines?")
            if len(done) > 1:
                page.get_by_label("Say goodbye with this line").check()
            send.click()
            done.add(turn.number)
        living.join(30)
        assert not living.is_alive()
        earlier = page.get_by_label("Your conversations")
        expect(earlier.locator("details")).not_to_have_count(0, timeout=10_000)
        assert "Line 0: what is that like, Ines?" in str(earlier.text_content())
        seen = " ".join([str(page.content()), *heard])
        page.goto("about:blank")
    spoken = " ".join(one.text for one in happened(run, Said))
    assert [word for word in plant.secrets if word in seen and word not in spoken] == []
    assert run.folder.name not in seen and run.world.condition not in seen
    assert {one.source for one in happened(run, Said) if one.who == "Miriam"} == {"human"}
    assert happened(run, ConversationEnded)
