"""Budgets against a real server that counts what reaches it: never more than was allowed, whatever goes wrong."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simcounsel.engine.opening import begin_run, models_for
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import BudgetSpent, ModelUnreachable
from simcounsel.llm.budget import Budget, spent_in
from simcounsel.llm.catalog import open_chat, open_embed
from simcounsel.llm.outage import Patience
from simcounsel.llm.prices import Price, Prices
from simcounsel.llm.question import Question, ask, embedding
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.specs.world import World
from tests.each import each
from tests.llm.server import FaultServer
from tests.stage import log, tiny

QUICK = Patience(wait_s=5, first_pause_s=0.001, longest_pause_s=0.01)
PRICE = Price.model_validate({"in": 2.5, "out": 10})


class Paper:
    """A recorder that keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def append_call(self, call: dict[str, Any]) -> None:
        self.calls.append(call)


def questions(count: int, seed: int = 0) -> dict[str, Any]:
    return {
        f"{at:03d}": ask(
            Question(
                verb="choose",
                purpose="move",
                who="Ines",
                options=("ask", "close"),
                fallback="close",
                prompt=f"question {at}",
                seed=seed,
                max_tokens=8,
            )
        )
        for at in range(count)
    }


def board(server: FaultServer, paper: Paper, price: Price | None = None) -> Switchboard:
    name = f"{server.url}/m"
    return Switchboard(
        {"reason": open_chat(name)},
        open_embed(name),
        prices=Prices({name: price} if price else {}),
        recorder=paper,
        patience=QUICK,
    )


def asked(models: Switchboard, count: int, seed: int = 0) -> None:
    models.ask(questions(count, seed))


def served(server: FaultServer) -> World:
    """The tiny world, whose people are a model on a server."""
    world = tiny()
    models = world.models.model_copy(update={"reason": f"{server.url}/m"})
    return world.model_copy(update={"models": models})


def billed(server: FaultServer) -> float:
    """What the server would bill for what it answered: it tells words as tokens, and answers in one."""
    words = [
        sum(len(message["content"].split()) for message in body["messages"])
        for index, body in enumerate(server.bodies)
        if not server.faults(index)
    ]
    return sum(2.5 * count + 10 for count in words) / 1e6


@each(
    "faults",
    [
        lambda index: None,
        lambda index: "429" if index % 3 == 0 else None,
        lambda index: "garbage" if index % 2 else None,
        lambda index: "drop" if index % 3 == 1 else None,
        lambda index: "500",
        lambda index: "null content",
    ],
)
def test_no_more_calls_reach_the_server_than_the_budget_has(faults: Any) -> None:
    with FaultServer(answer=lambda body: "ask", faults=faults, latency_s=0.002) as server:
        paper = Paper()
        for limit in (11, 30):
            models = board(server, paper)
            models.limit(Budget(calls=limit), paper.calls)
            with pytest.raises(BudgetSpent, match=f"budget of {limit} calls is used up"):
                asked(models, 64, seed=limit)
            models.close()
            assert len(server.bodies) == limit
            assert sum(call["tries"] for call in paper.calls) == limit


@pytest.mark.parametrize(
    "faults",
    [lambda index: None, lambda index: "429" if index % 3 == 0 else None],
    ids=["none", "429"],
)
def test_no_more_money_is_billed_than_the_budget_has(faults: Any) -> None:
    with FaultServer(answer=lambda body: "ask", faults=faults, latency_s=0.002) as server:
        paper = Paper()
        for usd in (0.0001, 0.003, 0.005):
            models = board(server, paper, PRICE)
            models.limit(Budget(usd=usd), paper.calls)
            with pytest.raises(BudgetSpent, match=f"budget of {usd:g} USD does not reach"):
                while True:
                    asked(models, 64, seed=len(paper.calls))
            models.close()
            assert billed(server) <= usd
        assert billed(server) > 0.003, "it is used as far as it goes"


def test_an_answer_that_never_comes_counts_at_its_most() -> None:
    """A server that cuts the line may have billed the request."""
    with FaultServer(faults=lambda index: "drop") as server:
        paper = Paper()
        models = board(server, paper, PRICE)
        with pytest.raises(ModelUnreachable):
            models.limit(Budget(calls=100_000), ())
            models._outage.patience = Patience(wait_s=0)
            asked(models, 1)
        models.close()
        (line,) = paper.calls
        assert (line["tries"], line["given_up"], line["cost_usd"]) == (1, True, 0.0)
        assert 0.0008 < line["most_usd"] < 0.002
        prices = Prices({f"{server.url}/m": PRICE})
        assert spent_in(paper.calls, prices).usd == line["most_usd"]


def test_nobody_there_is_no_call() -> None:
    with FaultServer() as server:
        pass
    paper = Paper()
    models = board(server, paper, PRICE)
    models.limit(Budget(calls=1, usd=0.01), ())
    models._outage.patience = Patience(wait_s=0.05, first_pause_s=0.001, longest_pause_s=0.01)
    with pytest.raises(ModelUnreachable):
        asked(models, 1)  # of several, one might be cut off while it connects, and counts then
    models.close()
    assert paper.calls == []


