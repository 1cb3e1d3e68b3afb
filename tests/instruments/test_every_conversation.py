"""`after every conversation`: talks with a friend are measured too, in a run and afterwards, so that arms without a counselor have scores."""

from pathlib import Path

import pytest

from analysis.finding import find
from analysis.outcomes import measured_outcomes
from analysis.tables import measurements
from simcounsel.errors import RunError
from simcounsel.events import Measured
from simcounsel.instruments.scale import shipped
from simcounsel.measuring.rate import rate
from simcounsel.runs.run import Run
from simcounsel.specs.measurement import MeasurementSpec
from tests.each import each
from tests.stage import changed, happened, live, three

SPECS = tuple(
    MeasurementSpec(instrument=name, when="after every conversation")
    for name in ("session_alliance_observed", "session_alliance", "talk_measures")
)
POINTS = {
    "client_counselor": ["after session 1"],
    "client_layperson": ["after conversation 1"],
    "everyone": ["after session 1", "after conversation 2"],
    "client_only": [],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """By condition, the tiny world with a friend in it."""
    folder = tmp_path_factory.mktemp("conversations")
    return {
        condition: live(folder, changed(three(), measurements=SPECS, condition=condition, ticks=6))
        for condition in POINTS
    }


@each("condition", POINTS)
def test_each_conversation_is_measured_once(runs: dict[str, Run], condition: str) -> None:
    found = list(happened(runs[condition], Measured))
    for name in {one.instrument for one in SPECS}:
        own = [one for one in found if one.instrument == name]
        assert [one.point for one in own] == POINTS[condition], name
        assert {one.who for one in own} <= {"Ines"}
    seen = [one for one in found if one.instrument == "session_alliance_observed"]
    assert {one.respondent for one in seen} <= {"observer"}
    assert len({one.chats for one in seen}) == len(POINTS[condition])


def test_rated_afterwards_it_is_called_the_same(runs: dict[str, Run]) -> None:
    run = runs["everyone"]
    in_run = {
        (one.instrument, one.point, one.chats)
        for one in happened(run, Measured)
        if one.respondent == "observer"
    }
    after = rate(run, "session_alliance_observed")
    assert {(one.instrument, one.point, one.chats) for one in after} == in_run


def test_a_self_report_as_of_each_conversation(runs: dict[str, Run]) -> None:
    run = runs["everyone"]
    (end,) = rate(run, "session_alliance")
    assert end.point == "tick 5" or end.point == "end"
    each = rate(run, "session_alliance", every_talk=True)
    assert [one.point for one in each] == POINTS["everyone"]
    with pytest.raises(RunError, match="leave --every-conversation out"):
        rate(run, "persona_change", every_talk=True)


def test_the_arm_with_a_friend_has_scores(runs: dict[str, Run]) -> None:
    folder: Path = runs["everyone"].folder.parent
    sample = find([folder])
    outcomes = measured_outcomes(measurements(sample.logs), sample)
    own = outcomes[
        (outcomes["instrument"] == "session_alliance_observed")
        & (outcomes["score"] == "goals_and_topics")
    ].set_index("arm")
    assert set(own["kind"]) == {"level"}
    assert 1 <= own["value"]["client_layperson"] <= 10
    assert 1 <= own["value"]["client_counselor"] <= 10
    assert own["reason"]["client_only"] == "not measured in this run"


def test_its_scores_are_the_four_areas() -> None:
    scale = shipped("session_alliance_observed")
    assert [one.id for one in scale.subscales] == [
        "relationship", "goals_and_topics", "approach", "overall",
    ]  # fmt: skip
    assert (scale.range.min, scale.range.max) == (1, 10)
