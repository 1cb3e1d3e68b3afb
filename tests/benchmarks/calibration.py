"""Do the planned tests keep their promises? Whole sweeps from log to report, with known effects
that differ between clients.

    python -m tests.benchmarks.calibration [--sweeps 200] [--clients 8] [--seeds 2] [--processes 2]
    [--planted 3]

Each sweep is experiments/null_effect.yaml (or planted_effect.yaml) lived again by the scripted
model, with clients of its own: which ones sleep badly, and whom a counselor helps, is drawn again.
Its runs are read from their logs as `analysis report` reads them, and tested as planned.

Printed: how often p falls below 0.05 where clients' effects are 0 on average (type I error), how
often the 95% interval holds the mean effect over all clients there could be (coverage), and how
often a planted effect is found (power), each with its exact binomial interval. Beside them what
the first version did: Welch's t over runs, as if seeds were people.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from analysis import tables
from analysis.finding import find
from analysis.outcomes import measured_outcomes
from analysis.planned import Tested, test_planned
from analysis.statistics import hedges_g, welch_t
from simcounsel.engine.opening import begin_run
from simcounsel.engine.simulation import Simulation
from simcounsel.specs import shipped
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Hypothesis
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.sweep_plan import read_plan, write_plan
from simcounsel.specs.world import World

ROOT = Path(__file__).resolve().parents[2]
FILES = {"null": "null_effect.yaml", "planted": "planted_effect.yaml"}
TESTS = ("clients", "paired_t", "mixed", "permutation", "anova")
AS_RUNS = "welch over runs"
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Found:
    """What one test made of one sweep; first arm (counselor) minus second."""

    test: str
    p: float | None
    low: float | None = None
    high: float | None = None


def swept(kind: str, draw: int, out: Path, *, clients: int, seeds: int, planted: float) -> None:
    """Live a sweep in this process, with the plan that `simcounsel sweep` writes."""
    experiment, cells = load_experiment(_file(kind, clients, out))
    own = [cell for cell in cells if cell.seed == 1]
    names = sorted({cell.client for cell in own})[:clients]
    points = "0,spread=3" if kind == "null" else f"{planted:g},spread=1.5"
    several = tuple(
        _cell(cell, seed, f"scripted:planted={points},draw={draw}", draw)
        for cell in own
        if cell.client in names
        for seed in range(1, seeds + 1)
    )
    write_plan(experiment, several, out)
    for cell in several:
        run = begin_run(cell.about, out, name=cell.name)
        Simulation(cell.about, run=run).run(ticks=cell.ticks)


def _file(kind: str, clients: int, out: Path) -> Path:
    """The experiment; with more clients than it has, one of all those who are included."""
    file = ROOT / "experiments" / FILES[kind]
    data: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    if clients <= len(data["clients"]):
        return file
    everybody = [
        str(path)
        for path in shipped.files("personas")
        if "\nrole: client\n" in path.read_text(encoding="utf-8")
    ]
    data |= {"clients": everybody, "worlds": [str(shipped.folder("worlds") / "tiny.yaml")]}
    other = out / "experiment.yaml"
    other.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return other


def _cell(cell: Cell, seed: int, model: str, draw: int) -> Cell:
    """The cell with another seed, which no other sweep has, and the model."""
    from dataclasses import replace

    world = cell.about
    assert isinstance(world, World)
    models = world.models.model_copy(update={"reason": model})
    changed = world.model_copy(update={"models": models, "seed": draw * 1000 + seed})
    name = cell.name.replace("-s1-", f"-s{seed}-")
    return replace(cell, about=changed, seed=seed, name=name, pair=f"{cell.client}-s{seed}")


def outcomes_of(folder: Path) -> pd.DataFrame:
    """Read from the logs, as the report reads them."""
    sample = find([folder])
    return measured_outcomes(tables.measurements(sample.logs), sample)


def found_in(folder: Path, outcomes: pd.DataFrame) -> Iterator[Found]:
    """By each planned test, and by the one that takes runs for people."""
    experiment = read_plan(folder)
    assert experiment is not None
    (first,) = experiment.hypotheses
    for test in TESTS:
        direction = "differs" if test in ("anova", "permutation") else first.direction
        hypothesis: Hypothesis = first.model_copy(update={"test": test, "direction": direction})
        plan = experiment.model_copy(update={"hypotheses": (hypothesis,)})
        (one,) = test_planned(plan, outcomes)
        yield _found(test, one)
    a, b = (outcomes[outcomes["arm"] == arm]["value"].tolist() for arm in first.contrast)
    runs = welch_t(a, b)
    yield Found(test=AS_RUNS, p=runs.p, low=runs.low, high=runs.high)


def _found(test: str, one: Tested) -> Found:
    return Found(test=test, p=one.p, low=one.low, high=one.high)


def share(hits: int, of: int) -> str:
    """A share with its exact (Clopper-Pearson) 95% interval."""
    interval = stats.binomtest(hits, of).proportion_ci(method="exact")
    return f"{hits / of:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def lines(kind: str, truth: float, found: Iterable[Found]) -> Iterator[str]:
    """A line a test: how often p < ALPHA, and how often the interval holds the truth."""
    several = list(found)
    for test in (*TESTS, AS_RUNS):
        own = [one for one in several if one.test == test]
        below = sum(one.p is not None and one.p < ALPHA for one in own)
        held = [
            one.low <= truth <= one.high
            for one in own
            if one.low is not None and one.high is not None
        ]
        name = "type I error" if kind == "null" else "power"
        covered = f"; coverage of 95% intervals {share(sum(held), len(held))}" if held else ""
        yield f"  {test:<16} {name} {share(below, len(own))}{covered}"


def _one(task: tuple[str, int, int, int, float]) -> list[Found]:
    kind, draw, clients, seeds, planted = task
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        swept(kind, draw, out, clients=clients, seeds=seeds, planted=planted)
        return list(found_in(out, outcomes_of(out)))


def coverage_of_g(sizes: Iterable[int], repeats: int = 4000) -> Iterator[str]:
    """Of Hedges' g with two groups of n normal values, true g = 0.8."""
    rng = np.random.default_rng(1)
    for n in sizes:
        held = 0
        for _ in range(repeats):
            one = hedges_g(rng.normal(0.8, 1, n).tolist(), rng.normal(0, 1, n).tolist())
            held += one.low is not None and one.high is not None and one.low <= 0.8 <= one.high
        yield f"  n = {n:<3} {share(held, repeats)}"


