"""A folder in which people practice: kept, served, stopped and gone on with; and its pages over HTTP."""

import csv
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simcounsel.errors import StudyError
from simcounsel.llm.question import Question
from simcounsel.practice.group import CALLS, LINKS, LOG, begin_folder
from tests.commands import Command
from tests.practice.stage import Page, folder_of, practicing, settled, speaking
from tests.stage import ROOT

GOOD = "You lie there and count the hours, and you are tired."
POOR = "You should go to bed earlier."
DANGER = "Some nights I think about killing myself."


def test_a_session_over_http(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        home = page.home()
        assert home["name"] == "Ada" and home["clients"]["Ines"] == 2 and not home["sessions"]
        assert page.begin(focus="open questions")["number"] == 1
        found = page.say(GOOD)
        (line,) = found["lines"]
        assert line["shift"]["quote"] == "count the hours" and line["feedback"]["by"] == "rules"
        assert line["shift"]["held_back"] is None, "what the client kept back waits for the report"
        page.say(POOR)
        page.do("undo", session=1)
        page.say("What goes through your mind then?")
        page.do("end", session=1)
        settled(practice.sessions[1])
        found = page.look()
        assert found["ended"] and found["report"]["well"][0]["line"] == 1
        assert found["lines"][0]["shift"]["held_back"] == "That I am ashamed."
        assert found["taken_back"][0]["said"] == POOR
        (row,) = page.home()["record"]
        assert (row["open"], row["advice"], row["taken_back"]) == (1, 0, 1)
        assert (row["used"], row["missed"]) == ("open_question:1 reflection:1", "")
        assert (tmp_path / "runs" / row["run"]).is_dir()


def test_the_same_line_sent_again_is_said_once(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.say(GOOD, id="one")
        assert len(page.say(GOOD, id="one")["lines"]) == 1
        assert len(page.say(GOOD, id="two")["lines"]) == 2


def test_each_arm_shows_what_it_may(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        for number, mode in enumerate(("request", "end", "none"), 1):
            page.begin(feedback=mode)
            (line,) = page.say(GOOD, number)["lines"]
            assert line["feedback"] is None and line["shift"] is None
        page.do("ask", session=1, line=1)
        settled(practice.sessions[1])
        assert page.look(1)["lines"][0]["feedback"]
        page.do("ask", 422, session=3, line=1)
        for number in (2, 3):
            page.do("end", session=number)
            settled(practice.sessions[number])
        assert page.look(2)["lines"][0]["feedback"] and page.look(2)["report"]
        assert page.look(3)["report"] is None and page.look(3)["lines"][0]["feedback"] is None
        assert Page(practice, "supervisor").look(3)["report"], "a teacher sees all"


def test_a_supervisor_comments_and_assigns(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        ada, ben, boss = (Page(practice, name) for name in ("Ada", "Ben", "supervisor"))
        ada.begin()
        ada.say(GOOD)
        boss.do("comment", session=1, line=1, text="Her own words.")
        assert ada.look()["comments"][0]["text"] == "Her own words."
        boss.do("assign", to="Ben", client="Callum", feedback="end", focus="silence", therapy="cbt")
        assert ben.home()["assigned"][0]["focus"] == "silence" and not ada.home()["assigned"]
        boss.do("assign", 422, to="", client="Nobody")
        boss.do("say", 422, session=1, text="x", id="x")
        ben_sees = ben.client.get(f"{ben.address}?session=1")
        assert ben_sees.status_code == 422, "another trainee's session is closed"
        assert ben.client.get("/api/unknown").status_code == 404


def test_what_cannot_be_taken_says_why(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        assert "no client 'Nobody'" in page.begin_refused("Nobody")
        page.begin()
        assert "1 to 2000" in page.do("say", 422, session=1, id="a", text=" ")["error"]
        assert "1 to 2000" in page.do("say", 422, session=1, id="a", text="x" * 2001)["error"]
        page.do("undo", 422, session=1)
        page.do("end", 422, session=1)
        page.do("dance", 422, session=1)


def test_danger_in_a_session_and_in_the_trainees_own_words(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path), {"line_client": speaking(DANGER)}) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.say("What brings you here?")
        found = page.say("Have you tried melatonin?")
        assert found["lines"][1]["feedback"]["fits"] == "risk_question"
        told = page.do("say", session=1, id="own", text="I want to kill myself too.")
        assert told["danger"]
        settled(practice.sessions[1])
        page.do("end", session=1)
        settled(practice.sessions[1])
        checks = {one["name"]: one["holds"] for one in page.look()["report"]["danger"]}
        assert checks["taken_up"] is False and checks["help_named"] is False


def test_a_chinese_folder(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path), language="zh") as practice:
        page = Page(practice, "Ada")
        assert page.home()["texts"]["begin"] == "开始" and set(page.home()["clients"]) == {"Ines"}
        page.begin()
        assert page.say("你应该早点睡。")["lines"][0]["feedback"]["name"] == "建议"


def test_a_session_goes_on_after_a_restart(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.say(GOOD)
        before = page.say(POOR)
    with practicing(tmp_path) as practice:
        page = Page(practice, "Ada")
        assert page.look() | {"ids": 0} == before | {"ids": 0}
        page.do("undo", session=1)
        found = page.say(GOOD, id="again")
        assert found["lines"][1]["shift"]["before"] == 2.9 and not found["stopped"]
        assert practice._models is not None and practice._models.usage.replayed > 0


def test_what_was_owed_when_it_ended_is_done_after_the_next_start(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        Page(practice, "Ada").begin()
        practice.close()
        practice.happen("said", 1, id="a", text=GOOD, leaves=False)
        assert practice.sessions[1].todo
    with practicing(tmp_path) as practice:
        held = settled(practice.sessions[1])
        assert held.exchanges[0].answers and held.exchanges[0].feedback


def test_other_answers_than_before_stop_a_session_and_lose_nothing(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.say(GOOD)
    (tmp_path / CALLS).unlink()
    with practicing(tmp_path, {"line_client": speaking("Something else.")}) as practice:
        page = Page(practice, "Ada")
        found = page.say(POOR)
        assert "would answer otherwise" in found["stopped"] and len(found["lines"]) == 1


def test_an_outage_is_said_and_the_line_is_kept(tmp_path: Path) -> None:
    def silent(request: Question[Any], draw: Random) -> str:
        raise RuntimeError("the model is away")

    with practicing(folder_of(tmp_path), {"line_client": silent}) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.do("say", session=1, id="a", text=GOOD)
        until = time.monotonic() + 10
        while not page.look()["trouble"]:
            assert time.monotonic() < until
            time.sleep(0.02)
        assert page.look()["owed"][0][:2] == ["say", GOOD]
    with practicing(tmp_path) as practice:
        assert settled(practice.sessions[1]).exchanges[0].answers


def test_a_changed_log_is_refused_and_a_folder_has_one_server(tmp_path: Path) -> None:
    with practicing(folder_of(tmp_path)) as practice:
        Page(practice, "Ada").begin()
        with pytest.raises(StudyError, match="served by another process"), practicing(tmp_path):
            pass
    text = (tmp_path / LOG).read_text(encoding="utf-8")
    (tmp_path / LOG).write_text(text.replace("Ines", "Omar"), encoding="utf-8")
    with pytest.raises(StudyError, match="not as it was written"), practicing(tmp_path):
        pass


def test_links_are_long_and_only_for_the_owner_of_the_folder(tmp_path: Path) -> None:
    folder_of(tmp_path)
    links = json.loads((tmp_path / LINKS).read_text(encoding="utf-8"))["links"]
    assert set(links) == {"supervisor", "Ada", "Ben"}
    assert all(len(one) >= 22 for one in links.values())  # 128 bits, 6 to a character
    assert stat.S_IMODE((tmp_path / LINKS).stat().st_mode) == 0o600
    with pytest.raises(StudyError, match="already"):
        folder_of(tmp_path)
    with pytest.raises(StudyError, match="name of their own"):
        begin_folder(tmp_path / "x", ("Ada", "Ada"), {})


def test_the_record_as_text_and_csv(tmp_path: Path, simcounsel: Command) -> None:
    folder_of(tmp_path)
    assert "no session has ended" in simcounsel("practice", "record", tmp_path).out
    with practicing(tmp_path) as practice:
        page = Page(practice, "Ada")
        page.begin()
        page.say(GOOD)
        page.do("end", session=1)
        settled(practice.sessions[1])
    assert "reflections 1" in simcounsel("practice", "record", tmp_path).out
    out = simcounsel("practice", "record", tmp_path, "--csv").out
    (row,) = csv.DictReader(io.StringIO(out))
    assert row["trainee"] == "Ada" and row["talk_share"] == "0.73"  # 11 words to 4


@pytest.mark.slow(20)
def test_a_process_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """`kill -9` between the line and its answer's feedback; Ctrl-C ends cleanly."""
    folder_of(tmp_path)

    def served() -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "simcounsel", "practice", "serve", tmp_path, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout is not None
        with process.stdout as told:
            links = dict(told.readline().split() for _ in ("supervisor", "Ada", "Ben"))
        return process, links["Ada"].replace("/p/", "/api/")

    def post(address: str, **body: Any) -> Any:
        data = json.dumps(body).encode()
        return read(urllib.request.Request(address, data, {"content-type": "application/json"}))

    def read(request: Any) -> Any:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    process, address = served()
    post(address, do="begin", client="Ines", feedback="line")
    post(address, do="say", session=1, id="a", text=GOOD)
    process.kill()
    process.wait()
    process, address = served()
    until = time.monotonic() + 30
    while (found := read(f"{address}?session=1"))["owed"]:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert found["lines"][0]["said"] == GOOD and found["lines"][0]["feedback"]
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(20) in (0, 130)
