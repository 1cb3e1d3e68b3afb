"""What `simcounsel` exports, and what a notebook makes of a run."""

import subprocess
import sys
from pathlib import Path

import pytest

import simcounsel
from simcounsel.errors import RunError, SpecError
from simcounsel.events import Recalled, Said
from simcounsel.runs.run import Run
from simcounsel.specs.measurement import MeasurementSpec
from tests.stage import changed, happened, live, tiny


def test_every_public_name_is_there() -> None:
    assert dir(simcounsel) == sorted(simcounsel.__all__)
    for name in simcounsel.__all__:
        assert getattr(simcounsel, name) is not None
    with pytest.raises(AttributeError, match="no public name 'Simulaton'; there are .*Simulation"):
        simcounsel.Simulaton  # noqa: B018
    code = "import sys, simcounsel; assert not {'mesa', 'numpy', 'pydantic'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_frames(lived: Run) -> None:
    pytest.importorskip("pandas")
    run = simcounsel.load_run(lived.folder)
    said = happened(run, Said)
    lines = run.lines()
    assert list(lines.text) == [line.text for line in said] and lines.move.notna().all()
    days = run.days()
    assert set(days.who) == {"Ines", "Miriam"} and days.lines.sum() == len(said)
    assert days.plan.notna().all() and (days.activities > 0).all()
    recalls = run.recalls()
    assert len(recalls) == sum(len(event.hits) for event in happened(run, Recalled))
    assert recalls.text.notna().all() and recalls.score.between(0, 1).all()
    assert len(run.measurements()) == 0 and "value" in run.measurements()


def test_measurements_of_the_log_and_afterwards(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    spec = MeasurementSpec(instrument="phq9", when="end")
    run = live(tmp_path, changed(tiny(), measurements=(spec,)))
    (measured,) = simcounsel.rate(run, "talk_measures", chat="1")
    found = run.measurements()
    assert set(found.source) >= {"log"} and len(set(found.source)) == 2
    counted = found[found.instrument == "talk_measures"]
    assert list(counted.score) == [score.name for score in measured.scores]
    with pytest.raises(SpecError, match="no instrument 'phq99'; did you mean 'phq9'"):
        simcounsel.rate(run, "phq99")


def test_without_pandas_it_says_so(lived: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RunError, match=r"pip install 'simcounsel\[analysis\]'"):
        lived.lines()


def test_a_notebook_shows_a_table(lived: Run) -> None:
    shown = lived._repr_html_()
    assert shown.startswith("<table>") and "12 of 12" in shown
    assert f"<td style='text-align:left'>{len(happened(lived, Said))}</td>" in shown
