"""Synthesis as its users meet it: the command line, whole processes that are stopped and killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simcounsel.corpus.synthesis.account import dialogues_of
from simcounsel.corpus.synthesis.commands import _closing
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings_file import settings_from
from simcounsel.engine.opening import begin_record
from simcounsel.runs.writing import Writer
from tests.commands import Command, only_run
from tests.corpus.written import written
from tests.stage import ROOT, log
from tests.test_cli import heeds_ctrl_c

SLOW = (
    "import asyncio, sys\nfrom simcounsel.scripted import Scripted\nfast = Scripted.complete\n"
    "async def slow(self, request, complaint):\n    await asyncio.sleep(0.02)\n    return await fast(self, request, complaint)\n"
    "Scripted.complete = slow\nfrom simcounsel.cli import main\nmain()\n"
)
SCRIPTED = ("--model", "scripted", "--sessions", "6", "--wave", "2")


def begun(out: Path, *words: str) -> subprocess.Popen[str]:
    """`synthesize` in a process of its own, slowed down, with at least one wave written."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, "synthesize", *SCRIPTED, "--out", str(out), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=heeds_ctrl_c,
    )
    deadline = time.monotonic() + 60
    while not list(out.glob("*/events.jsonl")) or only_run(out).ticks_done() < 1:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def test_from_situations_to_dialogues(simcounsel: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text(
        "I drive a bus and I dream of the stop where he lay. I want to sleep.\nI am a nun and I have stopped praying. Nobody knows. What can I do?\n",
        encoding="utf-8",
    )
    ended = simcounsel(
        "synthesize", "mine.txt", "--model", "scripted", "--wave", "1", "--without", "manager"
    )
    assert ended.code == 0, ended.err
    run = only_run(tmp_path / "runs")
    assert run.name.startswith("mine-no-manager-s1-")
    assert [dialogue.client for dialogue in dialogues_of(run)] == ["mine-01", "mine-02"]
    for word in (
        "wave 1 is written, 2 of 2",
        "written        2 of 2 sessions",
        "without        manager",
        "look at it in your browser: simcounsel view",
    ):
        assert word in ended.out, word
    shown = simcounsel("show", run.folder, "--conversation", "2")
    assert "from the situation mine-02" in shown.out
    assert "I am a nun and I have stopped praying." in shown.out
    assert "2 of 2 sessions" in simcounsel("show", run.folder).out
    assert "complete (2 waves)" in simcounsel("resume", run.folder).out
    assert simcounsel("show", run.folder, "--who", "Ines").code == 2
    assert simcounsel("corpus", "check", run.folder, "--rule", "repeated_speaker").code == 0
    assert (
        simcounsel(
            "export", run.folder, "--format", "openai", "-o", tmp_path / "out", "--no-check"
        ).code
        == 0
    )
    lines = [
        json.loads(line)
        for file in (tmp_path / "out").glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len(lines) == 2


def test_in_a_world_s_commands_a_synthesis_says_what_it_is(
    simcounsel: Command, tmp_path: Path
) -> None:
    simcounsel("synthesize", "--model", "scripted", "--sessions", "1")
    run = only_run(tmp_path / "runs").folder
    for words in (
        ("talk", run, "--who", "Ines"),
        ("rate", run, "--instrument", "insomnia_severity"),
    ):
        ended = simcounsel(*words)
        assert ended.code == 1
        assert "nobody lives" in ended.err, ended.err


@pytest.mark.parametrize("command", [("resume", "--from", 1), ("fork", "--at", 1, "--out", "c")])
def test_no_human_takes_part_in_a_synthesis(
    simcounsel: Command, tmp_path: Path, command: tuple[object, ...]
) -> None:
    run = written(tmp_path)
    before = log(run)
    ended = simcounsel(command[0], run.folder, *command[1:], "--human", "Ines")
    assert ended.code == 2
    assert "--human" in ended.err and "nobody lives in it" in " ".join(ended.err.split())
    assert "`simcounsel run WORLD --human NAME`" in " ".join(ended.err.split())
    assert log(run) == before and [run.folder] == list(tmp_path.iterdir()), "moved or made"


def test_strategies_go_from_one_synthesis_to_the_next(simcounsel: Command, tmp_path: Path) -> None:
    simcounsel("synthesize", *SCRIPTED, "--out", "a")
    run = only_run(tmp_path / "a")
    assert "K001" in simcounsel("show", run.folder, "--strategies").out
    assert simcounsel("show", run.folder, "--strategies", "--tick", "1", "-o", "k.yaml").code == 0
    assert simcounsel("synthesize", *SCRIPTED, "--out", "b", "--strategies", "k.yaml").code == 0
    assert (
        "given from the beginning"
        in simcounsel("show", only_run(tmp_path / "b").folder, "--strategies").out
    )
    assert simcounsel("show", run.folder, "--strategies", "--tick", "9").code == 1
    assert "such as fewest_turns=3" in simcounsel("synthesize", "--set", "turns").err
    forked = simcounsel("fork", run.folder, "--at", "1", "--set", "dropped=[K001]", "--out", "c")
    assert forked.code == 0, forked.err
    assert "dropped" in simcounsel("show", only_run(tmp_path / "c").folder, "--strategies").out
    assert (
        simcounsel("fork", run.folder, "--at", "1", "--set", "situations=x", "--out", "c").code == 1
    )


@pytest.mark.slow
def test_a_sweep_of_syntheses(simcounsel: Command, tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text(
        "name: e\nsynthesis: {situations: shipped, sessions: 4, wave: 2, models: {default: scripted}}\n"
        "conditions:\n  - {name: alone, set: {without: [evaluator]}}\n  - {name: full}\n",
        encoding="utf-8",
    )
    planned = simcounsel("sweep", "e.yaml", "--dry-run")
    assert re.search(r"sessions +8\n", planned.out)
    assert "without.0: alone evaluator | full (none)" in planned.out
    ended = simcounsel("sweep", "e.yaml", "--quiet")
    assert ended.code == 0, ended.err
    assert "simcounsel study corpus sweeps/e" in ended.out
    assert sorted(
        path.parent.name for path in (tmp_path / "sweeps" / "e").glob("*/synthesis.json")
    ) == ["s1-alone", "s1-full"]
    before = {
        path: path.read_bytes() for path in (tmp_path / "sweeps" / "e").glob("*/events.jsonl")
    }
    assert simcounsel("sweep", "e.yaml", "--quiet").code == 0
    assert {path: path.read_bytes() for path in before} == before, "nothing is written twice"


@pytest.mark.slow
def test_ctrl_c_loses_nothing(simcounsel: Command, tmp_path: Path) -> None:
    process = begun(tmp_path / "out")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    run = only_run(tmp_path / "out")
    assert "stopped by Ctrl-C; the unfinished wave is written again on resume" in out
    assert process.returncode == 130
    assert f"simcounsel resume {run.folder}" in out
    _same_after_resume(simcounsel, run, tmp_path)


@pytest.mark.slow
def test_kill_in_the_middle_loses_nothing(simcounsel: Command, tmp_path: Path) -> None:
    process = begun(tmp_path / "out")
    time.sleep(0.15)
    process.kill()
    process.communicate(timeout=60)
    _same_after_resume(simcounsel, only_run(tmp_path / "out"), tmp_path)


def _same_after_resume(simcounsel: Command, run: SynthesisRecord, tmp_path: Path) -> None:
    assert run.ticks_done() < 3
    assert simcounsel("resume", run.folder).code == 0
    simcounsel("synthesize", *SCRIPTED, "--out", "whole")
    assert log(run) == log(only_run(tmp_path / "whole"))


def test_a_full_disk_is_said_in_one_line(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Writer, lines: list[str]) -> None:
        raise self._cannot_write(OSError(28, "No space left on device"))

    monkeypatch.setattr(Writer, "append", full)
    ended = simcounsel("synthesize", "--model", "scripted", "--sessions", "1")
    assert ended.code == 1
    assert "No space left on device" in ended.err
    assert "simcounsel resume" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.slow
def test_other_processes_write_the_same_bytes(tmp_path: Path) -> None:
    for name, hashing in (("a", "1"), ("b", "2")):
        subprocess.run(
            [
                sys.executable,
                "-m",
                "simcounsel",
                "synthesize",
                *SCRIPTED,
                "--without",
                "manager",
                "--out",
                str(tmp_path / name),
                "-q",
            ],
            check=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hashing},
            stdout=subprocess.DEVNULL,
        )
    a, b = (only_run(tmp_path / name) for name in "ab")
    assert log(a) == log(b)
    assert a.manifest.synthesis == b.manifest.synthesis


def test_what_is_not_begun_is_only_resumed_and_numbers_go_on(
    simcounsel: Command, tmp_path: Path
) -> None:
    """An empty synthesis has nothing to show or export; after a resume lines and revisions are counted from the beginning."""
    ended = simcounsel("synthesize", *SCRIPTED, "--budget-calls", "1")
    run = only_run(tmp_path / "runs")
    first = re.findall(r"sessions, (\d+) lines", ended.out)
    again = simcounsel("resume", run.folder, "--budget-calls", "none")
    counts = [int(lines) for lines in first + re.findall(r"sessions, (\d+) lines", again.out)]
    assert counts == sorted(set(counts)) and counts[-1] == sum(
        len(one.turns) for one in dialogues_of(run)
    )


def test_nothing_written_nothing_to_go_on_with_but_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = begin_record(
        SynthesisRecord, settings_from([], {"sessions": 1}, model="scripted"), tmp_path
    )
    _closing(run, None)
    assert capsys.readouterr().out.endswith(f"to go on: simcounsel resume {run.folder}\n")
