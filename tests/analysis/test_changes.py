"""Planned tests over a change that the hypothesis names, and steps from session to session as table and figure."""

from pathlib import Path

import pandas as pd
import pytest

from analysis.outcomes import measured_outcomes
from analysis.page import records
from analysis.planned import test_planned as planned_tests
from analysis.sample import Member, Sample
from analysis.steps import outcomes_over, step_means, steps
from simcounsel.errors import SpecError
from simcounsel.lab.plan import plan_lines
from simcounsel.llm.prices import Prices
from simcounsel.runs.log import Log
from simcounsel.specs.experiment import Change, Hypothesis
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.sweep_plan import SweepPlan
from tests.analysis.made import CLIENTS
from tests.stage import ROOT

ARMS = ("client_counselor", "client_only")
OF: dict[str, Change] = {
    "whole": "whole",
    "adjacent": "adjacent",
    "second": ("after session 1", "after session 2"),
    "missing": ("after session 1", "after session 9"),
}


OWN = 0.25
"""By how much clients differ from their arm on average."""


def alliance(arm: str, number: int) -> tuple[float, float, float]:
    """After three sessions: with a counselor it rises by 4 and 6, else by 1 and 1; and by what is a client's own."""
    first, second = (4.0, 6.0) if arm == ARMS[0] else (1.0, 1.0)
    own = 0.1 * number * (1 if arm == ARMS[0] else -1)
    return 20.0, 20.0 + first + own, 20.0 + first + second + own


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Two arms of six clients."""
    out = tmp_path_factory.mktemp("changes")
    members = tuple(
        Member(
            log=Log(out / f"{arm}-{who}"),
            arm=arm,
            clients=(who,),
            seed=1,
            pair=who,
            shared_past=False,
            ticks=12,
            planned_ticks=12,
            models={},
        )
        for arm in ARMS
        for who in CLIENTS
    )
    return Sample(members=members, excluded=(), experiment=None)


@pytest.fixture(scope="module")
def asked(sample: Sample) -> pd.DataFrame:
    """What they said after each of three sessions."""
    rows = [
        {
            "run": member.name,
            "client": member.clients[0],
            "arm": member.arm,
            "instrument": "session_alliance",
            "score": "total",
            "respondent": "self",
            "judge": "m",
            "point": f"after session {session}",
            "minute": 1440 * session,
            "value": value,
            "reason": None,
        }
        for number, member in enumerate(sample.members)
        for session, value in enumerate(alliance(member.arm, number % len(CLIENTS)), start=1)
    ]
    return pd.DataFrame(rows)


def test_a_hypothesis_names_its_change(sample: Sample, asked: pd.DataFrame) -> None:
    hypotheses = tuple(
        Hypothesis(
            id=id,
            instrument="session_alliance",
            score="total",
            contrast=ARMS,
            test="clients",
            direction="higher",
            change=change,
            family=id,
        )
        for id, change in [*OF.items(), ("level", None)]
    )
    outcomes = measured_outcomes(asked, sample)
    tested = planned_tests(
        SweepPlan(hypotheses=hypotheses),
        outcomes,
        lambda change: outcomes_over(asked, sample, change),
    )
    found = {one.hypothesis.id: one for one in tested}
    own = 2 * OWN
    assert found["whole"].estimate == pytest.approx(10 - 2 + own)
    assert found["adjacent"].estimate == pytest.approx((10 - 2 + own) / 2)
    assert found["second"].estimate == pytest.approx(4 - 1 + own)
    assert [found[id].kind for id in ("whole", "adjacent", "second")] == [
        "last minus first",
        "mean change from one time to the next",
        "after session 2 minus after session 1",
    ]
    assert {found[id].verdict for id in ("whole", "adjacent", "second")} == {"as expected"}
    assert found["missing"].estimate is None and found["missing"].verdict == "not testable"
    assert found["level"].kind == "level", "without a change of its own as ever"


def test_a_point_that_was_not_measured_is_missing_with_its_reason(
    sample: Sample, asked: pd.DataFrame
) -> None:
    kept = asked[~((asked["point"] == "after session 2") & (asked["client"] == "Ines"))]
    made = outcomes_over(kept, sample, ("after session 1", "after session 2"))
    ines = made[made["client"] == "Ines"]
    assert len(ines) == 2 and set(ines["reason"]) == {"no value at after session 2"}
    assert ines["value"].isna().all() and made["value"].count() == 10
    gone = outcomes_over(kept[kept["client"] != "Ines"], sample, "whole")
    assert set(gone[gone["client"] == "Ines"]["reason"]) == {"measured never: no change"}


def test_steps_by_arm(sample: Sample, asked: pd.DataFrame) -> None:
    table = step_means(steps(asked, sample), ARMS)
    seen = {
        (row["arm"], row["number"]): (row["mean"], row["clients"], row["origin"], row["point"])
        for row in records(table)
    }
    first = ("after session 1", "after session 2")
    assert seen[ARMS[0], 1] == (pytest.approx(4 + OWN), 6, *first)
    assert seen[ARMS[1], 1] == (pytest.approx(1 - OWN), 6, *first)
    assert seen[ARMS[0], 2][0] == pytest.approx(6)
    assert seen[ARMS[0], 0][0] == pytest.approx(10 + OWN)
    assert seen[ARMS[0], 0][2:] == ("after session 1", "after session 3")
    half = asked[asked["point"] != "after session 3"]
    assert not len(step_means(steps(half, sample), ARMS)), "two times are one change, and no steps"


def small(folder: Path, change: str) -> Path:
    file = folder / "changes.yaml"
    file.write_text(
        f"""\
name: Changes
worlds: [{ROOT / "worlds" / "tiny.yaml"}]
conditions: [{{name: with, set: {{}}}}, {{name: without, set: {{condition: client_only}}}}]
measurements: [{{instrument: session_alliance, when: after every session}}]
hypotheses:
  - {{id: rise, instrument: session_alliance, contrast: [with, without], change: {change}}}
""",
        encoding="utf-8",
    )
    return file


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("whole", "session_alliance.total (last minus first), with against"),
        ("adjacent", "(mean change from one time to the next)"),
        ("[after session 1, after session 3]", "(after session 1 to after session 3)"),
    ],
)
def test_the_plan_says_which_change(tmp_path: Path, change: str, told: str) -> None:
    experiment, cells = load_experiment(small(tmp_path, change))
    lines = list(plan_lines(experiment, cells, Prices({}), tmp_path / "out"))
    assert any(told in line for line in lines if line.startswith("planned")), lines


@pytest.mark.parametrize("change", ["wole", "[end, end]", "[end]"])
def test_a_change_that_is_none_is_refused(tmp_path: Path, change: str) -> None:
    with pytest.raises(SpecError, match="change"):
        load_experiment(small(tmp_path, change))
