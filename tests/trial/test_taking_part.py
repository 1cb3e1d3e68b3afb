"""A participant from the link to the debriefing, and all that can happen on the way."""

import asyncio
import csv
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from simcounsel.errors import ModelUnreachable
from simcounsel.llm.catalog import open_embed
from simcounsel.llm.models import Completion
from simcounsel.llm.outage import Patience
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.log import Log
from simcounsel.scripted import Scripted
from simcounsel.trial import talking
from simcounsel.trial.exporting import export_all
from simcounsel.trial.person import Participant
from simcounsel.trial.reminding import due
from simcounsel.trial.running import Running, Wrong
from simcounsel.trial.seats import Counseled
from simcounsel.trial.steps import coordinate, do
from tests.llm.server import FaultServer
from tests.trial.stage import Browser, Clock, links, running, site, until, written

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def a_day(one: Browser, texts: tuple[str, ...] = ("I slept badly.", "And then?")) -> dict[str, Any]:
    """Today's talk, to its end."""
    for number, text in enumerate(texts):
        if one.heard()["over"]:
            break
        one.say(text, id=f"{text} {number} {one.state()['day']}")
    if not one.heard()["over"]:
        one.do("end_talk")
        until(lambda: one.talk()["over"])
    return one.answer(one.do("next"))


def test_two_days_to_the_end(tmp_path: Path) -> None:
    written(tmp_path)
    clock = Clock(NOON)
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        assert one.state()["stage"] == "information"
        first = one.enter("Robin", age=44)
        assert (first["stage"], first["day"]) == ("chat", 1)
        waits = a_day(one)
        assert waits["stage"] == "wait"
        assert waits["page"]["again"] == "2026-03-02T23:00:00+00:00", "midnight in Berlin"
        clock.days(1)
        assert one.state()["stage"] == "chat"
        done = a_day(one)
        assert (done["stage"], done["day"]) == ("done", 2)
        who = found.people["P001"]
        assert {point for _, point in who.answers} == {"baseline", "end"}
        assert [talk.day for talk in who.talks] == [1, 2]
        assert found.store.damages() == []
        assert who.arm in ("staged", "single", "unguided")


