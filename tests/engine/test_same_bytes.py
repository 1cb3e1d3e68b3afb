"""The same world, seed and replies give the same log: at once, slowly, elsewhere, after a crash, out of a recording."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import ModelError, RunError
from simcounsel.events import Said
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.each import each
from tests.stage import (
    ROOT,
    Listening,
    begun,
    changed,
    go_on,
    happened,
    live,
    log,
    switchboard,
    three,
    tiny,
)

CHILD = """
import asyncio, sys
from pathlib import Path
from simcounsel.engine import opening
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted

class Slow(Scripted):
    async def complete(self, request, complaint):
        await asyncio.sleep(0.02)
        return await super().complete(request, complaint)

run = Run.open(Path(sys.argv[1]))
if sys.argv[2] == "slow":
    opening.open_chat = lambda name: Slow()
Simulation(run.world, run=run, limits=Limits(in_flight=2)).run()
"""


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Everybody in the tiny world, straight through."""
    return live(tmp_path_factory.mktemp("straight"), three())


def child(run: Run, pace: str, hash_seed: str) -> subprocess.Popen[bytes]:
    env = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(run.folder), pace],
        env=env,
        cwd=run.folder,
        stderr=subprocess.PIPE,
    )


def calls_made(run: Run) -> int:
    file = run.folder / "calls.jsonl"
    return file.read_bytes().count(b"\n") if file.is_file() else 0


@pytest.mark.parametrize("in_flight", [1, 3, 64])
def test_however_many_are_asked_at_once(tmp_path: Path, straight: Run, in_flight: int) -> None:
    assert log(live(tmp_path, three(), limits=Limits(in_flight=in_flight))) == log(straight)


def test_whoever_answers_first(tmp_path: Path, straight: Run) -> None:
    class Dawdling(Scripted):
        async def complete(self, request: Question, complaint: str | None) -> Completion:
            await asyncio.sleep(random.random() / 100)
            return await super().complete(request, complaint)

    assert log(live(tmp_path, three(), models=switchboard(Dawdling()))) == log(straight)


@pytest.mark.slow
def test_in_another_process(tmp_path: Path, straight: Run) -> None:
    run = begun(tmp_path, three())
    process = child(run, "fast", "4711")
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    assert log(run) == log(straight)


