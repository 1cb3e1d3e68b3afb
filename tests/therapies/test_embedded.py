"""A session of a course with the embedded models: everything is asked, nothing falls back, what is noted stands in the lines."""

from pathlib import Path

import pytest

from simcounsel.engine.simulation import Simulation
from simcounsel.events import (
    ClientShifted,
    CourseAdvanced,
    FactLearned,
    Reasoned,
    Retrieved,
    Said,
    SessionPlanned,
    SessionReviewed,
    Warned,
)
from simcounsel.runs.run import Run
from simcounsel.specs.world_file import load_world
from simcounsel.therapies.clinic import clinic_world
from simcounsel.therapies.specs.therapy import shipped_therapy
from tests.stage import TINY, happened

pytestmark = [pytest.mark.weights, pytest.mark.slow(5)]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Run:
    world = clinic_world(
        load_world(TINY), therapy=shipped_therapy("integrative"), sessions=5, lines=6
    )
    return Simulation(world, out=tmp_path_factory.mktemp("embedded")).run(2)


def test_a_session_is_held(session: Run) -> None:
    assert happened(session, Warned) == []
    assert len(happened(session, Said)) == 6
    assert [event.session for event in happened(session, SessionPlanned)] == [1]
    assert [event.of for event in happened(session, Retrieved)] == [
        "therapy",
        "meta skill",
        "skill",
    ]
    assert [event.step for event in happened(session, CourseAdvanced)] == ["repeat"] or happened(
        session, CourseAdvanced
    )[0].step == "advance"
    assert happened(session, ClientShifted)


def test_skills_change_with_what_is_heard(session: Run) -> None:
    traces = happened(session, Reasoned)
    assert len(traces) == 3
    assert len({trace.skills[0] for trace in traces}) >= 2
    heard = [line.text for line in happened(session, Said) if line.who == "Ines"]
    for trace, before in zip(traces[1:], heard, strict=False):
        assert trace.assessment.split("“")[1].split("”")[0] in before


def test_notes_stand_in_the_lines(session: Run, tmp_path: Path) -> None:
    said = " ".join(line.text for line in happened(session, Said) if line.who == "Ines")
    facts = happened(session, FactLearned)
    assert facts
    assert all(fact.quote in said for fact in facts)
    (review,) = happened(session, SessionReviewed)
    assert review.dropped == ()
    assert review.summary.startswith("Ines spoke of “")
