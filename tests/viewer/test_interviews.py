"""Interviews over HTTP."""

import hashlib
import shutil
import threading
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.testclient import TestClient

from simcounsel.llm.question import Question
from simcounsel.measuring.interview_files import stored
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.viewer import interviews
from simcounsel.viewer.guard import POSTS
from simcounsel.viewer.interviews import interview_routes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.each import each
from tests.stage import switchboard


class Site:
    """A client, and the paths of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.client = TestClient(
            make_app(RunList(run.folder.parent), more=interview_routes(RunList(run.folder.parent))),
            base_url="http://localhost",
        )
        self.base = f"/api/runs/{run.folder.name}"

    def ask(self, question: Any = "How are you?", **more: Any) -> Any:
        body = {
            "who": "Ines",
            "tick": 5,
            "question": question,
            "interview": None,
            "model": None,
        } | more
        return self.client.post(f"{self.base}/interview", json=body)

    def told(self) -> Any:
        return self.client.get(f"{self.base}/interviews").json()


@pytest.fixture
def site(lived: Run, tmp_path: Path) -> Site:
    shutil.copytree(lived.folder, tmp_path / "runs" / "one")
    return Site(Run.open(tmp_path / "runs" / "one"))


def test_a_question_and_its_answer(site: Site) -> None:
    events = (
        site.run.folder / "events.jsonl",
        site.run.folder / "calls.jsonl",
        site.run.folder / "manifest.json",
    )
    before = [hashlib.sha256(file.read_bytes()).digest() for file in events]
    first = site.ask()
    assert first.status_code == 200
    told = first.json()
    assert (
        told["answer"]
        and told["who"] == "Ines"
        and told["tick"] == 5
        and "the end of tick 5" in told["moment"]
    )
    assert told["recalled"][0]["text"]
    second = site.ask("Why?", interview=told["interview"], who="Miriam", tick=1).json()
    assert (second["who"], second["tick"], second["interview"]) == ("Ines", 5, told["interview"])
    (kept,) = site.told()["interviews"]
    assert [one["question"] for one in kept["answers"]] == ["How are you?", "Why?"]
    assert [hashlib.sha256(file.read_bytes()).digest() for file in events] == before


def test_who_could_answer(site: Site) -> None:
    told = site.told()
    assert told["models"] == [
        {"name": "scripted", "may_cost": False},
        {"name": "embedded", "may_cost": False},
    ]
    assert "not care" in told["notice"] and told["interviews"] == []
    assert site.client.get("/api/runs/none/interviews").status_code == 404


@each(
    ("more", "why"),
    [
        ({"who": "Inez"}, "did you mean"),
        ({"who": None}, "'who' is missing"),
        ({"who": 3}, "'who' is missing"),
        ({"tick": 99}, "choose one from 0 to 11"),
        ({"tick": "5"}, "'tick' is missing"),
        ({"tick": True}, "'tick' is missing"),
        ({"question": ""}, "empty"),
        ({"question": None}, "'question' is missing"),
        ({"question": "x" * 2001}, "2001 characters"),
        ({"model": "openai:gpt-4o"}, "not offered here; there are scripted, embedded"),
        ({"model": "http://10.0.0.1/v1/x"}, "not offered here"),
        ({"interview": "../../manifest"}, "no interview"),
        ({"interview": 5}, "'interview' is missing"),
    ],
)
def test_what_is_refused(site: Site, more: dict[str, Any], why: str) -> None:
    reply = site.ask(**more)
    assert reply.status_code == 422 and why in reply.json()["error"]
    assert stored(site.run.folder) == []


@pytest.mark.slow(2)
def test_only_json_of_this_site_not_too_much_and_not_too_often(site: Site) -> None:
    path = f"{site.base}/interview"
    assert site.client.post(path, content="{}").status_code == 415
    assert site.client.post(path, json=[]).status_code == 400
    assert (
        site.client.post(path, json={}, headers={"origin": "http://elsewhere.example"}).status_code
        == 403
    )
    assert site.ask("x" * 70_000).status_code == 413
    assert site.client.post("/api/runs/none/interview", json={"question": "x"}).status_code == 404
    assert [site.ask("").status_code for _ in range(POSTS)][-1] == 429


def test_money_is_never_spent_unasked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def paid(run: Run, model: str) -> Any:
        opened.append(model)
        return switchboard(Scripted())

    monkeypatch.setattr(interviews, "answering_model", lambda run, who: "openai:gpt-4o")
    monkeypatch.setattr(interviews, "open_models", paid)
    reply = site.ask(model="openai:gpt-4o")
    assert (
        reply.status_code == 409
        and reply.json()["may_cost"] is True
        and "may cost money" in reply.json()["error"]
    )
    assert not opened and not stored(site.run.folder)
    for unclear in ("yes", 1, None):
        assert site.ask(model="openai:gpt-4o", may_cost=unclear).status_code == 409
    assert site.ask(model="openai:gpt-4o", may_cost=True).status_code == 200
    assert opened == ["openai:gpt-4o"]
    assert site.told()["models"][0] == {"name": "openai:gpt-4o", "may_cost": True}
    assert site.told()["own"]["Ines"] == "openai:gpt-4o"


def test_one_question_at_a_time_and_models_are_kept(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    opened: list[str] = []

    def slowly(request: Question, draw: Random) -> str:
        asked.set()
        assert go_on.wait(20)
        return "I am well."

    def open_models(run: Run, model: str) -> Any:
        opened.append(model)
        return switchboard(Scripted({"interview": slowly}))

    monkeypatch.setattr(interviews, "open_models", open_models)
    answers: list[Any] = []
    with site.client:
        thread = threading.Thread(target=lambda: answers.append(site.ask()))
        thread.start()
        assert asked.wait(20)
        second = site.ask("And you?")
        assert second.status_code == 429 and "still being answered" in second.json()["error"]
        go_on.set()
        thread.join()
        assert answers[0].json()["answer"] == "I am well."
        assert site.ask("And now?").status_code == 200
    assert opened == ["scripted"]


def test_weights_are_not_fetched_by_a_page(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "simcounsel.llm.weights.state",
        lambda keys: [
            type("Part", (), {"weights": type("W", (), {"key": "smollm2"}), "fetched": False})
        ],
    )
    reply = site.ask(model="embedded")
    assert (
        reply.status_code == 422
        and "simcounsel models --pull --model embedded`" in reply.json()["error"]
    )


def test_a_run_whose_source_is_gone_says_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from simcounsel.errors import RunError

    def gone(run: Run, who: str) -> str:
        raise RunError("this run replays /nowhere, whose model would answer: no run there")

    monkeypatch.setattr(interviews, "answering_model", gone)
    assert site.told()["models"] == [] and "replays /nowhere" in site.told()["trouble"]
    assert "replays /nowhere" in site.ask(model="embedded").json()["error"]
