"""From measurements to outcomes to planned tests: a planted effect is recovered, its absence too."""

from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from analysis import tables
from analysis.exploring import explore
from analysis.finding import find
from analysis.outcomes import COLUMNS, logged_outcomes, measured_outcomes
from analysis.patterns import periods
from analysis.planned import Tested as Result
from analysis.planned import test_planned as planned_tests
from simcounsel.specs.experiment import Hypothesis
from simcounsel.specs.sweep_plan import SweepPlan
from tests.analysis.conftest import PLANTED, planted
from tests.analysis.made import CLIENTS, plan, study
from tests.each import each


def outcome(
    arm: str, client: str, seed: int, value: float | None, **more: object
) -> dict[str, object]:
    """A row of outcomes."""
    row: dict[str, object] = {
        "run": f"{arm}-{client}-{seed}",
        "arm": arm,
        "client": client,
        "seed": seed,
        "pair": f"{client}-{seed}",
        "shared_past": True,
        "instrument": "mood",
        "score": "total",
        "respondent": "self",
        "judge": "m",
        "kind": "change",
        "baseline": 0.0,
        "last": value,
        "value": value,
        "times": 1,
        "reason": None if value is not None else "unanswered",
    }
    return row | more


def rows(true: float, seed: int, clients: int = 8, seeds: int = 3) -> pd.DataFrame:
    """Two arms; pairs share most of their noise; arm `x` is `true` above `y`."""
    rng = np.random.default_rng(seed)
    found = []
    for client in range(clients):
        for number in range(seeds):
            shared = rng.normal(0, 3)
            found += [
                outcome(arm, f"c{client}", number, shared + effect + rng.normal(0, 0.7))
                for arm, effect in (("x", true), ("y", 0.0))
            ]
    return pd.DataFrame(found, columns=list(COLUMNS))


def hypothesis(test: str, direction: str = "lower", **more: object) -> Hypothesis:
    return Hypothesis.model_validate(
        {
            "id": "h",
            "instrument": "mood",
            "score": "total",
            "contrast": ("x", "y"),
            "test": test,
            "direction": direction,
        }
        | more
    )


@pytest.mark.slow
def test_change_is_last_minus_baseline(planted_study: Path) -> None:
    sample = find([planted_study])
    table = measured_outcomes(tables.measurements(sample.logs), sample)
    assert set(table["kind"]) == {"change"}
    for row in table.itertuples():
        assert row.value == pytest.approx(planted(str(row.arm), str(row.client)))
        assert row.baseline == 20


def test_levels_and_missing_values() -> None:
    from analysis.sample import Member, Sample
    from simcounsel.runs.log import Log

    def member(name: str) -> Member:
        return Member(
            log=Log(Path(name)),
            arm="a",
            clients=("Ines",),
            seed=1,
            pair=None,
            shared_past=False,
            ticks=1,
            planned_ticks=1,
            models={},
        )

    sample = Sample(
        members=(member("r1"), member("r2"), member("r3")), excluded=(), experiment=None
    )
    base = {
        "client": "Ines",
        "respondent": "self",
        "judge": "m",
        "instrument": "alliance",
        "score": "total",
        "reason": None,
    }
    measured = pd.DataFrame(
        [
            base | {"run": "r1", "point": "after session 1", "minute": 10, "value": 30.0},
            base | {"run": "r1", "point": "after session 2", "minute": 20, "value": 36.0},
            base
            | {
                "run": "r2",
                "point": "after session 1",
                "minute": 10,
                "value": None,
                "reason": "no answer",
            },
            base
            | {"run": "r1", "instrument": "affect", "point": "day 1", "minute": 5, "value": 3.0},
            base
            | {"run": "r1", "instrument": "affect", "point": "day 2", "minute": 9, "value": 1.0},
            base
            | {"run": "r2", "instrument": "affect", "point": "day 1", "minute": 5, "value": 3.0},
        ]
    )
    found = measured_outcomes(measured, sample).set_index(["instrument", "run"])
    assert (found.loc[("alliance", "r1"), "kind"], found.loc[("alliance", "r1"), "value"]) == (
        "level",
        33.0,
    )
    assert found.loc[("alliance", "r2"), "reason"] == "no answer"
    assert found.loc[("alliance", "r3"), "reason"] == "not measured in this run"
    assert (found.loc[("affect", "r1"), "kind"], found.loc[("affect", "r1"), "value"]) == (
        "change",
        -2.0,
    )
    assert found.loc[("affect", "r2"), "reason"] == "measured at day 1 only"


