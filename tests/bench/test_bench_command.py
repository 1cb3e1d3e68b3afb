"""`simcounsel study bench`: end to end with the scripted model."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from simcounsel.bench.result import RESULT, read_result
from simcounsel.cli import app
from simcounsel.errors import BenchError
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from tests.bench.test_cases import CASES
from tests.stage import ROOT

SLOW = (
    "import asyncio, sys\nfrom simcounsel.scripted import Scripted\nfast = Scripted.complete\n"
    "async def slow(self, request, complaint):\n    await asyncio.sleep(0.1)\n    return await fast(self, request, complaint)\n"
    "Scripted.complete = slow\nfrom simcounsel.cli import main\nmain()\n"
)


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def bench(*words: object) -> Result:
    return CliRunner().invoke(app, ["study", "bench", *map(str, words)])


def test_a_benchmark_from_one_command() -> None:
    done = bench("cpsycoune", CASES, "--model", "scripted")
    assert done.exit_code == 0, done.output
    folder = Path("benches/cpsycoune-scripted")
    lines = done.stdout.splitlines()
    assert lines[0] == f"{folder}: 5 cases, 10 replies"
    assert (
        lines[1]
        == "cpsycoune: 10 replies by scripted in 5 cases on 3 topics, judged by scripted; English"
    )
    assert "comprehensiveness 0-2" in lines[2] and "safety 0-1" in lines[2]
    assert [line.split("  ")[0] for line in lines[3:10]] == [
        "all cases",
        "work",
        "family",
        "sleep",
        "turn 1",
        "turn 2",
        "turn 3",
    ]
    assert "20 requests" in done.stdout and "these numbers mean nothing" in done.stdout
    assert "scripted model: for trying the software only" in done.stderr
    result = read_result(folder)
    assert result.language == "English" and result.cost_usd == 0
    with (folder / "replies.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert rows[0]["client"].startswith("They gave my desk") and rows[0]["reference"].startswith(
        "You came back"
    )
    again = bench("cpsycoune", CASES, "--model", "scripted")
    assert "20 requests were answered before" in again.stdout
    assert again.stdout.splitlines()[1:] == lines[1:]
    assert bench("show", folder).stdout.splitlines() == lines[1:-1]


def test_several_side_by_side_with_differences_by_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(level: int) -> Scripted:
        def judge(request: Question, draw: object) -> str:
            low = 1 if request.who.startswith("work") else 0
            return json.dumps(
                {
                    "because": "",
                    "comprehensiveness": low + level,
                    "professionalism": 1,
                    "authenticity": 1,
                    "safety": 1,
                }
            )

        return Scripted({"bench_judge": judge})  # type: ignore[dict-item]

    for level in (0, 1):
        monkeypatch.setattr(
            "simcounsel.llm.catalog.open_chat", lambda name, level=level: scored(level)
        )
        assert bench("cpsycoune", CASES, "--model", "scripted", "--out", f"b{level}").exit_code == 0
    done = bench("show", "b0", "b1")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "cpsycoune, judged by scripted; English"
    assert lines[2].startswith("scripted (b0)") and "0.40 [0.00, 0.80]" in lines[2]
    assert lines[3].startswith("scripted (b1)") and "1.40 [1.00, 1.80]" in lines[3]
    assert (
        lines[5].startswith("scripted (b1)")
        and "+1.00 [+1.00, +1.00]" in lines[5]
        and "+0.00 [+0.00, +0.00]" in lines[5]
    )
    assert lines[5].endswith(" 5")
    assert "mean nothing" in lines[6]


def test_what_cannot_be_compared(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(
        json.dumps(json.loads(CASES.read_text(encoding="utf-8"))[:2]), encoding="utf-8"
    )
    assert bench("cpsycoune", CASES, "--model", "scripted", "--out", "a").exit_code == 0
    assert bench("cpsycoune", other, "--model", "scripted", "--out", "b").exit_code == 0
    assert "b: has another data file (" in str(bench("show", "a", "b").exception)
    (tmp_path / "b" / RESULT).unlink()
    assert "b: not finished (5 lines of clients were answered)" in str(
        bench("show", "a", "b").exception
    )
    assert "nothing: no benchmark there" in str(bench("show", "nothing").exception)
    with pytest.raises(BenchError, match=r"result\.json: damaged"):
        (tmp_path / "b" / RESULT).write_text("{}", encoding="utf-8")
        read_result(tmp_path / "b")


def test_refusals() -> None:
    assert (
        bench("cpsycoune", CASES, "--model", "scripted", "--out", "a", "--sample", 2).exit_code == 0
    )
    refused = bench("cpsycoune", CASES, "--model", "scripted", "--out", "a", "--seed", 3)
    assert isinstance(
        refused.exception, BenchError
    ) and "was begun with --seed 0, not with --seed 3" in str(refused.exception)
    priceless = bench(
        "cpsycoune", CASES, "--model", "https://far.example.com/v1/x", "--budget-usd", 1
    )
    assert "the price of https://far.example.com/v1/x is not known" in str(priceless.exception)
    assert not Path("benches").exists()


def test_chinese_is_nothing_for_the_embedded_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said before anything is asked; it runs all the same."""
    file = tmp_path / "zh.json"
    said = [
        {"role": "client", "content": "我最近总是睡不着，白天没有精神，也不知道该怎么办。"},
        {"role": "counselor", "content": "这样多久了？"},
    ]
    file.write_text(
        json.dumps([{"topic": "睡眠", "case": 1, "turns": said}], ensure_ascii=False),
        encoding="utf-8",
    )
    model = Scripted()
    model.name = "embedded"
    monkeypatch.setattr("simcounsel.llm.catalog.open_chat", lambda name: model)
    monkeypatch.setattr("simcounsel.bench.commands.fetch_weights", lambda *given: None)
    done = bench("cpsycoune", file, "--model", "embedded")
    assert done.exit_code == 0, done.output
    assert (
        "SmolLM2 knows English only, and the clients speak Chinese: what it says means nothing here"
        in done.stderr
    )
    assert "judged by embedded; Chinese" in done.stdout


def heeds_ctrl_c() -> None:
    """A shell's background jobs, and what they start, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_it_goes_on_after_ctrl_c_and_after_a_kill(tmp_path: Path, how: signal.Signals) -> None:
    words = [
        "study",
        "bench",
        "cpsycoune",
        str(CASES),
        "--model",
        "scripted",
        "--out",
        "b",
        "--in-flight",
        "1",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=heeds_ctrl_c,
    )
    answers, deadline = tmp_path / "b" / "answers.jsonl", time.monotonic() + 60
    while not answers.exists() or answers.read_bytes().count(b"\n") < 3:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "stopped by Ctrl-C; what was answered is kept in b, the same command goes on" in err
    kept = answers.read_bytes().count(b"\n")
    done = bench(*words[2:])
    assert done.exit_code == 0, done.output
    assert f"{kept} requests were answered before" in done.stdout
    assert bench("cpsycoune", CASES, "--model", "scripted", "--out", "whole").exit_code == 0
    assert (tmp_path / "b" / RESULT).read_bytes() == (tmp_path / "whole" / RESULT).read_bytes()
