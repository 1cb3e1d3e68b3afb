"""The benchmarks run and print their tables; what they measure is not judged here."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Warned
from simcounsel.specs.world_problems import world_problems
from tests.benchmarks import engine, near_duplicates, recall, scrubbing, synthesis, verified
from tests.benchmarks.served import sensible
from tests.benchmarks.towns import crowd, plain_town, town_of_ten
from tests.llm.server import FaultServer
from tests.stage import begun, changed, happened, tiny

pytestmark = pytest.mark.slow(3)  # torch


def test_worlds_hold_together() -> None:
    towns = (plain_town(5, 2, pairs=False), plain_town(5, 2, pairs=True), town_of_ten(96))
    for world in (*towns, crowd(11, 2)):
        assert not world_problems(world)


def test_the_benchmark_s_model_answers_what_residents_ask(tmp_path: Path) -> None:
    """Else a day of them is one of fallbacks, which stops, or whose figures are no measure."""
    with FaultServer(answer=sensible) as server:
        models = tiny().models.model_copy(update={"reason": f"{server.url}/m"})
        run = begun(tmp_path, changed(tiny(), models=models, ticks=4))
        Simulation(run.world, run=run, models=models_for(run)).run()
    asked = {call.get("purpose") for call in run.calls()}
    assert asked >= {"plan_slots", "line_client", "summarize", "insights", "persona"}
    assert happened(run, Warned) == []


def test_engine_prints_its_table_and_lives_through_faults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    engine.main(["--quick", "--limit", "0", "--faults"])
    told = capsys.readouterr().out
    for word in (
        "wall s",
        "W1",
        "W2",
        "W3",
        "bare loop",
        "W1 x 4",
        "requests per resident-day",
        "--help",
        " 0 without",
        "finished 1",
    ):
        assert word in told


def test_engine_holds_a_crowd_against_mesa_alone(capsys: pytest.CaptureFixture[str]) -> None:
    engine.main(["--quick", "--crowd", "4"])
    told = capsys.readouterr().out
    assert "4 residents x 2 ticks, scripted:" in told and "times Mesa alone" in told


def test_recall_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    recall.main(["--quick"])
    told = capsys.readouterr().out
    assert all(way in told for way in ("ours", "langchain", "plain loop"))


def test_verified_prints_its_ratio(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    verified.main(["--ticks", "2", "--latency-ms", "0", "--pairs", "1", "--out", str(tmp_path)])
    assert "with / without, median of 1 pairs of 2 ticks" in capsys.readouterr().out


def test_scrubbing_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    scrubbing.main(["--ticks", "4"])
    told = capsys.readouterr().out
    assert "hiding secrets" in told and "simcounsel.events" in told


def test_synthesis_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    synthesis.main(["--quick"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["1", "8", "64"]
    assert all(float(row[4]) >= 1 for row in rows), "nothing is faster than the waiting alone"


def test_near_duplicates_are_those_of_all_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    near_duplicates.main(["--quick"])
    told = capsys.readouterr().out
    assert (
        "duplicates: yes" in told and "recall             1.0000" in told and "times faster" in told
    )
