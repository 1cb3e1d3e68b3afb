"""A run and a revisit of it hold the same residents: one fold, whatever happened."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcounsel.agents.resident import Resident
from simcounsel.engine.observers import Observers
from simcounsel.engine.revisit import revisit
from simcounsel.engine.simulation import Simulation
from simcounsel.events import Assessed, Joined, Left, Said, Warned
from simcounsel.llm.question import Question
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.vocabulary import Condition
from simcounsel.specs.world import World
from tests.instruments.stage import measured_world
from tests.stage import changed, happened, switchboard, three, tiny
from tests.without import needs

LINES = (
    "I was at the window with a tea.",
    "I want to kill myself tonight. I have everything here in my room.",
    "Sometimes I think it would be better not to wake up.",
)


def everything(resident: Resident) -> dict[str, Any]:
    """All the state of a resident; memories as they are stored, since stores do not compare."""
    state = {
        name: value
        for name, value in vars(resident).items()
        if name not in ("memory", "spec", "persona", "_observers", "_sightings", "talks")
    }
    memory = resident.memory
    return state | {
        "short": memory.short.memories,
        "long": memory.long.memories,
        "due": memory.reflection_due(),
        "seen": vars(resident._sightings)["_last"],
        "engaged": resident.talks.engaged,
    }


def scripted(seed: int, answer: int) -> Scripted:
    """A client who says any of LINES, and questionnaires that are answered with one number."""

    def line(request: Question, draw: Random) -> str:
        say = f"{Random(seed + draw.randrange(99)).choice(LINES)} ({draw.randrange(10**6)})"
        return json.dumps(
            {"say": say, "emotion": "sadness", "intensity": 5, "poignancy": 5, "wish": "go on"}
        )

    def sheet(request: Question, draw: Random) -> str:
        assert request.schema is not None
        return json.dumps(dict.fromkeys(request.schema.model_json_schema()["properties"], answer))

    return Scripted({"line_client": line, "self_report": sheet})


def world_of(made: Callable[[], World], condition: Condition, policy: str, seed: int) -> World:
    """A small world in which every counselor has that policy, and in which no share of fallbacks is
    too large: who is heard to be in danger is answered by a script that knows no number to name.
    """
    world = made()
    residents = tuple(
        spec.model_copy(update={"policy": PolicySpec(name=policy)})
        if spec.role == "counselor"
        else spec
        for spec in world.residents
    )
    limits = world.fallbacks.model_copy(update={"most": 1})
    return changed(world, seed=seed, condition=condition, residents=residents, fallbacks=limits)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(
    made=st.sampled_from([tiny, three, measured_world]),
    condition=st.sampled_from(get_args(Condition)),
    policy=st.sampled_from(["socratic", "supportive", "staged", "unguided", "course"]),
    seed=st.integers(1, 10**6),
    ticks=st.integers(1, 5),
    answer=st.integers(0, 3),
)
def test_a_revisited_resident_is_the_one_that_lived(
    made: Callable[[], World], condition: Condition, policy: str, seed: int, ticks: int, answer: int
) -> None:
    with tempfile.TemporaryDirectory() as out:
        world = world_of(made, condition, policy, seed)
        models = switchboard(scripted(seed, answer))
        with Simulation(world, out=Path(out), models=models) as simulation:
            for _ in range(ticks):
                simulation.step()
        for resident in simulation.residents():
            past = revisit(Run.open(simulation.record.folder), resident.name)
            assert everything(past.resident) == everything(resident)


@needs("danger")
def test_danger_is_known_to_the_counselor_who_heard_it(tmp_path: Path) -> None:
    """A line's danger to both who talk, a questionnaire's to whoever counsels."""
    models = switchboard(scripted(1, 2))
    with Simulation(measured_world(), out=tmp_path, models=models) as simulation:
        for _ in range(4):
            simulation.step()
    heard = happened(simulation.record, Assessed)
    assert {event.chat is None for event in heard} == {True, False}
    past = revisit(Run.open(simulation.record.folder), "Miriam")
    known = [
        entry.event for entry in past.resident.practice["Ines"] if isinstance(entry.event, Assessed)
    ]
    assert known == heard


def test_who_is_not_there_observes_nothing() -> None:
    observers = Observers(tiny())
    joined = Joined(who="Ines", role="client", home="", place="")
    said = Said(
        chat="2:Ines+Miriam",
        message=1,
        who="Ines",
        to="Miriam",
        text="Hm.",
        emphasis=None,
        emotion="joy",
        intensity=1,
        poignancy=1,
        source="generated",
    )
    assert observers.of(said) == ()
    assert observers.of(joined) == ("Ines",) == observers.of(said)
    assert observers.of(Warned(who="Ines", purpose="move", cause="c")) == ()
    assert observers.of(Left(who="Ines")) == () == observers.of(said)
