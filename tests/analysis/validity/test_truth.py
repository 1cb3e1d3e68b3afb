"""Simulated effects beside real ones: a table of people, a published effect, several studies together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from analysis.errors import ReportError
from analysis.statistics import Effect, hedges_g
from analysis.validity.truth.comparing import StudyBeside, beside, together
from analysis.validity.truth.studies import Real, RealStudy, read_people, read_studies, trials
from simcounsel.errors import SpecError
from tests.commands import Command
from tests.each import each
from tests.stage import ROOT

ROWS = """arm,person,time,score
care,p1,before,20
care,p1,after,12
care,p2,before,18
care,p2,after,11
care,p3,before,22
care,p3,after,
care,p4,before,19
care,p4,after,14
wait,q1,before,20
wait,q1,after,19
wait,q2,before,17
wait,q2,after,18
wait,q3,before,21
wait,q3,after,18
"""


def test_each_persons_change_is_read(tmp_path: Path) -> None:
    file = tmp_path / "real.csv"
    file.write_text(ROWS, "utf-8")
    care, wait = read_people(file, ("care", "wait"))
    assert sorted(care) == [-8, -7, -5] and sorted(wait) == [-3, -1, 1], "p3 has no second score"
    numbered = ROWS.replace("before", "9").replace("after", "10")
    file.write_text(numbered, "utf-8")
    assert sorted(read_people(file, ("care", "wait"))[0]) == [-8, -7, -5], "10 comes after 9"


@each(
    "old, new, says",
    [
        ("arm,person", "group,person", "real.csv:1: no column 'arm'"),
        ("care,p1,before,20", "care,p1,before,many", "real.csv:2: score 'many' is no number"),
        (
            "care,p1,before,20",
            "care,p1,day one,20",
            "time 'day one' is no number; or write before, pre",
        ),
        ("care,p2,before", "care,p1,before", "real.csv:4: p1 has two scores at before"),
        ("wait,", "other,", "arm 'wait' has 0 people with two scores; arms are care, other"),
    ],
)
def test_what_is_wrong_in_a_table_is_said(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "real.csv"
    file.write_text(ROWS.replace(old, new), "utf-8")
    with pytest.raises(ReportError, match=says.replace("(", r"\(")):
        read_people(file, ("care", "wait"))


@each(
    "more, says",
    [
        ({}, "one of `people`, `effect`, `trial`"),
        ({"people": "a.csv", "trial": "x"}, "one of `people`, `effect`, `trial`"),
        ({"effect": {"g": 0.5, "low": 0.6, "high": 0.9}}, "is not within"),
        ({"effect": {"g": 0.5, "low": 0.1}}, "an interval has two ends"),
    ],
)
def test_what_is_wrong_in_a_file_of_studies_is_said(tmp_path: Path, more: dict, says: str) -> None:
    file = tmp_path / "studies.yaml"
    one = {"id": "a", "runs": "r", "instrument": "insomnia_severity", "contrast": ["b", "c"]} | more
    file.write_text(yaml.safe_dump({"studies": [one]}), "utf-8")
    with pytest.raises(SpecError, match=says):
        read_studies(file)


def made(g: float, real: float, half: float = 0.3) -> StudyBeside:
    study = RealStudy(id="a", runs="r", instrument="i", contrast=("b", "c"), trial="x")
    return StudyBeside(
        study=study,
        simulated=Effect(g=g, low=g - half, high=g + half),
        real=Real(changes=None, effect=Effect(g=real, low=real - 0.4, high=real + 0.4), source="s"),
        arms=(),
        clients=8,
    )


def test_the_difference_and_all_studies_by_hand() -> None:
    one = made(-1.0, -0.5)
    assert one.difference == pytest.approx((-0.5, -1.0, 0.0)), "half: root of 0.3 and 0.4 squared"
    assert one.within is False and made(-0.6, -0.5).within is True
    assert together([one, one]) is None
    pairs = [(-1.0, -0.5), (-0.5, -0.3), (0.15, -0.1), (-0.8, -0.6)]
    whole = together([made(*pair) for pair in pairs])
    assert whole is not None
    x, y = np.array(pairs).T
    fit = stats.linregress(x, y)
    assert (whole.slope, whole.intercept) == pytest.approx((fit.slope, fit.intercept))
    assert whole.correlation == pytest.approx(stats.spearmanr(x, y).statistic)
    assert (whole.error, whole.same_sign) == (pytest.approx(0.2875), 3)
    assert (whole.within, whole.known) == (3, 4)
    same = together([made(-1.0, real) for real in (-1.0, -0.5, 0.0)])
    assert same is not None and (same.slope, same.intercept, same.correlation) == (None, None, None)


def test_the_trials_that_are_included_hold_together() -> None:
    """What was computed of means is computed again, by the pooled SD and Hedges' correction."""
    assert len(trials()) == 22 and {one["topic"] for one in trials()} == {
        "insomnia",
        "anxiety",
        "depression",
    }
    for one in trials():
        assert {"id", "topic", "cite", "g", "of", "as", "read"} <= set(one), one
        if "low" in one:
            assert one["low"] <= one["g"] <= one["high"]
        if arms := one.get("arms"):
            (mean, sd, n), (other, other_sd, m) = arms
            pooled = np.sqrt(((n - 1) * sd**2 + (m - 1) * other_sd**2) / (n + m - 2))
            assert one["g"] == pytest.approx(
                (mean - other) / pooled * (1 - 3 / (4 * (n + m) - 9)), abs=0.006
            )
    assert len({one["id"] for one in trials()}) == len(trials())


