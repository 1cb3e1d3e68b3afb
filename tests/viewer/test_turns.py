"""A human takes part: the board, its routes, and whole runs in which lines come over HTTP, late or not at all."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from simcounsel.agents.facts import LineFacts
from simcounsel.agents.tasks import LineAnswer
from simcounsel.danger.hearing.reminding import reminder
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SimcounselError
from simcounsel.events import ConversationEnded, Remembered, Said, Warned
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.safety.open_danger import OpenDanger
from simcounsel.scripted import Script, Scripted
from simcounsel.viewer.forms import Forms
from simcounsel.viewer.guard import POSTS
from simcounsel.viewer.human import LINE_CHARACTERS, MORE_TIME, Board, Human, Refused
from simcounsel.viewer.turns import board_for, seat_app, taking_part, turn_routes
from tests.commands import Command
from tests.danger.test_in_a_world import DANGER, safety, says
from tests.each import each
from tests.stage import (
    TINY,
    begun,
    changed,
    go_on,
    happened,
    line_facts,
    live,
    log,
    said,
    switchboard,
    tiny,
    view,
)


def asked() -> LineFacts:
    facts = request().facts
    assert isinstance(facts, LineFacts)
    return facts


def request(**more: Any) -> Question:
    facts = line_facts(
        view(said("Miriam", "Hello."), said("Ines", "Hello."), me="Miriam", other="Ines"),
        memories=("Ines sleeps badly.",),
    )
    fields: dict[str, Any] = {
        "verb": "fill",
        "purpose": "line_counselor",
        "who": "Miriam",
        "facts": facts,
        "fallback": None,
    }
    return Question(**(fields | more))


@contextmanager
def waiting(board: Board) -> Iterator["Future[Any]"]:
    """A line that is asked for in another thread, as a run does."""
    line: Future[Any] = Future()
    thread = threading.Thread(
        target=lambda: line.set_result(asyncio.run(board.line(asked()))), daemon=True
    )
    thread.start()
    until(lambda: board.pending is not None)
    yield line
    thread.join(timeout=5)


def until(there: Callable[[], Any], seconds: float = 20) -> Any:
    """What `there` gives as soon as it gives something."""
    end = time.monotonic() + seconds
    while not (found := there()):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.005)
    return found


# the board


def test_a_line_reaches_whoever_waits_for_it() -> None:
    board = Board(who="Miriam", seconds=30)
    with waiting(board) as line:
        turn = board.pending
        assert turn is not None
        assert (turn.number, turn.other, turn.move, turn.may_leave) == (1, "Ines", "clarify", True)
        assert turn.lines == (("Miriam", "Hello."), ("Ines", "Hello."))
        assert 25 < turn.seconds_left <= 30
        board.say(
            1, "  What was\nthat\u202e like?\x07 ", emotion="trust", intensity=4, goodbye=True
        )
        assert line.result(5) == LineAnswer(
            say="What was that like?", emotion="trust", intensity=4, poignancy=4, wish="say goodbye"
        )
    assert board.pending is None


def test_time_runs_out() -> None:
    board = Board(who="Miriam", seconds=0.05)
    assert asyncio.run(board.line(asked())) is None
    assert board.pending is None
    with pytest.raises(Refused, match="this turn is over"):
        board.say(1, "Too late.")


def test_time_can_be_prolonged_but_not_for_ever() -> None:
    board = Board(who="Miriam", seconds=0.2)
    with waiting(board) as line:
        for count in range(MORE_TIME):
            assert board.prolong(1).prolonged == count + 1
        with pytest.raises(Refused, match="prolonged 10 times"):
            board.prolong(1)
        time.sleep(0.3)
        assert not line.done()
        board.say(1, "Still here.")
        assert line.result(5).say == "Still here."


@each(
    ("text", "more", "why"),
    [
        ("", {}, "nothing was written"),
        (" \n\x00", {}, "nothing was written"),
        ("“…”", {}, "nothing was written"),
        ("\ud800", {}, "nothing was written"),
        ("a" * (LINE_CHARACTERS + 1), {}, "2001 characters"),
        ("Yes.", {"emotion": "rage"}, "no emotion 'rage'"),
        ("Yes.", {"intensity": 0}, "from 1 to 10"),
        ("Yes.", {"intensity": 11}, "from 1 to 10"),
    ],
)
def test_what_is_refused_leaves_the_turn_open(text: str, more: dict[str, Any], why: str) -> None:
    board = Board(who="Miriam", seconds=30)
    with waiting(board) as line:
        with pytest.raises(Refused, match=why):
            board.say(1, text, **more)
        assert board.pending is not None
        board.say(1, "Yes.")
        assert line.result(5).say == "Yes."


def test_others_are_asked_of_the_model() -> None:
    human = Human(Scripted(), Board(who="Miriam", seconds=0.01), Forms({}, "en"))
    for other in (
        request(who="Ines", verb="write", facts=line_facts(view(me="Ines"))),
        request(purpose="move", verb="choose", options=("ask",), facts=None),
    ):
        assert asyncio.run(human.complete(other, None)).source == "generated"
    assert human.name == "scripted"


@each(
    "text",
    [
        "Sí, claro.",
        "- one\n- two",
        "*smiles*",
        "Hello.",
        "I'm sorry, but as an AI I can't.",
        "Miriam: well, Ines: yes",
        "日本語だけ",
    ],
)
def test_a_humans_line_is_not_judged(tmp_path: Path, text: str) -> None:
    """What would send a model's line back is taken from a human, even a line that was said before."""
    run, texts = with_human(tmp_path, lambda turn: {"say": text}, ticks=3)
    assert [event.source for event in happened(run, Said) if event.who == "Miriam"] == [
        "human"
    ] * len(texts)
    assert not happened(run, Warned)


