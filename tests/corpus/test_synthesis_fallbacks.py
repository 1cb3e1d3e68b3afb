"""A synthesis whose answers are unusable stops instead of writing fiction, and goes on once they
are.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from simcounsel.corpus.synthesis.account import account_lines
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.errors import TooManyFallbacks
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.scripted import Scripted
from simcounsel.specs.world_settings import FallbackLimits
from tests.commands import Command, only_run
from tests.corpus.bench import board, settings, written
from tests.llm.server import FaultServer
from tests.stage import NEVER, log


class Broken(Scripted):
    """Answers some questions with nonsense."""

    def __init__(self, which: Callable[[Question], bool]) -> None:
        super().__init__()
        self.which = which

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        if self.which(request):
            return Completion(text="", tokens_in=1, tokens_out=1)
        return await super().complete(request, complaint)


def stopped(
    out: Path, about: Synthesis | SynthesisRecord, which: Callable[[Question], bool]
) -> tuple[SynthesisRecord, str]:
    workshop = Workshop(about, out=out, models=board(Broken(which)))
    with pytest.raises(TooManyFallbacks) as caught:
        workshop.run()
    return SynthesisRecord.open(workshop.record.folder), str(caught.value)


def test_too_large_a_share_stops_it_and_resume_asks_anew(tmp_path: Path) -> None:
    limits = FallbackLimits(most=0.1, over=10)
    second = {"S0003", "S0004"}
    run, why = stopped(
        tmp_path,
        settings(4, fallbacks=limits),
        lambda question: question.who in second and question.purpose in ("evaluate", "extract"),
    )
    assert "answers in this run were fallbacks, more than `fallbacks.most: 0.1` allows" in why
    assert f"the wave is not written. See what the model answers in {run.folder}" in why
    assert f"`simcounsel resume {run.folder}` asks again" in why
    assert run.ticks_done() == 1
    assert [(stop.tick, stop.why) for stop in run.manifest.stops] == [(1, why)]
    assert any(line.startswith("given up       wave 1 at ") for line in account_lines(run))
    again, _ = written(tmp_path, run, Scripted())
    whole, _ = written(tmp_path / "whole", settings(4, fallbacks=limits), Scripted())
    assert log(again) == log(whole)


def test_a_session_that_is_half_canned_is_not_written(tmp_path: Path) -> None:
    run, why = stopped(tmp_path, settings(2), lambda question: question.purpose == "seek")
    assert "in the conversation S0001 " in why and " lines would be fallbacks" in why
    assert run.ticks_done() == 0


def test_what_was_written_counts_after_a_resume(tmp_path: Path) -> None:
    """Where too much is in the log already, the way back is named."""
    limits = FallbackLimits(most=0.1, over=40)
    run, _ = stopped(
        tmp_path, settings(6, fallbacks=limits), lambda question: question.purpose == "evaluate"
    )
    assert run.ticks_done() == 1
    _, why = stopped(tmp_path, run, lambda question: False)
    assert "--from 0` asks again" in why


def test_most_1_never_stops_it(tmp_path: Path) -> None:
    run, _ = written(tmp_path, settings(2, fallbacks=NEVER), Broken(lambda question: True))
    assert run.ticks_done() == 1


def test_the_command_stops_with_code_3(simcounsel: Command, tmp_path: Path) -> None:
    with FaultServer(answer=lambda body: "") as server:
        ended = simcounsel(
            "synthesize", "--sessions", 1, "--model", f"{server.url}/m", "--out", tmp_path, "-q"
        )  # fmt: skip
    run = only_run(tmp_path)
    assert (ended.code, log(run)) == (3, b"")
    assert f"`simcounsel resume {run.folder}` asks again" in ended.err
    assert "given up       wave 0 at " in ended.out
