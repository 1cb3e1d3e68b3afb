"""Many runs rated at once: sweeps and folders of folders; whatever ends it, nothing is asked twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simcounsel.errors import RunError
from simcounsel.lab.crew import Crew, Report, Tell
from simcounsel.lab.places import common_place, world_runs
from simcounsel.runs.measurements import measurement_files, measurements_in
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.instruments.stage import measured_world
from tests.llm.server import FaultServer
from tests.processes import begun_by, left_after
from tests.screens import environment
from tests.stage import changed, live


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A run with two conversations of a client, and one in which nobody talks."""
    folder = tmp_path_factory.mktemp("rated")
    world = changed(measured_world(), ticks=6, measurements=())
    return {
        "talks": live(folder, world),
        "alone": live(folder, changed(world, condition="client_only")),
    }


@pytest.fixture
def places(once: dict[str, Run], tmp_path: Path) -> Path:
    """A sweep of two arms and a past, and beside it a folder with another run."""
    sweep, other = tmp_path / "all" / "sweep", tmp_path / "all" / "more" / "deeper"
    for name, run in (("past", "alone"), ("s1-alone", "alone"), ("s1-friend", "talks")):
        shutil.copytree(once[run].folder, sweep / name)
    shutil.copytree(once["talks"].folder, other / "one")
    runs = [
        {"run": "past", "arm": None},
        {"run": "s1-alone", "arm": "alone"},
        {"run": "s1-friend", "arm": "friend"},
    ]
    (sweep / "experiment.json").write_text(json.dumps({"name": "x", "runs": runs}))
    synthesis = tmp_path / "all" / "more" / "corpus"
    synthesis.mkdir()
    (synthesis / "manifest.json").write_text('{"synthesis": {"name": "x"}}')
    return tmp_path / "all"


def rated(folder: Path) -> list[int]:
    """How many measurements each file beside a run holds."""
    return [len(list(measurements_in(file))) for file in measurement_files(folder)]


def test_the_runs_in_some_places(places: Path) -> None:
    one = places / "more" / "deeper" / "one"
    friend, alone = places / "sweep" / "s1-friend", places / "sweep" / "s1-alone"
    assert world_runs([places]) == (one, alone, friend)
    assert world_runs([friend, places / "sweep", friend]) == (friend, alone)
    assert world_runs([places / "sweep" / "past"]) == (places / "sweep" / "past",), (
        "named by itself"
    )
    assert common_place([one, friend]) == places and common_place([one]) == one
    with pytest.raises(RunError, match="no run of a world there"):
        world_runs([places / "more" / "nowhere"])


def test_all_at_once_and_each_once(simcounsel: Command, places: Path) -> None:
    given = ("rate", places, "--instrument", "empathy", "--model", "scripted", "--processes", 2)
    before = simcounsel(*given, "--dry-run")
    assert "runs         2 to measure; in 1 there is nothing to measure" in before.out
    assert "counted      the questions for 4 measurements" in before.out
    assert not list(places.rglob("measurements")), "nothing is written"
    ended = simcounsel(*given)
    assert ended.code == 0
    assert "3 runs to measure with empathy, answered by scripted" in ended.out
    assert ended.out.count("2 measured") == 2 and "(3 of 3)" in ended.out
    assert "for trying the software only" in ended.err
    friend, one = places / "sweep" / "s1-friend", places / "more" / "deeper" / "one"
    assert rated(friend) == rated(one) == [2]
    assert not (places / "sweep" / "past" / "measurements").exists()
    again = simcounsel(*given)
    assert (again.code, rated(friend), rated(one)) == (0, [2], [2])
    assert "; 0 requests" in again.out
    assert "2 are rated already" in simcounsel(*given, "--dry-run").out
    assert simcounsel(*given, "--rounds", 2).code == 0
    assert rated(friend) == rated(one) == [2, 2], "a retest of each"


def test_one_that_is_damaged_does_not_stop_the_others(simcounsel: Command, places: Path) -> None:
    log = places / "sweep" / "s1-friend" / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Ines", b"Inez", 1))
    ended = simcounsel("rate", places, "--instrument", "talk_measures")
    assert ended.code == 1
    assert "failed   " in ended.out and "s1-friend" in ended.out
    assert rated(places / "more" / "deeper" / "one") == [2]