@pytest.mark.slow(10)
def test_killed_at_random_moments(tmp_path: Path, straight: Run) -> None:
    run, draw = begun(tmp_path, three()), random.Random()
    total, killed = calls_made(straight), 0
    for _ in range(2):
        until = calls_made(run) + draw.randint(5, total // 4)
        process = child(run, "slow", "random")
        deadline = time.monotonic() + 120
        while process.poll() is None and calls_made(run) < until and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        kept = log(run) if (run.folder / "events.jsonl").is_file() else b""
        assert log(straight).startswith(kept[: kept.rfind(b"\n") + 1])
    assert killed == 2
    assert Run.open(run.folder).ticks_done() < 12
    asked = calls_made(run)
    go_on(run)
    assert log(run) == log(straight)
    assert asked < calls_made(run) <= total + 6, "replies that were there were asked for again"


@each("ticks", [1, 2, 3, 7])
def test_stopped_and_resumed(tmp_path: Path, straight: Run, ticks: int) -> None:
    run = live(tmp_path, three(), ticks)
    assert log(straight).startswith(log(run))
    while run.ticks_done() < 12:
        before = run.ticks_done()
        go_on(run, ticks)
        assert run.ticks_done() == min(12, before + ticks)
    assert log(run) == log(straight)
    assert {c["key"] for c in run.calls()} == {c["key"] for c in straight.calls()}


def test_out_of_a_recording(tmp_path: Path, straight: Run) -> None:
    again = Simulation(three(), model=f"recorded:{straight.folder}", out=tmp_path).run()
    assert log(again) == log(straight)
    assert list(again.calls()) == []
    assert Run.open(again.folder).world == again.world


def test_recording_that_is_replayed_in_two_parts(tmp_path: Path, straight: Run) -> None:
    again = Simulation(
        three(), model=f"recorded:{straight.folder}", out=tmp_path / ("a long name " * 12)
    ).run(4)
    assert log(go_on(again)) == log(straight)


def test_recording_of_another_world(tmp_path: Path, straight: Run) -> None:
    with pytest.raises(
        ModelError,
        match="the recording holds no reply to .* replays only the same world, seed and version",
    ):
        Simulation(three(), model=f"recorded:{straight.folder}", seed=5, out=tmp_path).run()


def test_recording_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run there"):
        Simulation(tiny(), model=f"recorded:{tmp_path / 'nothing'}", out=tmp_path).run()


@pytest.mark.parametrize("cut", [1, 20, 400, 5000])
def test_log_cut_short_is_made_whole(
    tmp_path: Path, straight: Run, cut: int, caplog: pytest.LogCaptureFixture
) -> None:
    run = live(tmp_path, three(), 4)
    whole = log(run)
    (run.folder / "events.jsonl").write_bytes(whole[:-cut])
    opened = Run.open(run.folder)
    assert opened.ticks_done() < 4
    simulation = Simulation(opened.world, run=opened)
    assert opened.dropped is not None
    assert f"tick {simulation.tick} is run again" in opened.dropped
    assert opened.dropped in caplog.text
    simulation.run()
    assert log(run) == log(straight)


def test_lines_of_an_unfinished_tick_are_dropped(tmp_path: Path, straight: Run) -> None:
    run = live(tmp_path, three(), 2)
    with (run.folder / "events.jsonl").open("ab") as file:
        file.write(log(straight)[len(log(run)) :][:2000])
    go_on(run)
    assert log(run) == log(straight)


@pytest.mark.parametrize("cut", [1, 30, 300])
def test_call_cut_short_is_asked_again(tmp_path: Path, straight: Run, cut: int) -> None:
    run = live(tmp_path, three(), 4)
    file = run.folder / "calls.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    (run.folder / "events.jsonl").write_bytes(
        b"".join(
            line for line in log(run).splitlines(keepends=True) if json.loads(line)["tick"] < 3
        )
    )
    go_on(run)
    assert log(run) == log(straight)
    assert sum(c["key"] == last_key(straight) for c in run.calls()) == 1


def last_key(run: Run) -> str:
    return str(list(run.calls())[-1]["key"])


def test_recording_is_used_before_asking(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=3)
    (run.folder / "events.jsonl").write_bytes(b"")
    listening = Listening()
    opened = Run.open(run.folder)
    from simcounsel.engine.opening import models_for

    models = models_for(opened)
    models.chat = dict.fromkeys(models.chat, listening)
    Simulation(opened.world, run=opened, models=models).run(3)
    assert listening.requests == []
    assert models.usage.calls == 0
    assert models.usage.replayed > 0


def test_words_from_all_over_the_world(tmp_path: Path) -> None:
    words = "Olá, “não durmo” \u2028 — 睡不着 🛌"
    say = {
        "line_client": lambda request, draw: json.dumps(
            {
                "say": f"I say it in plain English: {words} {draw.randrange(99999)}",
                "emotion": "fear",
                "intensity": 3,
                "poignancy": 3,
                "wish": "go on",
            }
        )
    }
    run = live(tmp_path, models=switchboard(Scripted(say)))
    whole = log(run)
    (run.folder / "events.jsonl").write_bytes(whole[: len(whole) // 2])
    go_on(run)
    assert log(run) == whole
    assert any("睡不着 🛌" in said.text for said in happened(run, Said))


def test_tick_length_and_seed_are_in_the_world(tmp_path: Path) -> None:
    one, other = (live(tmp_path, changed(three(), seed=seed), 3) for seed in (1, 2))
    assert Run.open(one.folder).world.seed == 1
    assert log(one) != log(other)
