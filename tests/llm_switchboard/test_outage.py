"""A model that does not answer is waited for; then what was under way is given up, and nothing of it is written."""

import logging
import shutil
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelUnreachable
from simcounsel.events import Said
from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.outage import Patience, Waiting
from simcounsel.llm.question import Question, Reply, ask
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from tests.llm.server import FaultServer
from tests.stage import begun, changed, happened, log, switchboard, tiny

NOTE = Question(verb="write", purpose="note", who="Ines", fallback="nothing")
DEAD = Failure("connection refused", transport=True)


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept: list[float] = []

    def read(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds

    def patience(self, wait_s: float) -> Patience:
        return Patience(wait_s=wait_s, clock=self.read, sleep=self.sleep)


class Down:
    """A model that answers after so many failures."""

    name = "http://there/v1/m"

    def __init__(self, failures: int, failure: Failure = DEAD) -> None:
        self.left = failures
        self.failure = failure
        self.asked = 0

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        self.asked += 1
        if self.left > 0:
            self.left -= 1
            raise self.failure
        return Completion(text="A quiet note.", tokens_in=1, tokens_out=1)

    async def close(self) -> None:
        pass


@pytest.fixture
def clock() -> Clock:
    return Clock()


def asked(models: Switchboard, *names: str) -> list[Reply[str]]:
    asks = {name: ask(NOTE) for name in names or ("a",)}
    try:
        return [outcome.value for outcome in models.ask(asks).values()]
    finally:
        models.close()


def test_it_is_asked_again_with_growing_pauses(clock: Clock) -> None:
    model = Down(4)
    models = switchboard(model, patience=clock.patience(60))
    (reply,) = asked(models)
    assert (reply.value, reply.source, model.asked) == ("A quiet note.", "generated", 5)
    assert clock.slept == sorted(clock.slept) and 0.5 <= clock.slept[0] < clock.slept[-1] <= 6
    assert (models.usage.retries, models.usage.fallbacks) == (4, 0)
    assert models.waiting is None


def test_it_is_given_up_when_the_time_is_over_and_not_before(clock: Clock) -> None:
    began = clock.now_s
    with pytest.raises(ModelUnreachable) as caught:
        asked(switchboard(Down(10_000), patience=clock.patience(60)))
    assert str(caught.value) == (
        "no answer from http://there/v1/m (connection refused), waited 60 s (--wait-for-model); see"
        " that it is running, reachable and spelled right"
    )
    assert clock.now_s - began == pytest.approx(60)


def test_for_ever_is_for_ever(clock: Clock) -> None:
    (reply,) = asked(switchboard(Down(5000), patience=clock.patience(inf)))
    assert reply.source == "generated" and sum(clock.slept) > 24 * 3600 / 2


def test_one_clock_for_all_and_any_answer_ends_the_outage(clock: Clock) -> None:
    """Each of many in flight fails; nobody waits 60 seconds of their own."""
    began = clock.now_s
    with pytest.raises(ModelUnreachable):
        asked(switchboard(Down(10_000), patience=clock.patience(60)), *"abcdefgh")
    assert clock.now_s - began < 60 + 15
    model = Down(3)
    models = switchboard(model, patience=clock.patience(6))
    for _ in range(5):  # 3 s of outage each time, 15 s together
        model.left = 3
        models.ask({"a": ask(NOTE)})
    models.close()


@pytest.mark.parametrize("wait_s", [60.0, inf])
def test_what_no_waiting_mends_stops_at_once(clock: Clock, wait_s: float) -> None:
    wrong_key = Failure("HTTP 401: wrong key", transport=True, lasting=True)
    with pytest.raises(ModelUnreachable, match=r"401: wrong key\); waiting does not help"):
        asked(switchboard(Down(1, wrong_key), patience=clock.patience(wait_s)))
    assert not clock.slept


def test_retry_after_is_heeded_as_far_as_there_is_time(clock: Clock) -> None:
    busy = Failure("HTTP 429: slow down", transport=True, wait_s=30)
    asked(switchboard(Down(1, busy), patience=clock.patience(60)))
    assert clock.slept == [30]
    clock.slept.clear()
    tomorrow = Failure("HTTP 429: slow down", transport=True, wait_s=86400)
    asked(switchboard(Down(1, tomorrow), patience=clock.patience(60)))
    assert clock.slept == [60], "not longer than is waited at all"


def test_the_cause_and_the_time_left_are_told(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[Waiting | None] = []

    async def sleep(seconds: float) -> None:
        told.append(models.waiting)
        await clock.sleep(seconds)

    models = switchboard(Down(12), patience=Patience(wait_s=120, clock=clock.read, sleep=sleep))
    with caplog.at_level(logging.WARNING):
        asked(models)
    assert told[0] == Waiting(
        cause="no answer from http://there/v1/m (connection refused)", left_s=120
    )
    *waits, answered = caplog.messages
    assert 2 < len(waits) < 10, "a line now and then"
    assert waits[0].startswith("no answer from http://there/v1/m (connection refused); waiting 11")
    assert answered.startswith("answered again after ")


def test_a_short_pause_is_not_told(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        asked(switchboard(Down(2), patience=clock.patience(60)))
    assert not caplog.messages


# a real server that dies in a tick with a session, at each of its calls


class Mortal:
    """A server, a run of three ticks with it, its folder after two of them, and how many requests
    the third tick has."""

    def __init__(self, server: FaultServer, out: Path) -> None:
        self.server = server
        model = f"{server.url}/m"
        models = tiny().models.model_copy(update={"reason": model, "embed": model})
        self.run = begun(out, changed(tiny(), models=models, ticks=3))
        live_on(self.run.folder, 2)
        before = len(server.bodies)
        self.early = shutil.copytree(self.run.folder, out / "early")
        live_on(self.run.folder)
        self.requests = len(server.bodies) - before

    def dies_after(self, requests: int) -> None:
        """The line is cut from then on."""
        last = len(self.server.bodies) + requests
        self.server.faults = lambda index: "drop" if index >= last else None

    def lives(self) -> None:
        self.server.faults = lambda index: None


@pytest.fixture(scope="module")
def mortal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    with FaultServer() as server:
        yield Mortal(server, tmp_path_factory.mktemp("mortal"))


def live_on(folder: Path, ticks: int | None = None) -> Run:
    run = Run.open(folder)
    models = models_for(run, patience=Patience(wait_s=0))
    return Simulation(run.world, run=run, models=models).run(ticks)


@pytest.mark.slow(7)
def test_wherever_the_server_dies_the_resumed_run_is_the_untouched_one(
    mortal: Mortal, tmp_path: Path
) -> None:
    assert happened(mortal.run, Said) and mortal.requests > 10
    for dies_at in range(mortal.requests):
        folder = shutil.copytree(mortal.early, tmp_path / str(dies_at))
        mortal.dies_after(dies_at)
        with pytest.raises(ModelUnreachable, match="cut off"):
            live_on(folder)
        mortal.lives()
        assert log(Run.open(folder)) == log(Run.open(mortal.early)), "the tick is not written"
        assert log(live_on(folder)) == log(mortal.run), f"it died at request {dies_at}"