@pytest.mark.slow(20)
def test_a_sweep_is_held_against_people_and_against_what_was_published(
    simcounsel: Command, tmp_path: Path
) -> None:
    """The planted effect of 4 points, beside real people of whom the same is true, and half of it."""
    text = (ROOT / "experiments" / "planted_effect.yaml").read_text("utf-8")
    text = text.replace("../", f"{ROOT}/").replace("repetitions: 2", "repetitions: 1")
    Path("e.yaml").write_text(text, "utf-8")
    assert simcounsel("sweep", "e.yaml", "--out", "runs", "--quiet").code == 0
    rng = np.random.default_rng(4)
    changes = {"care": rng.normal(-4, 2, 40), "wait": rng.normal(0, 2, 40)}
    lines = ["arm,person,time,score"] + [
        f"{arm},{arm}{at},{time},{score}"
        for arm, own in changes.items()
        for at, change in enumerate(own)
        for time, score in ((0, 20), (8, 20 + change))
    ]
    Path("real.csv").write_text("\n".join(lines), "utf-8")
    base = {"runs": "runs", "instrument": "insomnia_severity", "contrast": ["counselor", "alone"]}
    studies = [
        base | {"id": "people", "people": "real.csv", "arms": ["care", "wait"]},
        base | {"id": "published", "effect": {"g": -0.1, "low": -0.3, "high": 0.1, "source": "made up"}},
        base | {"id": "third", "effect": {"g": -2.0}},
    ]  # fmt: skip
    Path("studies.yaml").write_text(yaml.safe_dump({"studies": studies}), "utf-8")
    ended = simcounsel("study", "validity", "truth", "studies.yaml", "--out", "v")
    assert ended.code == 0, ended.err
    found = pd.read_csv("v/tables/truth_effects.csv").set_index("study")
    assert found.at["people", "real g"] == pytest.approx(hedges_g(*changes.values()).g)
    assert found.at["published", "high"] < 0, "the simulated effect is the larger one"
    arms = pd.read_csv("v/tables/truth_arms.csv").set_index("arm")
    assert arms.at["counselor", "n_real"] == 40 and arms.at["counselor", "p_t"] > 0.01
    whole = pd.read_csv("v/tables/truth_together.csv").iloc[0]
    assert whole["studies"] == 3
    assert "does not hold published" in " ".join(ended.out.split())
    one = beside(read_studies(Path("studies.yaml"))[0], Path())
    assert one.clients == 8 and one.arms[0].ks == pytest.approx(
        stats.ks_2samp(*_both(one, changes["care"])).statistic
    )


def _both(one: StudyBeside, real: np.ndarray) -> tuple[list[float], np.ndarray]:
    from analysis import tables
    from analysis.finding import find
    from analysis.outcomes import measured_outcomes

    sample = find([Path("runs")])
    rows = measured_outcomes(tables.measurements(sample.logs), sample)
    own = rows[(rows["arm"] == one.study.contrast[0]) & (rows["score"] == "total")]
    return own.groupby("client")["value"].mean().tolist(), real