# over HTTP


@pytest.fixture
def site(tmp_path: Path) -> tuple[Board, TestClient]:
    run = begun(tmp_path)
    board = Board(who="Miriam", seconds=30)
    app = seat_app(run.folder, run.world, "Miriam", turn_routes(board, run.world))
    return board, TestClient(app, base_url="http://127.0.0.1")


TURN = "/api/seat/turn"


def test_no_turn_is_null(site: tuple[Board, TestClient]) -> None:
    _, client = site
    assert client.get(TURN).json() is None
    assert client.post(TURN, json={"turn": 1, "say": "Hello."}).status_code == 409


def test_a_turn_over_http(site: tuple[Board, TestClient]) -> None:
    board, client = site
    with waiting(board) as line:
        turn = client.get(TURN).json()
        assert (turn["turn"], turn["who"], turn["other"], turn["lines"]) == (
            1,
            "Miriam",
            "Ines",
            [["Miriam", "Hello."], ["Ines", "Hello."]],
        )
        assert turn["emotions"][-1] == "neutral" and turn["characters"] == LINE_CHARACTERS
        longer = client.post(TURN, json={"turn": 1, "more_time": True}).json()
        assert longer["seconds_left"] > turn["seconds_left"] + 25
        assert client.post(
            TURN, json={"turn": 1, "say": "Go on.", "emotion": "trust", "intensity": 3}
        ).json() == {"said": True}
        assert line.result(5).say == "Go on."
        assert client.post(TURN, json={"turn": 1, "say": "Again."}).status_code == 409


def test_words_that_sound_like_danger(site: tuple[Board, TestClient]) -> None:
    board, client = site
    notice = client.get(f"{TURN}/notice").json()
    assert "This is a simulation for research." in notice["before"] and notice["danger"] is None
    with waiting(board) as line:
        answer = client.post(TURN, json={"turn": 1, "say": "I want to kill myself."}).json()
        assert answer["said"] and "findahelpline.com" in answer["danger"]
        assert line.result(5).say == "I want to kill myself."
    assert client.get(f"{TURN}/notice").json()["danger"] == answer["danger"], (
        "it stays when the page is loaded again"
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"say": "x"}, 422),
        ({"turn": "1", "say": "x"}, 422),
        ({"turn": 1}, 422),
        ({"turn": 1, "say": 3}, 422),
        ({"turn": 1, "say": "x", "intensity": "5"}, 422),
        ({"turn": 1, "say": "x", "intensity": True}, 422),
        ({"turn": 1, "say": "x" * 2001}, 422),
        ({"turn": 1, "say": "x" * 70_000}, 413),
        ([1], 400),
    ],
)
def test_what_a_page_may_not_send(site: tuple[Board, TestClient], body: Any, status: int) -> None:
    board, client = site
    with waiting(board):
        assert client.post(TURN, json=body).status_code == status
        board.say(1, "Done.")


def test_only_json_from_this_site_and_not_too_often(site: tuple[Board, TestClient]) -> None:
    _, client = site
    assert client.post(TURN, content="{}").status_code == 415
    assert (
        client.post(TURN, content="{", headers={"content-type": "application/json"}).status_code
        == 400
    )
    assert (
        client.post(TURN, json={}, headers={"origin": "http://elsewhere.example"}).status_code
        == 403
    )
    codes = [client.post(TURN, json={"turn": 1, "say": "x"}).status_code for _ in range(POSTS)]
    assert codes[-1] == 429


# whole runs