def test_vectors_cost_and_count() -> None:
    with FaultServer() as server:
        paper = Paper()
        models = board(server, paper, PRICE)
        models.limit(Budget(calls=2), ())
        models.ask({"a": ask(embedding("remember", "Ines", ("one", "two")))})
        with pytest.raises(BudgetSpent):
            for text in "xyz":
                models.ask({"a": ask(embedding("remember", "Ines", (text,)))})
        models.close()
        assert len(server.bodies) == 2
        first = paper.calls[0]
        assert (first["tokens_in"], first["tries"]) == (6, 1)
        assert first["cost_usd"] == pytest.approx(6 * 2.5 / 1e6)
        assert models.usage.cost_usd == pytest.approx(9 * 2.5 / 1e6)
        assert models.usage.requests == 2


def test_a_server_that_bills_more_than_it_may_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with FaultServer(answer=lambda body: "ask " * 5000) as server:
        models = board(server, Paper(), PRICE)
        models.limit(Budget(usd=0.01), ())
        asked(models, 1)
        with pytest.raises(BudgetSpent):
            asked(models, 1, seed=2)
        models.close()
        assert "the server does not keep to the limit" in caplog.text


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(latency_s=0.001) as server:
        yield server


def test_over_resume_after_resume(server: FaultServer, tmp_path: Path) -> None:
    """Every start counts on, and the log that comes of it in the end is that of one start."""
    world = served(server).model_copy(update={"ticks": 3})
    whole = Simulation(world, out=tmp_path / "whole").run()
    once = len(server.bodies)
    run = begin_run(world, tmp_path)
    server.bodies.clear()
    for limit in range(10, once, 10):
        with pytest.raises(BudgetSpent):
            Simulation(run.world, run=Run.open(run.folder), limits=Limits(budget_calls=limit)).run(
                3
            )
        assert len(server.bodies) == limit
    left = Limits(budget_calls=2 * once)
    Simulation(run.world, run=Run.open(run.folder), limits=left).run()
    assert len(server.bodies) == sum(call["tries"] for call in run.calls())
    assert len(server.bodies) < 2 * once, "only fallbacks of a tick given up are asked once more"
    assert log(run) == log(whole)


KILLED = """
import sys
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.runs.run import Run
run = Run.open(sys.argv[1])
Simulation(run.world, run=run, limits=Limits(budget_calls=int(sys.argv[2]))).run()
"""


@pytest.mark.slow(2)
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_process_that_is_killed_loses_no_count(tmp_path: Path) -> None:
    """Its requests in flight reached the server, and are in no recording."""
    with FaultServer(latency_s=0.05) as server:
        run = begin_run(served(server), tmp_path)
        with subprocess.Popen([sys.executable, "-c", KILLED, str(run.folder), "20"]) as process:
            until = time.monotonic() + 60
            while len(server.bodies) < 8 and time.monotonic() < until:
                time.sleep(0.001)
            os.kill(process.pid, signal.SIGKILL)
        sent = len(server.bodies)
        assert 8 <= sent <= 20
        models = models_for(run)
        with pytest.raises(BudgetSpent):
            Simulation(run.world, run=run, models=models, limits=Limits(budget_calls=20)).run()
        assert len(server.bodies) <= 20
        assert sum(call["tries"] for call in run.calls()) < 20, (
            "those in flight are in no recording"
        )


KILLED_USD = """
import sys
from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.llm.prices import Price, Prices
from simcounsel.runs.run import Run
run, usd = Run.open(sys.argv[1]), float(sys.argv[2])
prices = Prices({run.world.models.reason: Price.model_validate({"in": 2.5, "out": 10})})
models = models_for(run, prices=prices)
Simulation(run.world, run=run, models=models, limits=Limits(budget_usd=usd)).run()
"""


@pytest.mark.slow(5)
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_money_of_processes_that_are_killed(tmp_path: Path) -> None:
    """Killed twice, then gone on with until the budget is used up: the server never bills more."""
    bill: list[float] = []

    def count(answer: dict[str, Any]) -> None:
        used = answer["usage"]
        bill.append((2.5 * used["prompt_tokens"] + 10 * used["completion_tokens"]) / 1e6)

    with FaultServer(latency_s=0.05, amend=count) as server:
        run = begin_run(served(server), tmp_path)
        command = [sys.executable, "-c", KILLED_USD, str(run.folder), "0.15"]
        for more in (4, 8):
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                until, wanted = time.monotonic() + 60, len(server.bodies) + more
                while len(server.bodies) < wanted and process.poll() is None:
                    assert time.monotonic() < until
                    time.sleep(0.001)
                process.kill()
            assert sum(bill) <= 0.15
        before = len(bill)
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert "the budget of 0.15 USD does not reach for the next request" in ended.stderr
        assert before < len(bill)
        assert 0.01 < sum(bill) <= 0.15
