"""A session of a course with the embedded models: everything is asked, nothing falls back, what is
noted is in the lines.
"""

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
    assert len(happened(session, Reasoned)) == 3


def test_what_is_noted_stands_in_the_lines(session: Run) -> None:
    """Notes are drawn: of a fact whose quote nobody said nothing is kept."""
    said = " ".join(line.text for line in happened(session, Said) if line.who == "Ines")
    assert all(fact.quote in said for fact in happened(session, FactLearned))
    assert len(happened(session, SessionReviewed)) == 1