def with_human(
    out: Path,
    answer: Callable[[dict[str, Any]], dict[str, Any] | None],
    *,
    ticks: int = 12,
    seconds: float = 30,
    run: Run | None = None,
    scripts: dict[str, Script] | None = None,
) -> tuple[Run, list[str]]:
    """A run in which Miriam's lines come from a page that polls, as a browser does."""
    run = run or begun(out)
    board, models = Board(who="Miriam", seconds=seconds), switchboard(Scripted(scripts))
    texts: list[str] = []
    with taking_part(run.folder, models, board, 0) as address:
        where = f"{address}api/seat/turn"
        ended = threading.Event()

        def page() -> None:
            while not ended.is_set():
                turn = httpx.get(where, timeout=60).json()
                body = answer(turn) if turn else None
                if body:
                    reply = httpx.post(where, json={"turn": turn["turn"], **body}, timeout=60)
                    if reply.status_code == 200:
                        texts.append(body["say"])
                time.sleep(0.01)

        thread = threading.Thread(target=page, daemon=True)
        thread.start()
        Simulation(run.world, run=run, models=models).run(ticks)
        ended.set()
        thread.join()
    return run, texts


def test_a_run_with_a_human_and_its_replay(tmp_path: Path) -> None:
    run, texts = with_human(
        tmp_path / "one",
        lambda turn: {
            "say": f"Line {turn['turn']}: what is that like, Ines?",
            "emotion": "trust",
            "intensity": 3,
        },
    )
    spoken = [event for event in happened(run, Said) if event.who == "Miriam"]
    assert [event.text for event in spoken] == texts and len(texts) >= 2
    assert {event.source for event in spoken} == {"human"}
    assert {event.source for event in happened(run, Said) if event.who == "Ines"} == {"generated"}
    assert spoken[0].emotion == "trust" and spoken[0].intensity == 3
    assert not happened(run, Warned)
    calls = [call for call in run.calls() if call.get("source") == "human"]
    assert len(calls) == len(texts) and all(call["cost_usd"] == 0 for call in calls)
    again = live(tmp_path / "two", tiny(), model=f"recorded:{run.folder}")
    assert log(again) == log(run)


def test_a_goodbye_ends_the_talk(tmp_path: Path) -> None:
    def answer(turn: dict[str, Any]) -> dict[str, Any]:
        return {"say": f"Well, number {turn['turn']}.", "goodbye": True}

    run, _ = with_human(tmp_path, answer, ticks=3)
    talk = [event for event in happened(run, Said) if event.chat == happened(run, Said)[0].chat]
    assert len(talk) == 4


def test_nobody_comes_and_nothing_is_said_in_their_name(tmp_path: Path) -> None:
    """The conversation ends there, the run goes on; a replay repeats it, and the log is sound."""
    began = time.monotonic()
    run, texts = with_human(tmp_path / "one", lambda turn: None, ticks=3, seconds=0.2)
    assert time.monotonic() - began < 20
    assert not texts and run.ticks_done() == 3
    assert not [event for event in happened(run, Said) if event.who == "Miriam"]
    (ended,) = happened(run, ConversationEnded)
    assert (ended.cause, ended.by) == ("left", "Miriam")
    assert not happened(run, Warned)
    assert not verify(run.folder).damages
    again = Simulation(run.world, model=f"recorded:{run.folder}", out=tmp_path / "two").run(3)
    assert happened(again, ConversationEnded) == happened(run, ConversationEnded)
    assert happened(again, Said) == happened(run, Said)


def test_who_falls_silent_later_leaves_what_was_said(tmp_path: Path) -> None:
    run, texts = with_human(
        tmp_path,
        lambda turn: {"say": "How was the night?"} if turn["turn"] == 1 else None,
        ticks=3,
        seconds=0.5,
    )
    assert texts == ["How was the night?"]
    (ended,) = happened(run, ConversationEnded)
    lines = happened(run, Said)
    assert (ended.cause, ended.by, ended.messages) == ("left", "Miriam", len(lines))
    assert [event.text for event in lines if event.who == "Miriam"] == texts
    assert any(event.memory.chat == ended.chat for event in happened(run, Remembered))


def test_without_a_limit_it_waits_and_shows_no_clock(site: tuple[Board, TestClient]) -> None:
    board, client = site
    board.seconds = None
    with waiting(board) as line:
        turn = client.get(TURN).json()
        assert turn["seconds_left"] is None
        assert client.post(TURN, json={"turn": 1, "more_time": True}).status_code == 422
        time.sleep(0.2)
        assert not line.done()
        board.say(1, "Now.")
        assert line.result(5).say == "Now."


def test_what_the_policy_would_do_is_shown_only_where_it_is_wanted(
    site: tuple[Board, TestClient],
) -> None:
    board, client = site
    with waiting(board):
        assert {client.get(TURN).json()[key] for key in ("move", "aim")} == {None}
        board.hints = True
        assert client.get(TURN).json()["move"] == "clarify"
        board.say(1, "Yes.")