def test_one_budget_for_all(simcounsel: Command, places: Path) -> None:
    with FaultServer() as server:
        given = ("rate", places, "--instrument", "empathy", "--model", f"{server.url}/m", "--processes", 1,
                 "--in-flight", 1)  # fmt: skip
        stopped = simcounsel(*given, "--budget-calls", 3)
        assert (stopped.code, len(server.bodies)) == (3, 3)
        assert "given up" in stopped.out
        ended = simcounsel(*given, "--budget-calls", "none")
        assert ended.code == 0
        every = len(server.bodies)
    with FaultServer() as server:
        whole = (
            "rate",
            places,
            "--instrument",
            "empathy",
            "--model",
            f"{server.url}/m",
            "--rounds",
            1,
        )
        assert simcounsel(*whole).code == 0
        assert len(server.bodies) == every, (
            "nothing was paid for twice; another address is another judge"
        )


def test_a_run_with_a_budget_of_its_own_keeps_it(simcounsel: Command, places: Path) -> None:
    run = places / "more" / "deeper" / "one"
    given = ("--instrument", "empathy", "--model", "scripted")
    assert simcounsel("rate", run, *given, "--budget-calls", 1).code == 3
    ended = simcounsel("rate", places, *given)
    assert ended.code == 1 and "a budget of their own (1 calls)" in ended.out
    assert rated(places / "sweep" / "s1-friend") == [2]


@pytest.mark.slow
@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGINT])
def test_killed_it_asks_nothing_twice(
    simcounsel: Command, places: Path, tmp_path: Path, ends: signal.Signals
) -> None:
    whole = shutil.copytree(places, tmp_path / "whole")
    answered = 5  # fewer than one run takes, so that both are under way
    with FaultServer() as server:
        given = ("--instrument", "empathy", "--model", f"{server.url}/m", "--processes", "2", "--in-flight", "2", "--samples", "3")  # fmt: skip
        assert simcounsel("rate", whole, *given).code == 0
        every = len(server.bodies)
        server.bodies.clear()
        server.faults = lambda index: "stall" if index >= answered else None
        command = [sys.executable, "-m", "simcounsel", "rate", str(places), *given]
        with subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        ) as process:  # fmt: skip
            try:
                until = time.monotonic() + 60
                while len(server.bodies) < answered + 2:
                    assert process.poll() is None and time.monotonic() < until
                    time.sleep(0.05)
                begun = begun_by(process.pid)
                os.kill(process.pid, ends)
                out, _ = process.communicate(timeout=30)
            finally:
                process.kill()
        assert left_after(begun, seconds=5) == frozenset(), "none goes on without whoever began it"
        assert b"Traceback" not in out
        if ends != signal.SIGKILL:
            assert b"the same command goes on, and asks nothing twice" in out
            assert process.returncode == 130
        server.bodies.clear()
        server.faults = lambda index: None
        assert simcounsel("rate", places, *given).code == 0
        assert len(server.bodies) == every - answered
    for run in world_runs([places]):
        twin = whole / run.relative_to(places)
        assert [
            one.measured for file in measurement_files(run) for one in measurements_in(file)
        ] == [one.measured for file in measurement_files(twin) for one in measurements_in(file)]


def _works(job: object, tell: Tell) -> Report:
    """A job of a test's own."""
    if job == "dies":
        os._exit(7)
    tell({"at": 1})
    if job == "half a word":
        os.write(tell.__self__.fileno(), b"\0\0\0\x40half of a rep")  # type: ignore[attr-defined]
        os._exit(8)
    if job == "sleeps":
        time.sleep(60)
    return {"end": "done", "cause": job}


def test_a_crew_hears_of_each_end() -> None:
    """Also of one that is gone without a word, or within one: what is left in its pipe is no report."""
    crew = Crew(_works)
    for name in ("works", "dies", "half a word"):
        crew.begin(name, name)
    heard: list[tuple[str, Report]] = []
    until = time.monotonic() + 30
    while len(crew) and time.monotonic() < until:
        heard += crew.listen()
    told = {
        who: [one for name, one in heard if name == who] for who in ("works", "dies", "half a word")
    }
    lost = {"end": "failed", "lost": True}
    assert told == {
        "works": [{"at": 1}, {"end": "done", "cause": "works"}],
        "dies": [lost | {"cause": "its process ended with 7"}],
        "half a word": [{"at": 1}, lost | {"cause": "its process ended with 8"}],
    }
    crew.begin("sleeps", "sleeps")
    while not list(crew.listen()):
        pass
    began = time.monotonic()
    list(crew.stop())
    assert len(crew) == 0 and time.monotonic() - began < 5
