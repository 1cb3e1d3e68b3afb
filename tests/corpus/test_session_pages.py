"""A synthesis as the viewer reads it: its history against events made by hand, and what the site answers."""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from simcounsel.corpus.synthesis import pages as syntheses
from simcounsel.corpus.synthesis.events import (
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    StrategyRestored,
)
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.sessions import Sessions
from simcounsel.corpus.synthesis.workshop import fork
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.interviews import interview_routes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.corpus.written import ADVICE, go_on, lines, stored, talk, written
from tests.each import each

HERE = "http://127.0.0.1:8765"
LEARNED = [
    (0, StrategyLearned(id="K001", text="Give it back first.", session="S0001", advice=(ADVICE,))),
    (0, StrategyKnown(id="K001", text="First give it back.", session="S0002", cosine=0.93)),
    (1, StrategyDropped(id="K001")),
]
LOG = lines(
    *talk("S0001"),
    *talk("S0002", theme="work", revised=0),
    *LEARNED,
    *talk("S0003", revised=3, of=4, wave=1),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Six sessions of the scripted model; read only."""
    return written(tmp_path_factory.mktemp("written"))


def opened(folder: Path) -> Log:
    log = Log(folder)
    log.refresh()
    return log


def history(folder: Path) -> History:
    return History(opened(folder))


@pytest.fixture
def by_hand(tmp_path: Path) -> History:
    """The history of LOG."""
    return told(tmp_path)


def told(tmp_path: Path, entries: list[dict[str, Any]] = LOG) -> History:
    """The history of a log made by hand."""
    return history(stored(tmp_path / "by hand", entries))


def client(shelf: Path) -> TestClient:
    found = RunList(shelf)
    return TestClient(make_app(found, more=interview_routes(found)), base_url=HERE)


def test_the_overview_counts_what_happened(by_hand: History) -> None:
    found = syntheses.overview(by_hand)
    told = [
        [one[key] for key in ("session", "wave", "theme", "messages", "drafts", "revised", "cause")]
        for one in found["sessions"]
    ]
    assert told == [
        ["S0001", 0, "sleep", 4, 2, 1, "limit"],
        ["S0002", 0, "work", 4, 2, 0, "limit"],
        ["S0003", 1, "sleep", 8, 4, 3, "limit"],
    ]
    assert (found["sessions_planned"], found["waves"], found["waves_planned"]) == (4, 2, 2)
    [strategy] = found["strategies"]
    assert (strategy["session"], strategy["advice"], strategy["dropped"]) == ("S0001", [ADVICE], 1)
    assert strategy["found"] == [
        {"session": "S0002", "text": "First give it back.", "cosine": 0.93, "wave": 0}
    ]


def test_counts_of_a_real_log_are_those_of_its_events(run: Run) -> None:
    events = [
        json.loads(line)
        for line in (run.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    found = syntheses.overview(history(run.folder))
    assert len(found["sessions"]) == 6
    assert sum(one["revised"] for one in found["sessions"]) > 0
    for one in found["sessions"]:
        kinds = [event["kind"] for event in events if event.get("session") == one["session"]]
        assert [one["drafts"], one["revised"], one["messages"]] == [
            kinds.count("drafted"),
            kinds.count("revised"),
            kinds.count("drafted") + kinds.count("disclosed"),
        ]


def test_a_session_holds_each_loop(by_hand: History) -> None:
    found = syntheses.session(by_hand, "S0001")
    assert found is not None
    assert (found["wave"], found["text"], found["cause"], found["strategies"]) == (
        0,
        "I cannot sleep.",
        "limit",
        ["K001"],
    )
    assert [fact["told"] for fact in found["facts"]] == [1, 3, None]
    first, revised, _, criticized = found["turns"]
    assert (first["who"], first["facts"]) == ("client", ["F1"])
    assert revised["judged"]["advice"] == ADVICE
    assert revised["revised"]["text"] == "You say so. What happened, number 2?"
    assert (criticized["judged"]["revise"], criticized["revised"]) == (True, None)
    assert found["mean_ratings"] == {
        quality: 2 if quality == "listening" else 8 for quality in found["mean_ratings"]
    }
    assert found["learned"] == [{"id": "K001", "text": "Give it back first.", "new": True}]


def test_no_such_session(by_hand: History) -> None:
    assert syntheses.session(by_hand, "S0009") is None
    assert syntheses.session(by_hand, "") is None


def test_what_nobody_judged_has_no_mean(tmp_path: Path) -> None:
    unjudged = [entry for entry in LOG if entry["kind"] != "evaluated"]
    found = syntheses.session(told(tmp_path, unjudged), "S0002")
    assert found is not None
    assert set(found["mean_ratings"].values()) == {None}
    assert [turn["judged"] for turn in found["turns"] if turn["who"] == "counselor"] == [None, None]


def test_a_log_that_lost_a_beginning(tmp_path: Path) -> None:
    lost = [
        entry for entry in LOG if (entry["kind"], entry.get("session")) != ("extracted", "S0001")
    ]
    read = told(tmp_path, lost)
    listed = next(one for one in syntheses.overview(read)["sessions"] if one["session"] == "S0001")
    assert (listed["theme"], listed["messages"], listed["revised"]) == (None, 4, 1)
    found = syntheses.session(read, "S0001")
    assert found is not None
    assert (found["facts"], found["theme"], len(found["turns"])) == (None, None, 4)


def test_a_log_that_lost_a_draft_gives_its_judgment_to_no_other_line(tmp_path: Path) -> None:
    lost = [entry for entry in LOG if (entry["kind"], entry.get("message")) != ("drafted", 2)]
    found = syntheses.session(told(tmp_path, lost), "S0001")
    assert found is not None
    assert [turn["message"] for turn in found["turns"]] == [1, 3, 4]
    assert "judged" not in found["turns"][0]


def test_a_wave_that_was_cut_off_is_not_shown_and_said(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.folder, tmp_path / "cut"))
    text = (folder / "events.jsonl").read_bytes()
    end = [found.end() for found in re.finditer(rb'"kind":"tick_ended".*\n', text)][1]
    (folder / "events.jsonl").write_bytes(text[: end + 3000])
    found = syntheses.overview(history(folder))
    assert ([one["session"] for one in found["sessions"]], found["waves"]) == (
        ["S0001", "S0002", "S0003", "S0004"],
        2,
    )
    [problem] = found["problems"]
    assert "a wave that was not finished" in problem
    assert "`simcounsel resume` writes it again" in problem
    assert client(tmp_path).get("/api/runs/cut/session/S0005").status_code == 404


def test_lines_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    folder = stored(tmp_path / "odd", LOG)
    text = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "events.jsonl").write_text("".join(["{broken\n", *text[1:]]), encoding="utf-8")
    found = client(tmp_path).get("/api/runs/odd/sessions").json()
    assert found["problems"] == [
        "events.jsonl:1: this line cannot be read as an event",
        "lines of events.jsonl that cannot be read or are out of order, and are left out: 1",
    ]
    assert [one["theme"] for one in found["sessions"]] == [None, "work", "sleep"]


def test_without_a_manifest_it_is_still_a_synthesis(tmp_path: Path) -> None:
    stored(tmp_path / "bare", LOG, {})
    site = client(tmp_path)
    assert "sessions.js" in site.get("/run/bare").text
    found = site.get("/api/runs/bare/sessions").json()
    assert (len(found["sessions"]), found["sessions_planned"]) == (3, None)
    assert found["problems"] == [
        "synthesis.json is missing: settings, situations and models are not known"
    ]
    told = site.get("/api/runs/bare/asked/S0001").json()
    assert not any(told["requests"].values())
    assert site.get("/api/runs").json()[0]["unit"] == "waves"


def test_what_was_learned_is_told_of_its_session(run: Run) -> None:
    read = history(run.folder)
    learned = [one for one in Sessions(read).strategies().all() if one.session]
    assert learned
    for one in learned:
        found = syntheses.session(read, one.session)
        assert found is not None
        assert one.id in [known["id"] for known in found["learned"]]


def test_a_strategy_that_is_carried_again_is_not_dropped(tmp_path: Path) -> None:
    entries = [*LOG, *lines((1, StrategyRestored(id="K001")))]
    [strategy] = syntheses.overview(told(tmp_path, entries))["strategies"]
    assert strategy["dropped"] is None


def sent(calls: list[dict[str, Any]]) -> str:
    """All that was sent with some requests."""
    return "\n".join(one["content"] for call in calls for one in call["messages"])


def test_the_requests_behind_a_line_are_those_that_its_events_name(tmp_path: Path) -> None:
    """By key, each once; what no event names stands apart."""
    keys = {("extracted", None): ["a"], ("drafted", 2): ["b", "c"], ("revised", 2): ["c", "d"]}
    entries = [
        one | {"calls": keys.get((one["kind"], one.get("message")), [])}
        if one["kind"] in ("extracted", "drafted", "revised") and one["session"] == "S0001"
        else one
        for one in LOG
    ]
    folder = stored(tmp_path / "by hand", entries)
    calls = [
        {"key": key, "tick": 0, "who": who, "purpose": "p", "verb": "write", "model": "m"}
        | {"messages": [{"role": "user", "content": f"say {key}"}], "reply": key}
        for key, who in [*((key, "S0001") for key in "abcde"), ("f", "S0002")]
    ]
    (folder / "calls.jsonl").write_text(
        "".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8"
    )
    told = syntheses.asked(history(folder), "S0001")
    assert told is not None
    asked = {
        part: [call["key"] for call in calls] for part, calls in told["requests"].items() if calls
    }
    assert asked == {"extract": ["a"], "2": ["b", "c", "d"], "other": ["e"]}


def test_each_line_has_the_requests_that_made_it(run: Run) -> None:
    read = history(run.folder)
    for one in syntheses.overview(read)["sessions"]:
        found = syntheses.session(read, one["session"])
        told = syntheses.asked(read, one["session"])
        assert found is not None and told is not None
        asked = told["requests"]
        assert [call["purpose"] for call in asked["extract"]] == ["extract"]
        for turn in found["turns"]:
            calls = asked[str(turn["message"])]
            wanted = (
                ["seek"]
                if turn["who"] == "client"
                else ["support", "evaluate", *(["correct"] if turn["judged"]["revise"] else [])]
            )
            assert [call["purpose"] for call in calls] == wanted
            assert turn["text"] in calls[0]["reply"]
            if turn.get("revised"):
                assert turn["revised"]["text"] in calls[2]["reply"]
                assert turn["text"] in sent(calls[2:])
        learned = [call["purpose"] for call in (*asked["distil"], *asked["other"])]
        criticized = any(
            turn["judged"]["revise"] for turn in found["turns"] if turn["who"] == "counselor"
        )
        assert learned == ["distil"] * criticized


def test_of_a_fork_the_requests_are_its_own(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / run.name)
    dropped = Sessions(history(run.folder)).strategies().all()[0].id
    new = go_on(
        fork(SynthesisRecord.open(tmp_path / run.name), 1, {"dropped": f"[{dropped}]"}, tmp_path)
    )
    asked, before = (
        syntheses.asked(history(folder), "S0003") for folder in (new.folder, run.folder)
    )
    assert asked is not None and before is not None
    assert f"{dropped}:" not in "".join(sent(calls) for calls in asked["requests"].values())
    assert f"{dropped}:" in "".join(sent(calls) for calls in before["requests"].values())


def test_the_site_names_it_and_answers(run: Run) -> None:
    site = client(run.folder.parent)
    [listed] = site.get("/api/runs").json()
    assert (listed["name"], listed["world"], listed["condition"], listed["model"]) == (
        run.name,
        "synthesis: synthesis",
        "full",
        "scripted",
    )
    assert (listed["ticks"], listed["ticks_planned"], listed["unit"], listed["problems"]) == (
        3,
        3,
        "waves",
        [],
    )
    assert "sessions.js" in site.get(f"/run/{run.name}").text
    assert site.get(f"/api/runs/{run.name}/session/S0002").json()["turns"]
    for path in (
        "session/S9999",
        "asked/S9999",
        "session/" + quote("../S0001", safe=""),
        "session/%00",
    ):
        assert site.get(f"/api/runs/{run.name}/{path}").status_code == 404


@each(
    ("path", "answer"),
    [
        ("overview", 200),
        ("person/S0001", 200),
        ("memories/S0001", 200),
        ("recalls/S0001", 200),
        ("warnings", 200),
        ("size", 200),
        ("calls/0?who=S0001", 200),
        ("conversation/S0001", 404),
        ("conversation/0:S0001", 404),
        ("behind/1?tick=0", 200),
        ("behind/99999?tick=0", 404),
    ],
)
def test_what_is_asked_of_worlds_does_not_break_it(run: Run, path: str, answer: int) -> None:
    assert client(run.folder.parent).get(f"/api/runs/{run.name}/{path}").status_code == answer


def test_nobody_in_it_can_be_interviewed(run: Run) -> None:
    site = client(run.folder.parent)
    asked = {
        "who": "S0001",
        "tick": 0,
        "question": "How are you?",
        "interview": None,
        "model": None,
        "may_cost": False,
    }
    why = f"{run.folder}: a synthesis of dialogues, in which nobody lives"
    for answer in (
        site.post(f"/api/runs/{run.name}/interview", json=asked, headers={"origin": HERE}),
        site.get(f"/api/runs/{run.name}/interviews"),
    ):
        assert answer.status_code == 422 and answer.json()["error"].startswith(why)


def test_a_world_has_no_sessions(lived: Run) -> None:
    answer = client(lived.folder).get(f"/api/runs/{lived.name}/sessions")
    assert answer.status_code == 404
    assert answer.text == f"{lived.name} is no synthesis: it has people and days, not sessions"


def test_syntheses_are_not_compared_on_a_clock(run: Run, lived: Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "one")
    shutil.copytree(run.folder, tmp_path / "two")
    shutil.copytree(lived.folder, tmp_path / "world")
    site = client(tmp_path)
    for a, b, which in (
        ("one", "world", "one is a synthesis"),
        ("world", "two", "two is a synthesis"),
        ("one", "two", "one and two are syntheses"),
    ):
        answer = site.get(f"/api/compare?a={a}&b={b}")
        assert answer.status_code == 422
        assert answer.text.startswith(which)
        assert "simcounsel study corpus" in answer.text
    assert site.get("/api/compare?a=world&b=world").status_code == 200


def held(file: Path) -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>',
        file.read_text(encoding="utf-8"),
        re.DOTALL,
    )
    assert found is not None
    return dict(json.loads(found.group(1)))


def test_one_file_holds_what_the_site_answers(run: Run, tmp_path: Path) -> None:
    assert write_bundle(opened(run.folder), tmp_path / "all.html") == []
    data, site = held(tmp_path / "all.html"), client(run.folder)
    names = [f"S000{number}" for number in range(1, 7)]
    assert set(data) == {
        "sessions",
        *(f"session/{name}" for name in names),
        *(f"asked/{name}" for name in names),
    }
    for path, value in data.items():
        assert site.get(f"/api/runs/{run.name}/{path}").json() == value, path


def test_too_many_prompts_for_one_file_are_left_out_and_said(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simcounsel.viewer.bundle.PROMPTS_MOST", 30_000)
    assert write_bundle(opened(run.folder), tmp_path / "all.html") == [
        "the prompts and replies, which are too many for one file"
    ]
    assert {path.split("/")[0] for path in held(tmp_path / "all.html")} == {"sessions", "session"}
