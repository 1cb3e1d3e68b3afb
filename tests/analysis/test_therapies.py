"""The shipped experiment over therapies: arms differ in the therapy alone, and in small form it is
run and analyzed.
"""

from pathlib import Path

import pytest
import yaml

from analysis.report import Report, ReportOptions, make
from analysis.writing import write
from simcounsel.lab.sweep import Sweep
from simcounsel.specs.differences import differences
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.stage import ROOT

FILE = ROOT / "experiments" / "therapies.yaml"


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two of its therapies, one client, three of the sessions; a report on them."""
    folder = tmp_path_factory.mktemp("therapies")
    made = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    made |= {
        "worlds": [str(ROOT / "worlds" / "insomnia.yaml")],
        "clients": [str(ROOT / "personas" / "ines.yaml")],
        "ticks": 12 + 2 * 96 + 1,
        "models": {"reason": "scripted", "embed": "scripted"},
        "hypotheses": [],
    }
    made["set"] |= {"conversation.max_turns": 6, "appointments.0.days": [0, 1, 2]}
    made["conditions"] = made["conditions"][:2]
    file = folder / "small.yaml"
    file.write_text(yaml.safe_dump(made), encoding="utf-8")
    experiment, cells = load_experiment(file)
    assert Sweep(experiment, cells, folder / "out", processes=1).run()
    return make([folder / "out"], ReportOptions(shuffles=99))


def test_arms_differ_in_the_therapy_alone() -> None:
    _, cells = load_experiment(FILE)
    (line,) = differences(cells)
    assert line.startswith("residents.1.policy.therapy: ")
    ids = {cell.arm for cell in cells}
    assert len(ids) == 6
    assert all(shipped_therapy(str(name)).id == name for name in ids)


@pytest.mark.slow
def test_therapies_are_arms(lived: Report) -> None:
    assert lived.sample.arms == ("cbt", "behavioral")


@pytest.mark.slow
def test_the_report_shows_changes_from_session_to_session(lived: Report, tmp_path: Path) -> None:
    page = write(lived, tmp_path, "x")
    text = page.read_text(encoding="utf-8")
    assert 'id="figure-steps"' in text and "Mean change over clients, by step" in text
    assert "session alliance, answered by self, cbt" in lived.pictures["steps"].alt
    drawn = lived.tables["step_means"].dropna(subset=["mean"])
    shown = drawn[(drawn["instrument"] == "session_alliance") & (drawn["score"] == "total")]
    assert len(shown) == 2 * 3
    assert all(f'data-value="{value:.9g}"' in text for value in shown["mean"])
    assert "From session to session" in page.with_suffix(".md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_changes_from_session_to_session(lived: Report) -> None:
    tables = lived.tables
    made, asked = tables["steps"], tables["measurements"]
    total = made[(made["instrument"] == "session_alliance") & (made["score"] == "total")]
    assert set(total["arm"]) == {"cbt", "behavioral"}
    for _, own in total.groupby("run"):
        near, whole = own[own["step"] == "adjacent"], own[own["step"] == "whole"]
        assert list(zip(near["origin"], near["point"], strict=True)) == [
            ("after session 1", "after session 2"),
            ("after session 2", "after session 3"),
        ]
        assert near["value"].sum() == pytest.approx(whole["value"].item())
    values = {
        (str(one.run), str(one.instrument), str(one.score), str(one.point)): float(str(one.value))
        for one in asked.itertuples()
    }
    for row in made.itertuples():
        of = (str(row.run), str(row.instrument), str(row.score))
        change = values[(*of, str(row.point))] - values[(*of, str(row.origin))]
        assert row.value == pytest.approx(change)
    assert made["value"].abs().sum() > 0, "something changed"