def main(say: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--planted", type=float, default=3.0, help="points, for coverage and power")
    parser.add_argument("--g", action="store_true", help="only the intervals of Hedges' g")
    asked = parser.parse_args()
    if asked.g:
        say("coverage of the 95% interval of Hedges' g, true g = 0.8")
        for line in coverage_of_g((5, 10, 15, 20)):
            say(line)
        return
    for kind, truth in (("null", 0.0), ("planted", -asked.planted)):
        began, found = time.monotonic(), list[Found]()
        tasks = [
            (kind, draw, asked.clients, asked.seeds, asked.planted)
            for draw in range(1, asked.sweeps + 1)
        ]
        with multiprocessing.get_context("spawn").Pool(asked.processes) as pool:
            for number, one in enumerate(pool.imap_unordered(_one, tasks), 1):
                found += one
                print(f"\r{kind}: {number} of {asked.sweeps}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        effect = (
            "0, standard deviation 3"
            if kind == "null"
            else f"{asked.planted:g}, standard deviation 1.5"
        )
        say(
            f"{kind}: {asked.sweeps} sweeps of {asked.clients} clients x {asked.seeds} seeds x 2 arms; mean"
            f" effect {effect} between clients; {time.monotonic() - began:.0f} s"
        )
        for line in lines(kind, truth, found):
            say(line)


if __name__ == "__main__":
    main()