@each("test", ["clients", "paired_t", "mixed", "welch", "anova", "permutation"])
def test_a_planted_effect_is_recovered(test: str) -> None:
    found = planned_tests(SweepPlan(hypotheses=(hypothesis(test),)), rows(-8.0, 1))[0]
    assert found.p_holm is not None and found.p_holm < 0.01
    omnibus = found.effect_name == "eta squared"
    assert omnibus == (test in ("anova", "permutation"))
    assert found.verdict == ("a difference" if omnibus else "as expected")
    if not omnibus:
        assert found.low is not None and found.high is not None and found.low < -8 < found.high
    assert len(found.runs) == 48 and found.assumes


def test_the_wrong_direction_is_said() -> None:
    assert (
        planned_tests(SweepPlan(hypotheses=(hypothesis("paired_t", "higher"),)), rows(-8.0, 1))[
            0
        ].verdict
        == "against expectation"
    )


@pytest.mark.slow
@pytest.mark.parametrize("test", ["paired_t", "mixed"])
def test_intervals_cover_the_truth_and_nothing_is_found_where_nothing_is(test: str) -> None:
    """Over 25 made-up sweeps: intervals hold a true -1 about 95% of the time, and with no effect about 5% are called one."""
    held, called = [], []
    for seed in range(25):
        one = planned_tests(SweepPlan(hypotheses=(hypothesis(test),)), rows(-1.0, seed, clients=6))[
            0
        ]
        if one.low is not None and one.high is not None:
            held.append(one.low <= -1 <= one.high)
        none = planned_tests(
            SweepPlan(hypotheses=(hypothesis(test),)), rows(0.0, 1000 + seed, clients=6)
        )[0]
        called.append(none.p is not None and none.p < 0.05)
    assert len(held) == 25 and np.mean(held) >= 0.8
    assert np.mean(called) <= 0.2


def test_pairing_is_by_pair_or_else_by_client_and_seed() -> None:
    table = rows(-8.0, 1)
    alone = table.assign(pair=None, shared_past=False)
    found = planned_tests(SweepPlan(hypotheses=(hypothesis("paired_t"),)), alone)[0]
    assert found.n == {"clients": 8} and "no shared past" in found.assumes
    shared = planned_tests(SweepPlan(hypotheses=(hypothesis("paired_t"),)), table)[0]
    assert "a pair of runs: a shared past" in shared.assumes
    assert shared.estimate == pytest.approx(found.estimate)


def test_what_cannot_be_tested_says_why() -> None:
    table = rows(-1.0, 1)
    unknown = hypothesis("welch", instrument="height")
    missing = hypothesis("paired_t", contrast=("x", "z"))
    many = hypothesis("mixed", contrast=("x", "y", "z"), direction="differs")
    found = planned_tests(SweepPlan(hypotheses=(unknown, missing, many)), table)
    assert [one.verdict for one in found] == ["not testable"] * 3
    assert "no run was measured with height" in (found[0].reason or "")
    assert "no value in z" in (found[1].reason or "")


def test_left_out_runs_are_named_with_their_reason() -> None:
    table = rows(-1.0, 1)
    table.loc[0, ["value", "reason"]] = [None, "unanswered"]
    found = planned_tests(SweepPlan(hypotheses=(hypothesis("paired_t"),)), table)[0]
    assert found.left_out == (("x-c0-0", "unanswered"),)
    assert found.n == {"clients": 8}, "c0 is still there with its other seeds"


def test_few_clients_give_an_estimate_and_no_verdict() -> None:
    """However many seeds: the first version took twelve runs of one client for twelve people."""
    found = planned_tests(
        SweepPlan(hypotheses=(hypothesis("clients"),)), rows(-8.0, 1, clients=3, seeds=12)
    )[0]
    assert found.verdict == "not testable" and found.p is None
    assert found.estimate is not None and found.estimate < -6
    assert "3 clients" in (found.reason or "")


def test_several_respondents_need_a_name() -> None:
    """The observer sees twice what the client reports; neither is taken in silence."""
    own = rows(-8.0, 1)
    theirs = own.assign(respondent="observer", judge="o", value=own["value"] * 2)
    both = pd.concat([own, theirs], ignore_index=True)

    def tested(**more: object) -> Result:
        return planned_tests(SweepPlan(hypotheses=(hypothesis("clients", **more),)), both)[0]

    unnamed = tested()
    assert unnamed.p is None and unnamed.estimate is None and unnamed.verdict == "not testable"
    assert "several (observer, self): name a `respondent`" in (unnamed.reason or "")
    own_estimate, seen = tested(respondent="self"), tested(respondent="observer", judge="o")
    assert own_estimate.estimate is not None and own_estimate.judged == "self, m"
    assert seen.estimate == pytest.approx(2 * own_estimate.estimate)
    assert "no answers of the judge 'x', but of o" in (
        tested(respondent="observer", judge="x").reason or ""
    )


