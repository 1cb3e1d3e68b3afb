"""A request that was broken off and asked again: whoever reads the calls takes the answer, and counts what was sent."""

import json
from pathlib import Path

import pytest

from analysis import tables
from simcounsel.runs.call_chain import CallChain
from simcounsel.runs.history import History
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summarize
from simcounsel.runs.verifying import check_log
from tests.stage import live


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Its first call is there twice, first as one that was given up after three requests."""
    lived = live(tmp_path, ticks=2)
    file = lived.folder / "calls.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    at = next(at for at, line in enumerate(lines) if json.loads(line)["verb"] != "embed")
    first = json.loads(lines[at])
    broken = first | {"reply": None, "messages": [], "given_up": True, "tries": 3}
    broken |= {"problem": "broken off before it was answered", "latency_s": 60.0}
    broken.pop("source")
    chain = CallChain()
    file.write_bytes(b"".join(map(chain.line, [broken, *map(json.loads, lines)])))
    return Run.open(lived.folder)


def test_who_reads_a_tick_gets_the_answer(run: Run) -> None:
    calls = list(History.of(run).calls(0))
    first = next(run.calls())
    (found,) = [call for call in calls if call.key == first["key"]]
    assert found.reply is not None and not found.given_up


def test_what_was_sent_counts_and_is_no_answer(run: Run) -> None:
    spending = summarize(run).spending
    asked = [call for call in run.calls() if call.get("verb") != "embed"]
    assert spending.calls == len(asked) - 1
    assert spending.requests >= 3 + spending.calls
    assert tables.costs([run.folder])["calls"].sum() == len(asked) - 1


def test_the_log_is_sound(run: Run) -> None:
    check_log(run)
