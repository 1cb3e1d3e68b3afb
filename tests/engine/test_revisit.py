"""A resident as of a tick, out of the log alone."""

import shutil
from pathlib import Path

import pytest

from simcounsel.agents.resident import Resident
from simcounsel.engine.forking import fork
from simcounsel.engine.revisit import revisit
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import RunError
from simcounsel.runs.run import Run
from simcounsel.scripted import Scripted
from tests.stage import begun, live, switchboard, three, tiny


def state(resident: Resident) -> dict[str, object]:
    """What can be compared of a resident."""
    names = (
        "place",
        "activity",
        "emotion",
        "intensity",
        "version",
        "strokes",
        "slots",
        "closeness",
        "meetings",
        "sessions",
        "said",
        "sights",
        "wondered",
    )
    return {name: getattr(resident, name) for name in names} | {
        "memories": resident.memory.long.memories + resident.memory.short.memories
    }


@pytest.mark.parametrize("ticks", [1, 4, 7])
def test_it_is_the_resident_that_lived(tmp_path: Path, ticks: int) -> None:
    simulation = Simulation(three(), out=tmp_path)
    for _ in range(ticks):
        simulation.step()
    for resident in simulation.residents():
        past = revisit(Run.open(simulation.record.folder), resident.name)
        assert state(past.resident) == state(resident)
        assert past.scene.tick == ticks - 1 and past.scene.minute == simulation.minute
        assert set(past.remembered_at) == {
            memory.id
            for memory in (*resident.memory.short.memories, *resident.memory.long.memories)
        }
        assert set(past.others) == {"Ines", "Miriam", "Omar"} - {resident.name}
    simulation.close()


def test_an_earlier_tick_knows_nothing_later(tmp_path: Path) -> None:
    run = live(tmp_path, three())
    early, late = (revisit(run, "Ines", tick) for tick in (1, 11))
    assert len(early.resident.memory) < len(late.resident.memory)
    assert not early.conversations and late.conversations
    assert late.conversations[0].lines[0].who in ("Ines", "Miriam")
    assert all(tick <= 1 for tick, _ in early.remembered_at.values())
    assert early.activities[-1].until == early.scene.minute


def test_memories_have_their_vectors(lived: Run) -> None:
    past = revisit(lived, "Ines", 5)
    memory = past.resident.memory
    for store in (memory.short, memory.long):
        for number, one in enumerate(store.memories):
            terms = store.terms(
                store.vector(one.id), past.resident.emotion, past.scene.minute, memory.settings
            )
            assert terms.relevance[number] == pytest.approx(1, abs=0.01)


def test_names_and_ticks_that_are_not_there(lived: Run, tmp_path: Path) -> None:
    assert (
        revisit(lived, "ines").resident.name
        == "Ines"
        == revisit(lived, "Ines Duarte").resident.name
    )
    with pytest.raises(RunError, match="no resident 'Inez'; did you mean \"Ines\""):
        revisit(lived, "Inez")
    for tick in (-1, 12, 400):
        with pytest.raises(RunError, match=f"tick {tick} was not run; choose one from 0 to 11"):
            revisit(lived, "Ines", tick)
    with pytest.raises(RunError, match="no tick is complete yet"):
        revisit(begun(tmp_path), "Ines")


def test_who_had_gone_cannot_be_asked(lived: Run, tmp_path: Path) -> None:
    new = fork(lived, 3, {"condition": "client_only"}, tmp_path)
    Simulation(new.world, run=new, models=switchboard(Scripted())).run(2)
    assert revisit(new, "Miriam", 2).resident.name == "Miriam"
    with pytest.raises(RunError, match="Miriam did not live there at tick 3; there were Ines"):
        revisit(new, "Miriam", 3)


def test_a_run_that_is_being_written(tmp_path: Path) -> None:
    simulation = Simulation(tiny(), out=tmp_path)
    simulation.step()
    with (simulation.record.folder / "events.jsonl").open("ab") as file:
        file.write(b'{"seq":9999,"tick":1,"min')
    before = sorted(path.name for path in simulation.record.folder.iterdir())
    assert revisit(Run.open(simulation.record.folder), "Ines").scene.tick == 0
    assert sorted(path.name for path in simulation.record.folder.iterdir()) == before
    simulation.close()


def test_a_replayed_run_takes_its_vectors_from_its_source(lived: Run, tmp_path: Path) -> None:
    shutil.copytree(lived.folder, tmp_path / "source")
    again = live(tmp_path, tiny(), model=f"recorded:{tmp_path / 'source'}")
    assert state(revisit(again, "Ines", 6).resident) == state(revisit(lived, "Ines", 6).resident)
