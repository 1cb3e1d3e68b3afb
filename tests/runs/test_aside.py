"""`resume --from`: an earlier tick is run again, and what came after is moved aside."""

from pathlib import Path

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.runs.aside import calls_aside, rewind
from simcounsel.runs.run import Run
from tests.commands import Command
from tests.stage import go_on, live, log


def calls_of(run: Run) -> list[object]:
    return [call.get("tick") for call in run.calls()]


def test_what_came_after_is_moved_and_lived_again(simcounsel: Command, tmp_path: Path) -> None:
    run = live(tmp_path)
    whole, calls = log(run), calls_of(run)
    (run.folder / "memory").mkdir()
    (run.folder / "measurements").mkdir()
    (run.folder / "measurements" / "m.jsonl").write_text('{"kind":"measured","tick":9}\n')
    ended = simcounsel("resume", run.folder, "--from", 5, "-q", "--ticks", 1)
    aside = run.folder / "aside" / "1"
    assert ended.code == 0 and f"from tick 5 on moved to {aside}" in ended.out
    assert run.ticks_done() == 6 and whole.startswith(log(run))
    assert whole.endswith((aside / "events.jsonl").read_bytes())
    assert {call["tick"] for call in calls_aside(run)} == {at for at in calls if at and at >= 5}
    assert (aside / "measurements" / "m.jsonl").is_file() and not (run.folder / "memory").exists()
    assert log(go_on(run)) == whole, "a model that answers the same lives the same"
    assert simcounsel("resume", run.folder, "--from", 0, "-q").code == 0
    assert log(run) == whole and (run.folder / "aside" / "2" / "events.jsonl").read_bytes() == whole


def test_where_one_cannot_begin_again_is_said(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=4)
    with pytest.raises(RunError, match="no tick 9 to begin again from; choose one from 0 to 4"):
        rewind(run, 9)
    forked = fork(run, 2, {}, tmp_path / "forks")
    with pytest.raises(RunError, match="tick 1 is of the past that it shares with"):
        rewind(forked, 1)
