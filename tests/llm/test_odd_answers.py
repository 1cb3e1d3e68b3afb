"""What a server says beside its answers never makes a run unreadable."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simcounsel.llm.models import (
    MOST_CHARACTERS,
    MOST_NOTED,
    MOST_TOKENS,
    Completion,
    Failure,
    taken_in,
)
from simcounsel.runs.call_chain import EDITED, CallChain, damaged_calls, last_digest
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.commands import Command, only_run
from tests.each import each
from tests.llm.server import FaultServer
from tests.llm_switchboard.test_switchboard import WRITE, Paper, Says, answer
from tests.stage import TINY, switchboard

Answer = dict[str, Any]


def finishing(finish: object) -> Callable[[Answer], None]:
    return lambda body: body["choices"][0].update(finish_reason=finish)


def counting(tokens: object) -> Callable[[Answer], None]:
    return lambda body: body.update(usage={"prompt_tokens": tokens, "completion_tokens": tokens})


ODD: dict[str, Callable[[Answer], None]] = {
    "2^63 tokens": counting(2**63),
    "2^64 tokens": counting(2**64),
    "tokens whose sum over two tries is too large": counting(2**63 - 1),
    "-1 tokens": counting(-1),
    "half a token": counting(0.5),
    "half a character": finishing("\ud800"),
    "300 KB of a reason": finishing("why " * 75_000),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_run_with_an_odd_answer_can_be_read_and_gone_on_with(
    odd: str, simcounsel: Command, tmp_path: Path
) -> None:
    out = tmp_path / "runs"
    with FaultServer(amend=ODD[odd]) as server:
        told = ("--model", f"{server.url}/m", "--set", "models.embed=scripted")
        limits = ("--set", "fallbacks.most=1", "--out", out)
        assert simcounsel("run", TINY, *told, *limits, "--ticks", 2).code == 0
        run = only_run(out)
        assert not verify(run.folder).damages
        calls = list(run.calls())
        assert calls and (run.folder / "calls.jsonl").stat().st_size < 10_000 * len(calls)
        before = (run.folder / "events.jsonl").read_bytes()
        assert simcounsel("resume", run.folder, "--ticks", 1).code == 0
    assert Run.open(run.folder).ticks_done() == 3
    assert (run.folder / "events.jsonl").read_bytes().startswith(before)


@each("tokens", [2**63, 2**64, MOST_TOKENS + 1, -1, True])
def test_a_count_that_can_be_none_is_not_told(tokens: int) -> None:
    recorder = Paper()
    said = Completion(text="A note.", tokens_in=tokens, tokens_out=tokens)
    models = switchboard(Says(said), recorder=recorder)
    assert answer(models, WRITE).value == "A note."
    models.close()
    (call,) = recorder.calls
    assert (call["reply"], call["tokens_in"], call["tokens_out"]) == ("A note.", 0, 0)
    assert models.usage.tokens_in == 0


def test_what_is_said_beside_an_answer_is_kept_short_and_whole() -> None:
    got = taken_in(Completion(text="so \ud800", notes={"finish": "\udfff" + "x" * 10**6}))
    assert got.text == "so ?"
    assert got.notes["finish"] == "?" + "x" * (MOST_NOTED - 1)
    assert Failure("\ud800" * 10**6).cause == "?" * MOST_NOTED


def test_an_answer_without_end_is_no_answer() -> None:
    with pytest.raises(Failure, match="200,001 characters; 200,000 are the most"):
        taken_in(Completion(text="x" * (MOST_CHARACTERS + 1)))


def test_a_line_with_blanks_of_an_older_run_is_read(tmp_path: Path) -> None:
    chain, file = CallChain(), tmp_path / "calls.jsonl"
    begun = json.dumps({"key": "a", "tokens_in": 2**64, "after": ""})[:-1].encode()
    chain.last = hashlib.sha256(begun).hexdigest()
    old = b'%s,"digest":"%s"}\n' % (begun, chain.last.encode())
    file.write_bytes(old + chain.line({"key": "b"}))
    assert not list(damaged_calls(file, chained=True))
    assert last_digest(file) == chain.last
    file.write_bytes(old.replace(b'"a"', b'"c"') + chain.line({"key": "b"}))
    assert next(damaged_calls(file, chained=True)) == (1, EDITED)
