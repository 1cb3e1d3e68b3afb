"""Does the instrument see what is there? A known effect is found by the whole chain, and none where none was planted."""

import random
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from analysis.report import Options, make
from analysis.statistics import welch_t
from simcounsel.agents import reporting
from simcounsel.engine.simulation import Simulation
from simcounsel.runs.history import History
from simcounsel.specs.experiment_file import load_experiment
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
    (tested,) = make([tmp_path / "sweep"], Options(shuffles=200, stories=1)).planned
    assert tested.n == {"counselor": 12, "alone": 12}
    assert tested.estimate is not None
    assert tested.low is not None and tested.high is not None
    assert tested.low <= TRUTH <= tested.high, (tested.low, tested.estimate, tested.high)
    assert tested.high < 0
    assert tested.verdict == "as expected"


def last_total(folder: Path, points: int) -> float:
    """What the client reports at the end of a short run with a counselor."""
    _, cells = load_experiment(PLANTED)
    cell = next(cell for cell in cells if cell.arm == "counselor")
    models = cell.about.models.model_copy(update={"reason": f"scripted:planted={points}"})
    world = cell.about.model_copy(update={"models": models})
    run = Simulation(world, out=folder).run(ticks=4)
    (total,) = (
        score.value
        for one in History.of(run).measurements()
        if one.measured.point == "end"
        for score in one.measured.scores
        if score.name == "total"
    )
    assert total is not None
    return total


def test_the_effect_goes_through_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A self-report that is asked for without the memories shows nothing of what was planted."""
    without = last_total(tmp_path / "none", 0)
    assert last_total(tmp_path / "planted", 4) == without + TRUTH
    monkeypatch.setattr(reporting, "in_mind", lambda *texts: "")
    assert last_total(tmp_path / "broken", 4) == without


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """How much clients changed in the arm with a counselor and in the one without, where the counselor helps nobody."""
    _, cells = load_experiment(PLANTED)
    rows = []
    for cell in cells:
        models = cell.about.models.model_copy(update={"reason": "scripted:planted=0"})
        for seed in range(3):
            world = cell.about.model_copy(update={"models": models, "seed": cell.seed * 10 + seed})
            run = Simulation(world, out=tmp_path_factory.mktemp("null")).run()
            by_point = {
                m.measured.point: s.value
                for m in History.of(run).measurements()
                for s in m.measured.scores
                if s.name == "total"
            }
            rows.append({"arm": cell.arm, "change": by_point["end"] - by_point["baseline"]})
    return pd.DataFrame(rows)


def test_no_effect_is_found_where_none_was_planted(unchanged: pd.DataFrame) -> None:
    """By the central limit theorem the two arms' mean changes differ by less than four standard errors."""
    a, b = (unchanged[unchanged["arm"] == arm]["change"] for arm in ("counselor", "alone"))
    assert abs(a.mean() - b.mean()) < 4 * (a.var() / len(a) + b.var() / len(b)) ** 0.5


def test_false_positives_stay_at_the_nominal_rate(unchanged: pd.DataFrame) -> None:
    """1,000 experiments of 12 against 12, drawn from runs without an effect: about 5% come out significant at 0.05.

    An exact binomial interval at 99.9% around 5% is what chance allows.
    """
    draw, found = random.Random(1), 0
    changes = unchanged["change"].tolist()
    for _ in range(1000):
        some = draw.sample(changes, 24)
        p = welch_t(some[:12], some[12:]).p
        assert p is not None
        found += p < 0.05
    low, high = stats.binom.interval(0.999, 1000, 0.05)
    assert low <= found <= high, found


def test_the_interval_covers_the_truth_as_often_as_it_says(unchanged: pd.DataFrame) -> None:
    """An effect put on half of each draw is inside the 95% interval about 95 times in 100."""
    draw, covered = random.Random(2), 0
    changes = unchanged["change"].tolist()
    for _ in range(1000):
        some = draw.sample(changes, 24)
        found = welch_t([change + TRUTH for change in some[:12]], some[12:])
        assert found.low is not None and found.high is not None
        covered += found.low <= TRUTH <= found.high
    low, high = stats.binom.interval(0.999, 1000, 0.95)
    assert low <= covered <= high, covered
