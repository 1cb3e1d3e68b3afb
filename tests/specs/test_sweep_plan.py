"""experiment.json: one form, one writer, one reader."""

import json
from pathlib import Path

import pytest

from simcounsel.errors import RunError
from simcounsel.lab.places import world_runs
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.sweep_plan import PLAN, plan_of, read_plan, write_plan
from simcounsel.viewer.row import arm
from tests.stage import ROOT, live, tiny


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    experiment, cells = load_experiment(ROOT / "experiments" / "planted_effect.yaml")
    write_plan(experiment, cells, tmp_path)
    plan = read_plan(tmp_path)
    assert plan == plan_of(experiment, cells)
    assert plan is not None and plan.hypotheses == experiment.hypotheses
    written = json.loads((tmp_path / PLAN).read_text(encoding="utf-8"))
    assert [*written] == [
        *("name", "about", "arms", "clients", "seeds", "design", "paired_at", "hypotheses", "runs")
    ]
    assert written["arms"][0]["changes"] == experiment.conditions[0].set
    assert [*written["runs"][0]] == ["run", "arm", "client", "seed", "pair"]
    cell = cells[-1]
    found = plan.planned(cell.name)
    assert found is not None and (found.arm, found.client) == (cell.arm, cell.client)
    write_plan(experiment, cells, tmp_path)
    assert json.loads((tmp_path / PLAN).read_text(encoding="utf-8")) == written
    other = experiment.model_copy(update={"name": "other"})
    with pytest.raises(RunError, match=rf"holds the sweep '{plan.name}' already"):
        write_plan(other, cells, tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"runs": [{"arm": 1}]}', "[" * 10_000])
def test_whoever_needs_a_plan_says_that_it_cannot_be_read(tmp_path: Path, text: str) -> None:
    live(tmp_path, tiny(), 1)
    (tmp_path / PLAN).write_text(text, encoding="utf-8")
    said = rf"{PLAN}: not a sweep's plan \(.*\); move it away"
    for reads in (read_plan, lambda place: world_runs([place])):
        with pytest.raises(RunError, match=said):
            reads(tmp_path)
    assert arm(tmp_path / "run") is None, "the list of runs shows what it can"
