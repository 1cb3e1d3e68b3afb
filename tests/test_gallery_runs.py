"""What ships in the gallery, lived with good answers: replayed, and taken by everything that reads a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from analysis.report import ReportOptions, make
from simcounsel import gallery
from simcounsel.corpus.synthesis.sessions import sessions_of
from simcounsel.corpus.synthesis.workshop import Workshop
from simcounsel.engine.forking import fork
from simcounsel.engine.opening import prompt_hashes
from simcounsel.engine.simulation import Simulation
from simcounsel.instruments.scale import find_scale
from simcounsel.measuring.interview import Interview, introduction
from simcounsel.measuring.models import answering_model, default_judge
from simcounsel.runs.history import History
from simcounsel.runs.manifest import BY_HAND
from simcounsel.runs.record import open_record
from simcounsel.runs.run import Run
from simcounsel.viewer.interviews import interview_routes
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.commands import Command
from tests.each import each
from tests.stage import log, without_hashes

NAMES = list(gallery.exhibits())
WORLDS = [name for name in NAMES if name != "synthesis"]
BEGUN = [name for name in WORLDS if name != "first-days-alone"]


@pytest.fixture(autouse=True, scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The gallery is unpacked into a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMCOUNSEL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def opened(name: str) -> Any:
    return open_record(f"gallery:{name}")


def test_what_ships() -> None:
    assert NAMES == ["first-days", "first-days-alone", "staged", "course", "synthesis"]


def alike(again: Any, run: Any) -> None:
    """The same events; and the same bytes while all prompts are those that it was made with, since
    the hashes of ticks begin with them (in any language).
    """
    assert without_hashes(again) == without_hashes(run)
    if run.manifest.prompts == prompt_hashes() and run.manifest.parent is None:
        assert log(again) == log(run)


@pytest.mark.slow(5)
@pytest.mark.parametrize("name", BEGUN)
def test_a_world_replays_to_the_same_bytes(name: str, tmp_path: Path) -> None:
    run = opened(name)
    with Simulation(run.world, model=f"recorded:gallery:{name}", out=tmp_path) as again:
        made = again.run(run.ticks_done())
        assert again.models.usage.calls == 0
    alike(made, run)


@pytest.mark.slow(5)
def test_the_paired_fork_replays(tmp_path: Path) -> None:
    run, parent = opened("first-days-alone"), opened("first-days")
    assert run.manifest.parent is not None
    recorded = dict.fromkeys(("reason", "embed"), "recorded:gallery:first-days-alone")
    changes = {"condition": "client_layperson"} | {
        f"models.{role}": name for role, name in recorded.items()
    }
    made = fork(parent, run.manifest.parent.at_tick, changes, tmp_path)
    with Simulation(made.world, run=made) as again:
        again.run(run.ticks_done() - made.ticks_done())
    alike(made, run)


def test_the_synthesis_replays_to_the_same_bytes(tmp_path: Path) -> None:
    run = opened("synthesis")
    models = run.settings.models.model_copy(update={"default": "recorded:gallery:synthesis"})
    with Workshop(run.settings.model_copy(update={"models": models}), out=tmp_path) as workshop:
        alike(workshop.run(), run)


@pytest.mark.parametrize("name", NAMES)
def test_every_reader_takes_it(simcounsel: Command, name: str) -> None:
    run = f"gallery:{name}"
    assert "holds: " in simcounsel("verify", run).out
    shown = simcounsel("show", run).out
    assert " ".join(BY_HAND.split()) in " ".join(shown.split())
    assert simcounsel("show", run, "--conversation", 1).code == 0
    assert simcounsel("view", run, "--html", f"{name}.html").code == 0
    assert Path(f"{name}.html").stat().st_size > 50_000
    exported = simcounsel("export", run, "-o", f"data-{name}", "--format", "openai")
    if name == "first-days-alone":
        assert "with a layperson (2)" in exported.err, "no counselor, nothing to learn from"
    else:
        assert exported.code == 0
    if name in WORLDS:  # dialogues of a synthesis are rated as a corpus
        assert simcounsel("rate", run, "--instrument", "talk_measures").code == 0
        rated = ("--instrument", "empathy", "--model", "scripted")
        assert simcounsel("rate", run, *rated).code == 0


@each("name", NAMES)
def test_no_line_is_a_last_resort(name: str) -> None:
    run = opened(name)
    talks = History.of(run).conversations() if name in WORLDS else sessions_of(run)
    lines = [line for talk in talks for line in talk.lines]
    assert lines and all(line.event.source == "generated" for line in lines)


@pytest.mark.slow(5)
def test_a_report_of_both_arms(tmp_path: Path) -> None:
    folders = [gallery.folder_of(name) for name in ("first-days", "first-days-alone")]
    report = make(folders, ReportOptions(shuffles=20, stories=1))
    assert len(report.sample.members) == 2


def test_a_client_is_moved_by_what_was_said() -> None:
    """The course's client opens by the counselor's words, pulls back where it was let down, and believes a little less."""
    history = History.of(opened("course"))
    shifts = [one.event for one in history.shifts("Ines")]
    assert max(one.openness for one in shifts) - min(one.openness for one in shifts) > 4
    assert any(one.openness < one.before for one in shifts)
    assert all(one.quote for one in shifts if abs(one.openness - one.before) >= 1)
    assert any(one.event.after < one.event.before for one in history.beliefs("Ines"))


@pytest.mark.parametrize("name", ["first-days", "first-days-alone"])
def test_both_arms_ship_with_scores_of_every_kind(name: str) -> None:
    run = Run.open(gallery.folder_of(name))
    # what another test measured with a stand-in in the same folder is no part of it
    found = [one for one in History.of(run).measurements() if not one.trial]
    assert {one.measured.respondent for one in found} == {"self", "observer", "talk"}
    assert {one.judge.split(":")[0] for one in found} == {"byhand", ""}
    severity = [one for one in found if one.measured.instrument == "insomnia_severity"]
    assert [one.tick for one in severity] == [11, 143]


@pytest.mark.weights
def test_nobody_is_waited_for_who_wrote_by_hand(simcounsel: Command, tmp_path: Path) -> None:
    """After the run its writer answers no more: the embedded model does, and nothing is left."""
    run = opened("first-days")
    assert answering_model(run, "Ines") == default_judge(run, find_scale("phq9")) == "embedded"
    assert "answers come from embedded; the run's own lines were written by hand" in introduction(
        Interview.begin(run, "Ines")
    )
    site = TestClient(
        make_app(RunList(run.folder), more=interview_routes(RunList(run.folder))),
        base_url="http://localhost",
    )
    told = site.get("/api/runs/first-days/interviews").json()
    assert told["models"] == [{"name": "embedded", "may_cost": False}]
    assert told["own"]["Ines"] == "embedded" and "by hand" in told["by_hand"]
    for going_on in (("resume",), ("fork", "--at", 12)):
        ended = simcounsel(going_on[0], "gallery:first-days", *going_on[1:], "--quiet")
        assert ended.code == 1 and "has no folder 'answers'" in ended.err
    assert not list(Path.cwd().iterdir())
    asked_of = ("--at", 12, "--ticks", 1, "--set", "models.reason=scripted", "--quiet")
    assert simcounsel("fork", "gallery:first-days", *asked_of, "--out", "runs").code == 0
    assert [one.name for one in Path.cwd().iterdir()] == ["runs"]