def test_holm_is_within_a_family() -> None:
    """Three tests of one family are corrected threefold, one of its own not at all."""
    table = rows(-0.6, 3)
    same = [hypothesis("clients", id=f"h{number}", family="sleep") for number in range(3)]
    alone = hypothesis("clients", id="alone")
    found = planned_tests(SweepPlan(hypotheses=(*same, alone)), table)
    raw = found[0].p
    assert raw is not None and raw < 1 / 3
    assert [one.p_holm for one in found] == pytest.approx([3 * raw, 3 * raw, 3 * raw, raw])


@pytest.mark.slow
def test_exploring_compares_all_arms_and_corrects_over_outcomes(planted_study: Path) -> None:
    sample = find([planted_study])
    activities = tables.activities(sample.logs)
    table = pd.concat(
        [
            measured_outcomes(tables.measurements(sample.logs), sample),
            logged_outcomes(activities, periods(activities), sample),
        ]
    )
    found = explore(table, sample.arms, shuffles=499)
    sleep = next(one for one in found if one.instrument == "insomnia_severity")
    assert [s.n for s in sleep.spreads] == [6, 6, 6]
    assert len(sleep.contrasts) == 3
    assert (
        sleep.permuted.p is not None
        and sleep.p_holm is not None
        and sleep.permuted.p <= sleep.p_holm
    )
    means = {s.name: s.mean for s in sleep.spreads}
    for arm, effect in PLANTED.items():
        assert means[arm] == pytest.approx(np.mean([planted(arm, client) for client in CLIENTS]))
        assert means[arm] == pytest.approx(effect, abs=0.5)


def test_log_outcomes_by_hand() -> None:
    from analysis.sample import Member, Sample
    from simcounsel.runs.log import Log

    sample = Sample(
        members=(
            Member(
                log=Log(Path("r")),
                arm="a",
                clients=("Ines",),
                seed=1,
                pair=None,
                shared_past=False,
                ticks=4,
                planned_ticks=4,
                models={},
            ),
        ),
        excluded=(),
        experiment=None,
    )
    table = pd.DataFrame(
        {
            "run": "r",
            "client": "Ines",
            "minute": [1380, 1400, 3000, 4260],
            "kind": ["sleepless", "sleep", "worry", "sleep"],
            "emotion": ["fear", "joy", None, "joy"],
            "intensity": [8, 4, None, 2],
        }
    )
    period = pd.Series(["before", "before", "after", "after"])
    found = logged_outcomes(table, period, sample).set_index("score")["value"]
    assert found["asleep at night"] == pytest.approx(0.5 - 0.5)
    assert found["sleepless or worrying"] == pytest.approx(0.0)
    assert found["unpleasant feeling"] == pytest.approx(-0.5)
    assert found["strength of feeling"] == pytest.approx(2 - 6)


@pytest.mark.slow
def test_a_whole_study_without_an_effect(tmp_path: Path) -> None:
    runs = study(
        tmp_path,
        lambda arm, client: {
            "client_only": (1.0, -2.0, 0.0, 2.0, 1.0, -1.0),
            "client_counselor": (0.0, 2.0, -1.0, 1.0, -1.0, 0.0),
        }[arm][CLIENTS.index(client)],
        arms=("client_only", "client_counselor"),
    )
    plan(
        tmp_path,
        runs,
        [
            {
                "id": "h",
                "instrument": "insomnia_severity",
                "score": "total",
                "contrast": ["client_counselor", "client_only"],
                "test": "welch",
                "direction": "lower",
            }
        ],
    )
    sample = find([tmp_path])
    assert sample.experiment is not None
    found = planned_tests(
        sample.experiment, measured_outcomes(tables.measurements(sample.logs), sample)
    )[0]
    assert found.verdict == "no evidence"


@pytest.mark.slow
def test_the_day_chart_shows_a_row_for_each_day() -> None:
    from analysis.days import BAD, COLOR, GOOD, day_chart
    from simcounsel import load_run
    from simcounsel.agents.emotion import SIGN
    from simcounsel.specs.vocabulary import ActivityKind

    figure = day_chart(load_run("gallery:first-days"), "Ines")
    assert [one.get_title(loc="left") for one in figure.axes] == ["day 1", "day 2"]
    first, second = figure.axes
    assert {round(bar.get_x() % 0.25, 6) for bar in first.patches} == {0.0}
    assert min(bar.get_x() for bar in first.patches) == 12.0  # Monday noon
    assert len(second.patches) == 96 and all(bar.get_width() == 0.25 for bar in second.patches)
    assert {name: (name in GOOD) - (name in BAD) for name in SIGN} == SIGN
    assert set(COLOR) == set(get_args(ActivityKind))
    with pytest.raises(KeyError, match="Nobody"):
        day_chart(load_run("gallery:first-days"), "Nobody")