def test_a_human_may_join_a_run_that_is_resumed(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=1)
    again, texts = with_human(
        tmp_path,
        lambda turn: {"say": f"Here I am, {turn['turn']}."},
        ticks=3,
        run=Run.open(run.folder),
    )
    assert texts and again.ticks_done() == 4
    assert go_on(again, 1, models=switchboard(Scripted())).ticks_done() == 5


def test_who_can_be_spoken_for() -> None:
    assert board_for(tiny(), "miriam", 60).who == "Miriam"
    with pytest.raises(SimcounselError, match='no such resident; did you mean "Miriam"'):
        board_for(tiny(), "Mirjam", 60)
    with pytest.raises(
        SimcounselError, match="under condition 'client_only'; choose another --condition, or Ines"
    ):
        board_for(tiny(condition="client_only"), "Miriam", 60)


def test_ctrl_c_while_a_line_is_awaited_leaves_nothing_behind() -> None:
    async def broken_off(board: Board) -> None:
        line = asyncio.create_task(board.line(asked()))
        await asyncio.sleep(0.05)
        assert board.pending is not None
        line.cancel()
        with pytest.raises(asyncio.CancelledError):
            await line

    board = Board(who="Miriam", seconds=30)
    asyncio.run(broken_off(board))
    assert board.pending is None


def test_the_command(simcounsel: Command, tmp_path: Path) -> None:
    ended = simcounsel(
        "run",
        TINY,
        "--model",
        "scripted",
        "--human",
        "miriam",
        "--human-seconds",
        5,
        "--ticks",
        1,
        "--out",
        "out",
    )
    assert ended.code == 0
    assert (
        re.search(r"you speak for Miriam: open http://127\.0\.0\.1:\d+/ ", ended.out)
        and "5 s for each line" in ended.out
    )
    (run,) = (tmp_path / "out").iterdir()
    assert (
        simcounsel("resume", run, "--human", "Ines", "--human-seconds", 5, "--ticks", 1).code == 0
    )
    assert (
        "you speak for Ines"
        in simcounsel(
            "fork",
            run,
            "--at",
            1,
            "--ticks",
            1,
            "--human",
            "Ines",
            "--human-seconds",
            5,
            "--out",
            "out",
        ).out
    )


def test_the_command_says_what_is_wrong_before_a_folder_is_made(
    simcounsel: Command, tmp_path: Path
) -> None:
    assert (
        'did you mean "Miriam"'
        in simcounsel("run", TINY, "--model", "scripted", "--human", "Mirjam", "--out", "out").err
    )
    ended = simcounsel(
        "run",
        TINY,
        "--model",
        "scripted",
        "--human",
        "Miriam",
        "--condition",
        "client_only",
        "--out",
        "out",
    )
    assert ended.code == 1 and "choose another --condition" in ended.err
    assert not (tmp_path / "out").exists()


def test_the_counselors_page_reminds_of_open_danger(tmp_path: Path) -> None:
    """From the line in which it is heard until it was asked about and help was named; the next meeting begins with it."""
    (once,) = tiny().appointments
    twice = (once, once.model_copy(update={"at": "11:00"}))
    world = changed(safety(tiny(), locale="en-GB"), appointments=twice)
    seen: list[tuple[int, str | None]] = []

    def answer(turn: dict[str, Any]) -> dict[str, Any]:
        if not seen or seen[-1][0] != turn["turn"]:
            seen.append((turn["turn"], turn["reminder"]))
        return {"say": f"Line {turn['turn']}: what is the weather like?"}

    run, _ = with_human(tmp_path, answer, run=begun(tmp_path, world), scripts=says(DANGER))
    told = [text for _, text in seen]
    ends = [event.open_danger for event in happened(run, ConversationEnded)]
    assert ends == ["imminent"] * len(ends) and len(ends) > 1
    assert told[0] is None, "nothing was said yet"
    assert told[1] is not None and "Ines spoke of danger (suicide), and it is open" in told[1]
    assert "Emergency: 999" in told[1]
    again = [text for text in told if text and "last conversation with Ines ended on open" in text]
    assert again, "the next meeting begins with it"
    assert None not in told[1:]


def test_nobody_is_reminded_of_what_was_met() -> None:
    lines = [("Miriam", "Hello."), ("Ines", "I want to kill myself.")]
    assert reminder(lines, "Ines", "en", "en-GB")
    lines.append(("Miriam", "Are you thinking of suicide today? Please call 999, or 116 123."))
    assert reminder(lines, "Ines", "en", "en-GB") is None
    strange = reminder([("Ines", "Quero morrer.")], "Ines", "en", "en-GB")
    assert strange and "suicide" in strange, "a language without words is asked about"
    assert "上一次谈话" in str(
        reminder([], "Ines", "zh", "zh-CN", OpenDanger(level="high", kinds=("abuse",)))
    )
