"""Does the instrument see what is there? A known effect is found by the whole chain, and none where none was planted."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.report import ReportOptions, make
from simcounsel.agents import reporting
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import ModelError
from simcounsel.runs.history import History
from simcounsel.scripted.planted import planted
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment_file import load_experiment
from tests.analysis.made import rewrite
from tests.benchmarks.calibration import found_in, outcomes_of, swept
from tests.stage import ROOT

pytestmark = pytest.mark.slow(5)
PLANTED = ROOT / "experiments" / "planted_effect.yaml"
TRUTH = -4.0


def test_a_planted_effect_is_found_from_sweep_to_report(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "simcounsel",
            "sweep",
            str(PLANTED),
            "--out",
            str(tmp_path / "sweep"),
            "--quiet",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 clients, each measured with 2 seeds" in done.stdout
    assert "34 clients are needed for 80%" in done.stdout
    (tested,) = make([tmp_path / "sweep"], ReportOptions(shuffles=200, stories=1)).planned
    assert tested.n == {"clients": 8}
    assert tested.estimate is not None
    assert tested.low is not None and tested.high is not None
    assert tested.low <= TRUTH <= tested.high, (tested.low, tested.estimate, tested.high)
    assert tested.high < 0
    assert tested.verdict == "as expected"


def cells_of(model: str) -> list[Cell]:
    """The first client's cells of the experiment, with another model."""
    _, cells = load_experiment(PLANTED)
    first = [cell for cell in cells if (cell.client, cell.seed) == (cells[0].client, 1)]
    changed = []
    for cell in first:
        models = cell.about.models.model_copy(update={"reason": model})
        changed.append(replace(cell, about=cell.about.model_copy(update={"models": models})))
    return changed


def lived(model: str, out: Path) -> dict[str, dict[str, float]]:
    """The totals that a client reports at each point, by arm."""
    found = {}
    for cell in cells_of(model):
        run = begin_run(cell.about, out, name=cell.name)
        Simulation(cell.about, run=run).run(ticks=cell.ticks)
        assert cell.arm is not None
        found[cell.arm] = {
            one.measured.point: score.value
            for one in History.of(run).measurements()
            for score in one.measured.scores
            if score.name == "total" and score.value is not None
        }
    return found


EXACT = "scripted:planted={},noise=0"
"""Nothing but what is planted: the same client answers the same each time."""


def the_chain_holds(totals: dict[str, dict[str, float]], points: float) -> None:
    """A silent instrument stays silent, to the point: the same baseline in both arms, no change alone, and the planted one with a counselor."""
    alone, counselor = totals["alone"], totals["counselor"]
    assert alone["baseline"] == counselor["baseline"], "the arms begin alike"
    assert alone["end"] == alone["baseline"], "nothing was done"
    assert counselor["end"] == counselor["baseline"] - points


@pytest.mark.parametrize("points", [0, 4])
def test_without_noise_the_chain_adds_and_loses_nothing(points: int, tmp_path: Path) -> None:
    the_chain_holds(lived(EXACT.format(points), tmp_path), points)


def _spurious(totals: dict[str, dict[str, float]]) -> None:
    totals["counselor"]["end"] -= 1


def _late_baseline(totals: dict[str, dict[str, float]]) -> None:
    totals["counselor"]["baseline"] = totals["counselor"]["end"]


def _no_baseline_alone(totals: dict[str, dict[str, float]]) -> None:
    totals["alone"]["baseline"] += 1


@pytest.mark.parametrize(
    ("points", "spoil"), [(0, _spurious), (4, _late_baseline), (0, _no_baseline_alone)]
)
def test_a_chain_that_adds_a_point_or_loses_its_baseline_is_noticed(
    points: int, spoil: Callable[[dict[str, dict[str, float]]], None], tmp_path: Path
) -> None:
    totals = lived(EXACT.format(points), tmp_path)
    spoil(totals)
    with pytest.raises(AssertionError):
        the_chain_holds(totals, points)


def test_the_effect_goes_through_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-report that is asked for without the memories shows nothing of what was planted."""
    monkeypatch.setattr(reporting, "in_mind", lambda *texts: "")
    the_chain_holds(lived(EXACT.format(4), tmp_path), 0)


@pytest.fixture(scope="module")
def null(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep in which a counselor helps some and harms others, by nothing on average."""
    out = tmp_path_factory.mktemp("null")
    swept("null", 5, out, clients=6, seeds=2, planted=0.0)
    return out


def test_nothing_is_found_where_clients_only_differ(null: Path) -> None:
    """And the interval of each test holds what is true of all clients there could be; the benchmark counts how often."""
    for one in found_in(null, outcomes_of(null)):
        if one.test != "welch over runs":
            assert one.p is not None and one.p >= 0.05, one
            assert one.low is None or one.low <= 0.0 <= (one.high or 0.0), one


def test_clients_differ_in_what_is_usual_and_in_what_help_does(null: Path) -> None:
    wide = outcomes_of(null).pivot_table(index="client", columns="arm", values="value")
    effects = wide["counselor"] - wide["alone"]
    assert effects.std() > 1.5 and (effects > 0).any() and (effects < 0).any()
    assert outcomes_of(null).groupby("client")["baseline"].mean().std() > 1


def test_a_point_put_into_every_null_run_is_in_the_estimate(null: Path, tmp_path: Path) -> None:
    """To the digit: what the log says is what the report counts."""
    import shutil

    from simcounsel.runs.run import Run

    before = estimate(outcomes_of(null))
    shutil.copytree(null, tmp_path / "spoiled")
    for folder in sorted((tmp_path / "spoiled").glob("*-counselor")):
        rewrite(Run.open(folder), _one_less)
    assert estimate(outcomes_of(tmp_path / "spoiled")) == pytest.approx(before - 1)


def _one_less(event: dict[str, object]) -> None:
    if event.get("kind") == "measured" and event.get("point") == "end":
        for score in event["scores"]:  # type: ignore[attr-defined]
            score["value"] -= 1


def estimate(outcomes: pd.DataFrame) -> float:
    """Counselor minus alone, over clients."""
    means = outcomes.pivot_table(index="client", columns="arm", values="value")
    return float((means["counselor"] - means["alone"]).mean())


def test_what_is_planted_is_written_in_full_or_refused() -> None:
    assert planted("scripted:planted=4,spread=1.5,noise=0,draw=7").name.endswith("draw=7")
    with pytest.raises(ModelError, match="scripted:planted=4,spread=2,noise=1.5,draw=7"):
        planted("scripted:planted=4,spreed=2")
