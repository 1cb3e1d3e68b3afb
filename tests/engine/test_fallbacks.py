"""A run whose answers are unusable stops instead of writing fiction, and goes on once they are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import SpecError, TooManyFallbacks
from simcounsel.events import Said
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.runs.as_text import conversation_lines
from simcounsel.runs.run import Run
from simcounsel.runs.summary import summary_lines
from simcounsel.scripted import Scripted
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_settings import FallbackLimits
from tests.stage import NEVER, TINY, begun, changed, happened, live, log, switchboard, tiny


class Broken(Scripted):
    """Answers some questions with nonsense."""

    def __init__(self, which: Callable[[Question], bool]) -> None:
        super().__init__()
        self.which = which

    async def complete(self, request: Question, complaint: str | None) -> Completion:
        if self.which(request):
            return Completion(text="{", tokens_in=1, tokens_out=1)
        return await super().complete(request, complaint)


def stopped(run: Run, which: Callable[[Question], bool]) -> str:
    opened = Run.open(run.folder)
    with pytest.raises(TooManyFallbacks) as caught:
        Simulation(opened.world, run=opened, models=switchboard(Broken(which))).run()
    return str(caught.value)


def test_too_large_a_share_stops_the_run_and_resume_asks_anew(tmp_path: Path) -> None:
    world = changed(tiny(), fallbacks=FallbackLimits(most=0.2, over=3))
    run = begun(tmp_path, world)
    why = stopped(run, lambda question: True)
    assert "answers in this run were fallbacks, more than `fallbacks.most: 0.2` allows" in why
    assert f"`simcounsel resume {run.folder}` asks again" in why
    assert log(run) == b""
    (stop,) = Run.open(run.folder).manifest.stops
    assert stop.tick == 0 and stop.why == why
    assert any(
        line.startswith("given up       tick 0 at ") for line in summary_lines(Run.open(run.folder))
    )
    opened = Run.open(run.folder)
    Simulation(world, run=opened, models=models_for(opened)).run()
    assert log(run) == log(live(tmp_path / "untouched", world))


def test_a_conversation_that_is_half_canned_is_not_written(tmp_path: Path) -> None:
    run = begun(tmp_path)
    why = stopped(run, lambda question: question.purpose == "line_client")
    assert "in the conversation " in why and "2 of 4 lines would be fallbacks" in why
    assert run.ticks_done() == 2, "it is in the third tick"


def test_what_was_written_counts_after_a_resume(tmp_path: Path) -> None:
    """Where too much is in the log already, the way back is named."""
    run = begun(tmp_path, changed(tiny(), fallbacks=FallbackLimits(most=0.2, over=12)))
    why = stopped(
        run, lambda question: question.purpose in ("plan_day", "line_client", "plan_slots")
    )
    assert "--from 0` asks again" in why
    again = stopped(run, lambda question: False)
    assert "--from 0` asks again" in again


def test_most_1_never_stops(tmp_path: Path) -> None:
    models = switchboard(Broken(lambda question: True))
    assert live(tmp_path, changed(tiny(), fallbacks=NEVER), models=models).ticks_done() == 12


def test_lines_that_were_written_beforehand_are_counted(tmp_path: Path) -> None:
    """As a last resort a line of hand is said, and whoever reads the run is told how many."""
    models = switchboard(Broken(lambda question: question.purpose == "line_counselor"))
    run = live(tmp_path, changed(tiny(), fallbacks=NEVER), models=models)
    lines = happened(run, Said)
    by_hand = sum(line.who == "Miriam" for line in lines)
    assert 0 < by_hand < len(lines)
    (said_line,) = [line for line in summary_lines(run) if line.startswith("said  ")]
    assert f"{len(lines)} lines: " in said_line and f"{by_hand} ready-made" in said_line
    first = [line for line in lines if line.chat == lines[0].chat]
    said = sum(line.who == "Miriam" for line in first)
    assert any(
        line.startswith(f"{len(first)} lines: ") and f"{said} ready-made" in line
        for line in conversation_lines(run, 1)
    )


@pytest.mark.parametrize(("key", "value"), [("most", "1.5"), ("over", "-1"), ("often", "1")])
def test_a_wrong_limit_is_said_with_its_line(tmp_path: Path, key: str, value: str) -> None:
    file = tmp_path / "w.yaml"
    personas = TINY.parent.parent / "personas"
    text = TINY.read_text(encoding="utf-8").replace("../personas", str(personas))
    file.write_text(f"{text}fallbacks:\n  {key}: {value}\n", encoding="utf-8")
    line = len(text.splitlines()) + 2
    with pytest.raises(SpecError, match=rf"w\.yaml:{line}: "):
        load_world(file)