def test_the_page_shows_no_arm_and_no_model(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        shown = json.dumps([one.heard(), one.state()])
        for word in ("staged", "single", "unguided", "scripted", "P001", "Miriam"):
            assert word not in shown


def test_consent_wants_every_box_and_the_version_that_was_read(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        page = one.do("information")["page"]
        ticked = [id for id, _ in page["items"]]
        one.do("consent", code=422, agree=True, ticked=ticked[:1], version="1")
        one.do("consent", code=422, agree=True, ticked=ticked, version="0")
        assert one.do("consent", agree=False)["stage"] == "declined"
        other = Browser(client, links(tmp_path)[1])
        other.do("information")
        assert other.do("consent", agree=True, ticked=ticked, version="1")["stage"] == "about_you"


def test_who_is_in_danger_is_not_taken_in_but_told_where_help_is(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        out = one.enter(p9=2)
        assert out["stage"] == "excluded" and "999" in out["page"]["help"]
        assert found.people["P001"].arm is None
        (alert,) = found.people["P001"].alerts.values()
        assert alert["level"] == "high" and alert["acknowledged"] is None


def test_danger_in_a_line_tells_the_participant_and_the_coordinator(tmp_path: Path) -> None:
    password = written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        one.say("I want to kill myself tonight.")
        assert one.talk()["notice"], "at once, whatever the counselor says"
        client.cookies.clear()
        assert client.get("/api/watch").status_code == 401
        client.post("/api/watch/login", json={"password": password})
        told = client.get("/api/watch").json()
        (alert,) = told["alerts"]
        assert alert["text"] == "I want to kill myself tonight." and alert["level"] in (
            "high",
            "imminent",
        )
        assert told["people"][0]["open_alerts"] == 1
        step = {"do": "acknowledge", "seq": alert["seq"], "by": "AE"}
        assert client.post("/api/watch/do", json=step).status_code == 422, "a note is needed"
        told = client.post("/api/watch/do", json=step | {"note": "called"}).json()
        assert told["alerts"][0]["acknowledged"]["by"] == "AE"
        assert told["people"][0]["open_alerts"] == 0
        assert "arm" not in json.dumps(told) and "staged" not in json.dumps(told)


def test_the_same_line_twice_is_one_line(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        one.say("Hello.", id="a")
        one.say("Hello.", id="a")
        one.heard(1)
        one.say("Hello.", id="a")
        assert [line.text for line in found.people["P001"].talks[0].own()] == ["Hello."]
        assert one.say("x" * 2001, id="b", code=422)["error"]
        assert one.say(" … ", id="c", code=422)["error"]


def test_a_restart_in_the_middle_of_a_talk_is_not_noticed(tmp_path: Path) -> None:
    """The second day's talk, so that memories are folded from the store and lines are said again from the recording."""
    written(tmp_path, talks="talks: {a_day: 1, lines: 12}")
    clock = Clock(NOON)
    lines = ("I slept badly.", "It is the flat upstairs.", "My mother rang.")
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        a_day(one)
        clock.days(1)
        assert one.state()["stage"] == "chat"
        for text in lines:
            one.heard()
            one.say(text, id=f"2 {text}")
        before = one.heard()["lines"]
    asked = count_calls(tmp_path)
    with running(tmp_path, clock) as found, site(found) as client:
        one.client = client
        assert one.heard()["lines"] == before
        one.say("Are you still there?", id="2 after")
        after = one.heard()["lines"]
        assert after[: len(before)] == before and len(after) >= len(before) + 1
        keys = [call["key"] for _, call in found.store.calls("P001") if "vectors" not in call]
        assert len(keys) == len(set(keys)), "nothing was asked twice"
        assert len(keys) > asked
        assert not any(
            one.kind == "replied" and one.data.get("broken_off") for one in found.store.events()
        )


def count_calls(folder: Path) -> int:
    from simcounsel.trial.store import Store

    store = Store(folder)
    found = sum("vectors" not in call for _, call in store.calls())
    store.close()
    return found


class Failing:
    """A model that cannot be reached while `down`."""

    def __init__(self) -> None:
        self.inner = Scripted()
        self.name = self.inner.name
        self.down = False
        self.held, self.waiting = threading.Event(), threading.Event()
        self.held.set()

    async def complete(self, question: Any, complaint: str | None) -> Completion:
        if self.down:
            raise ModelUnreachable("the line is cut")
        while not self.held.is_set():
            self.waiting.set()
            await asyncio.sleep(0.01)
        return await self.inner.complete(question, complaint)

    async def close(self) -> None:
        pass


def test_an_outage_is_said_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    monkeypatch.setattr(talking, "FIRST_PAUSE_S", 0.05)
    model = Failing()
    board = Switchboard(
        dict.fromkeys(("reason", "quick", "judge"), model),
        open_embed("scripted"),
        patience=Patience(wait_s=0.05),
    )
    with running(tmp_path, models=board) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        model.down = True
        one.say("Are you there?")
        until(lambda: one.talk(2).get("note"))
        assert "line is cut" not in json.dumps(one.talk()), (
            "what went wrong is not the participant's business"
        )
        assert found.talking is not None and "line is cut" in found.talking.troubled["P001"]
        model.down = False
        said = one.heard(2)
        assert [line["who"] for line in one.talk()["lines"]][:2] == ["other", "me"] and said[
            "lines"
        ]
        assert one.talk().get("note") is None


def test_withdrawal_deletes_all_that_somebody_gave(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one, two = (Browser(client, link) for link in links(tmp_path)[:2])
        one.enter("Robinette")
        two.enter("Samuelle")
        one.heard()
        one.say("An unmistakable sentence about pelicans.")
        one.heard(2)
        secret = links(tmp_path)[0].rsplit("/", 1)[1]
        assert one.do("withdraw", delete=True)["stage"] == "withdrawn"
        spent = found.spent
        left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        for gone in ("pelicans", "Robinette", secret):
            assert gone.encode() not in left
        assert b"Samuelle" in left
        assert found.store.damages() == []
        one.say("And now?", code=409)
        arms = found.gone
    with running(tmp_path) as found:
        assert found.people["P001"].withdrawn == "deleted" and found.people["P001"].name is None
        assert found.gone == arms == {"all": 1}, "the place stays taken"
        assert found.spent == spent, "so does what it cost"


def test_what_a_model_says_after_a_withdrawal_is_not_kept(tmp_path: Path) -> None:
    """The answer was on its way when everything was deleted."""
    written(tmp_path)
    model = Failing()
    board = Switchboard(dict.fromkeys(("reason", "quick", "judge"), model), open_embed("scripted"))
    with running(tmp_path, models=board) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        model.held.clear()
        one.say("A sentence about pelicans.")
        until(model.waiting.is_set)
        one.do("withdraw", delete=True)
        model.held.set()
        time.sleep(0.3)
        found.store.write("", "over")
        assert list(found.store.calls("P001")) == []
        assert [one.kind for one in found.store.events() if one.person == "P001"][-1] == "withdrew"
        left = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert b"pelicans" not in left


def test_withdrawal_without_deletion_keeps_what_was_given(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter("Robinette")
        assert one.do("withdraw", delete=False)["stage"] == "withdrawn"
        assert found.people["P001"].name == "Robinette"


def test_a_pause_holds_one_and_all(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        for code in ("P001", None):
            coordinate(found, {"do": "pause", "code": code})
            assert one.state()["stage"] == "paused"
            one.say("Hello?", id=f"{code}", code=409)
            coordinate(found, {"do": "go_on", "code": code})
            assert one.state()["stage"] == "chat"


def test_limits_stop_before_the_next_line(tmp_path: Path) -> None:
    written(tmp_path, limits="limits: {each_calls: 3}")
    with running(tmp_path) as found, site(found) as client:
        one, two = (Browser(client, link) for link in links(tmp_path)[:2])
        one.enter("Robin")
        for number in range(9):
            if one.talk().get("stage") != "chat":
                break
            one.heard()
            if found.over_budget(found.people["P001"]):
                break
            one.say(f"Line {number}")
            one.heard(2 * number + 2)
        assert one.state()["stage"] == "over_budget"
        assert two.enter("Sam")["stage"] == "chat", "another has a limit of their own"


def test_who_has_used_up_their_talks_is_asked_at_the_end_all_the_same(tmp_path: Path) -> None:
    written(tmp_path, limits="limits: {each_calls: 2}")
    clock = Clock(NOON)
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        for number in range(3):
            if one.state()["stage"] != "chat":
                break
            one.say(f"Line {number}")
            until(lambda: not (talk := found.people["P001"].talk) or talk.awaiting)
        assert one.state()["stage"] == "over_budget"
        clock.days(2)
        one.state()
        until(lambda: found.people["P001"].talks[0].over)
        state = one.state()
        assert (state["stage"], state["page"]["id"]) == ("questions", "chatbot_survey")
        assert one.answer(state)["stage"] == "done"
        assert len(found.people["P001"].talks) == 1


def test_many_requests_at_once_are_one_person(tmp_path: Path) -> None:
    """Two windows, or a page that is loaded again and again: one place, one talk."""
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        state = one.do("information")
        ticked = [id for id, _ in state["page"]["items"]]
        one.do("consent", agree=True, ticked=ticked, version="1")
        who = found.people["P001"]
        held, found.settle = found.settle, lambda _: None  # type: ignore[method-assign, assignment]
        one.answer(one.do("about_you", name="Robin", zone="UTC", offset_min=0))
        assert who.arm is None
        found.settle = held  # type: ignore[method-assign]
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(found.settle, [who] * 64))
        kinds = Counter(one.kind for one in found.store.events())
        assert (kinds["allocated"], kinds["opened"]) == (1, 1)


def test_a_name_is_given_once_whoever_is_first(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found:
        people = [found.people[f"P{number:03}"] for number in range(1, 7)]
        for who in people:
            found.happen(who.code, "informed")
            found.happen(who.code, "consented", agree=True, version="1")

        def name(who: Participant) -> bool:
            try:
                do(found, who.code, {"do": "about_you", "name": "Robin", "zone": "UTC"})
            except Wrong:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(name, people)) == 1
        with pytest.raises(Wrong, match="already"):
            do(found, people[-1].code, {"do": "about_you", "name": "miriam", "zone": "UTC"})


def test_a_line_that_comes_while_the_other_side_just_ended_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        look, said = talking.Talking._owes, []

        def owes(who: Participant) -> bool:
            due = look(who)
            if not due and not said and who.talk and who.talk.awaiting:
                said.append(True)
                found.say("P001", "late", "And one thing more.")
                time.sleep(0.2)
            return due

        monkeypatch.setattr(talking.Talking, "_owes", staticmethod(owes))
        one.enter()
        until(lambda: len(found.people["P001"].talks[0].lines) == 3)
        assert [line.who for line in found.people["P001"].talks[0].lines] == [
            "other",
            "me",
            "other",
        ]


def test_the_version_that_was_agreed_to_is_told(tmp_path: Path) -> None:
    written(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        Browser(client, links(tmp_path)[0]).enter()
    file = tmp_path / "trial.yaml"
    text = file.read_text(encoding="utf-8").replace('version: "1"', 'version: "2"')
    file.write_text(text, encoding="utf-8")
    with running(tmp_path, amend="a sentence was unclear") as found:
        tables = exported(tmp_path, found)
    (person,) = [row for row in tables["people"] if row["arm"]]
    assert person["version"] == "1"


def test_a_talk_ends_with_its_day(tmp_path: Path) -> None:
    written(tmp_path)
    clock = Clock(NOON)
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        one.say("Until tomorrow.")
        one.heard(2)
        clock.days(1)
        one.state()
        until(lambda: found.people["P001"].talks[0].over)
        assert (one.state()["stage"], one.state()["day"]) == ("chat", 2)
        assert [talk.day for talk in found.people["P001"].talks] == [1, 2]


def test_days_are_those_of_the_participant(tmp_path: Path) -> None:
    """At 23:30 in London it is the next day in Berlin: the talk that began there at 23:50 was yesterday's."""
    written(tmp_path)
    clock = Clock(datetime(2026, 3, 2, 22, 50, tzinfo=UTC))
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        assert one.enter()["day"] == 1
        clock.days(20 / 1440)
        assert found.people["P001"].day(clock()) == 2
        assert one.state()["day"] == 2


def test_somebody_who_waits_is_asked_and_meets_nobody(tmp_path: Path) -> None:
    written(tmp_path, arms="arms: [{name: later, waits: true}] #")
    cut_arms(tmp_path)
    clock = Clock(NOON)
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        state = one.enter()
        assert state["stage"] == "wait" and state["page"]["again"].startswith("2026-03-03T23")
        clock.days(2)
        assert one.answer(one.state())["stage"] == "done"
        assert found.people["P001"].talks == []
        list(export_all(found, tmp_path / "out"))
        (run,) = (one for one in (tmp_path / "out" / "runs").iterdir() if one.is_dir())
        log = Log(run)
        log.refresh()
        assert log.name == "later-p001"


def cut_arms(folder: Path) -> None:
    """Without the arms that the template has below the line that was changed."""
    file = folder / "trial.yaml"
    lines = file.read_text(encoding="utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("arms:"))
    end = next(n for n, line in enumerate(lines) if line.startswith("questions:"))
    tests = next(n for n, line in enumerate(lines) if line.startswith("hypotheses:"))
    rest = [line for line in lines[tests + 1 :] if not line.startswith("  -")]
    kept = [*lines[: at + 1], *lines[end:tests], *rest]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")


def test_a_friend_talks_too_and_danger_is_told_there_as_well(tmp_path: Path) -> None:
    written(
        tmp_path,
        arms="arms: [{name: friend, with_whom: Omar, set: {condition: client_layperson}}] #",
    )
    cut_arms(tmp_path)
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        one.say("I want to end my life.")
        assert one.talk()["notice"] and len(found.people["P001"].alerts) == 1
        assert one.heard(2)["lines"]


def test_arms_may_have_models_of_their_own(tmp_path: Path) -> None:
    with FaultServer(answer=lambda _: "It is good that you say so.") as server:
        bot = f"{server.url}/bot"
        other = f"residents.Miriam.models: {{reason: '{bot}'}}"
        arms = f"[{{name: ours}}, {{name: theirs, set: {{{other}}}}}]"
        written(tmp_path, people=2, arms=f"arms: {arms} #", allocation="allocation: {blocks: [1]}")
        cut_arms(tmp_path)
        with running(tmp_path) as found, site(found) as client:
            for link, name in zip(links(tmp_path), ("Robin", "Sam"), strict=True):
                one = Browser(client, link)
                one.enter(name)
                one.heard()
            by_arm = {who.arm: who.talks[0].lines[0].text for who in found.people.values()}
            assert set(by_arm) == {"ours", "theirs"} and by_arm["ours"] != by_arm["theirs"]
            models = {call["model"] for _, call in found.store.calls() if "reply" in call}
            assert bot in models and "scripted" in models


def test_a_trainee_counsels_and_gets_feedback(tmp_path: Path) -> None:
    task = "practice: {clients: [Ines, Kofi], feedback: line}"
    written(tmp_path, arms=f"arms: [{{name: feedback, {task}}}] #")
    cut_arms(tmp_path)
    clock = Clock(NOON)
    with running(tmp_path, clock) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        assert one.heard()["lines"] == [], "the trainee begins"
        one.say("Hello, what brings you here today?")
        answer, note = one.heard(1)["lines"]
        assert (answer["who"], note["who"]) == ("other", "note")
        assert "greeting" in note["text"].lower() and "(found by rules" in note["text"]
        one.say("Have you thought of ending your life, and do you have a plan?")
        assert not one.talk()["notice"], "a trainee should ask"
        one.heard(3)
        one.say("I want to kill myself tonight.")
        assert one.talk()["notice"]
        one.heard(5)
        a_day(one, ())
        assert found.people["P001"].talks[0].lines[-1].who == "note", "the report"
        clock.days(1)
        assert one.state()["stage"] == "chat"
    with running(tmp_path, clock) as found, site(found) as client:
        one.client = client
        a_day(one, ("Good morning.",))
        list(export_all(found, tmp_path / "out"))
        runs = sorted(p.name for p in (tmp_path / "out" / "runs").iterdir() if p.is_dir())
        assert runs == ["feedback-p001-1", "feedback-p001-2"]


def test_chinese_and_farsi(tmp_path: Path) -> None:
    written(tmp_path, languages="languages: [en, zh, fa]", locale="locale: fa-IR")
    with running(tmp_path) as found, site(found) as client:
        one, two = (Browser(client, link) for link in links(tmp_path)[:2])
        state = one.do("language", language="fa")
        assert state["dir"] == "rtl" and "115" in state["help"]
        assert one.enter("رها")["stage"] == "chat"
        one.heard()
        one.say("می‌خواهم خودم را بکشم")
        assert one.talk()["notice"], "danger is heard in Farsi"
        assert [alert["level"] for alert in found.people["P001"].alerts.values()][:1] == ["high"]
        two.do("language", language="zh")
        assert two.enter("小林")["stage"] == "chat"
        two.heard()
        two.say("我不想活了，今晚就想自杀")
        assert two.talk()["notice"]
        assert found.talking is not None
        _, other = found.talking._sittings["P002"]
        assert isinstance(other, Counseled) and other.episode.setting.world.language == "zh"


def test_questions_of_ones_own_after_each_talk_with_a_check_of_attention(tmp_path: Path) -> None:
    (tmp_path / "mood.yaml").write_text(
        """
id: mood
title: {en: Now, fa: اکنون}
items:
  - {id: calm, text: "How calm are you?", kind: scale, low: 0, high: 10}
  - {id: attention, text: "Please choose blue.", kind: choice, choices: [[red, red], [blue, blue]], check: blue}
  - {id: why, text: "Why?", kind: text, optional: true}
""",
        encoding="utf-8",
    )
    questions = "questions: {before: [demographics], after_each: [mood.yaml], after: [comments]}"
    written(tmp_path, screen="screen: []", questions=questions)
    cut_questions(tmp_path)
    with running(tmp_path, Clock(NOON)) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter()
        one.heard()
        one.do("end_talk")
        until(lambda: one.talk()["over"])
        state = one.do("next")
        assert (state["page"]["id"], state["page"]["point"]) == ("mood", "after session 1")
        asked = {"id": "mood", "point": "after session 1"}
        wrong = one.do("answers", code=422, answers={"calm": 11, "attention": "red"}, **asked)
        assert "calm" in wrong["error"]
        after = one.do("answers", answers={"calm": 4, "attention": "red", "why": ""}, **asked)
        assert after["stage"] == "wait"
        tables = exported(tmp_path, found)
    (person,) = [row for row in tables["people"] if row["arm"]]
    assert person["checks_failed"] == "1"


def cut_questions(folder: Path) -> None:
    """Without the questions that the template has below the line that was changed."""
    file = folder / "trial.yaml"
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [
        line for line in lines if not line.startswith(("  before:", "  after_each:", "  after:"))
    ]
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")


def test_reminders_are_for_those_who_have_not_talked_today_and_once(tmp_path: Path) -> None:
    written(tmp_path, remind_at='remind_at: "17:00"')
    clock = Clock(datetime(2026, 3, 2, 15, 0, tzinfo=UTC))
    with running(tmp_path, clock) as found, site(found) as client:
        one, two = (Browser(client, link) for link in links(tmp_path)[:2])
        one.enter("Robin")
        two.enter("Sam")
        assert list(due(found, "https://x.org")) == [], "it is 16:00 in Berlin"
        clock.days(1.5 / 24)
        one.heard()
        one.say("I am here.")
        (message,) = due(found, "https://x.org")
        assert message.code == "P002" and f"https://x.org{links(tmp_path)[1]}" in message.body
        found.happen("P002", "reminded", date=message.date, by="list")
        assert list(due(found, "https://x.org")) == []


def exported(folder: Path, found: Running) -> dict[str, list[dict[str, str]]]:
    list(export_all(found, folder / "out"))
    tables = {}
    for name in ("people", "answers", "scores", "lines", "alerts", "codebook"):
        with (folder / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            tables[name] = list(csv.DictReader(file))
    return tables


def test_the_data_are_what_was_said_and_answered(tmp_path: Path) -> None:
    written(tmp_path, days="days: 1")
    with running(tmp_path) as found, site(found) as client:
        one = Browser(client, links(tmp_path)[0])
        one.enter("Robin", age=44, p1=3, p2=2)
        a_day(one)
        tables = exported(tmp_path, found)
    (person,) = [row for row in tables["people"] if row["arm"]]
    assert person["done"] == "1" and person["messages"] == "2" and person["days_talked"] == "1"
    said = [row["text"] for row in tables["lines"] if row["who"] == "me"]
    assert said == ["I slept badly.", "And then?"]
    age = [row["value"] for row in tables["answers"] if row["item"] == "age"]
    assert age == ["44"]
    total = [
        row["value"]
        for row in tables["scores"]
        if (row["questionnaire"], row["score"]) == ("phq9", "total")
    ]
    assert total == ["5.0"]
    columns = {(row["table"], row["column"]) for row in tables["codebook"]}
    for name in ("people", "answers", "scores", "lines", "alerts"):
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8") as file:
            assert {(name, column) for column in next(csv.reader(file))} <= columns
    import pandas
    import pyreadstat

    frame, meta = pyreadstat.read_sav(tmp_path / "out" / "scores.sav")
    assert meta.column_names_to_labels["value"].startswith("native points")
    assert (
        len(frame)
        == len(tables["scores"])
        == len(pandas.read_parquet(tmp_path / "out" / "scores.parquet"))
    )
