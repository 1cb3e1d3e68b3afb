"""Recalled again in the way of the run, each moment gives what the run noted; in another way,
something else.
"""

import shutil
from pathlib import Path

import pytest

from simcounsel.engine.recalling import recalled_in_ways
from simcounsel.errors import RunError
from simcounsel.events import Recalled
from simcounsel.runs.run import Run
from tests.stage import changed, live, three


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("recalled")
    world = three()
    settings = world.memory.model_copy(update={"habituation_lines": 0, "top_k": 2})
    return live(folder, changed(world, memory=settings))


def test_in_its_own_way_it_is_what_the_run_noted(run: Run) -> None:
    noted = {
        entry.seq: entry.event.hits
        for entry in run.entries()
        if isinstance(entry.event, Recalled)
        and entry.event.who == "Ines"
        and entry.event.purpose == "speak"
    }
    found = list(recalled_in_ways(run, "Ines", {"own": run.world.memory}))
    assert len(found) >= 4
    assert {one.seq: one.hits["own"] for one in found} == noted


def test_another_way_scores_the_same_memories_otherwise(run: Run) -> None:
    own = run.world.memory
    ways = {
        "emotion_aware": own.model_copy(update={"recall": "emotion_aware"}),
        "generative_agents": own.model_copy(update={"recall": "generative_agents"}),
    }
    found = list(recalled_in_ways(run, "Ines", ways))
    assert any(one.texts["emotion_aware"] != one.texts["generative_agents"] for one in found)
    for one in found:
        assert {len(texts) for texts in one.texts.values()} <= set(range(1, 5))
        assert one.chat.split(":", 1)[1].count("Ines") == 1


def test_a_memory_without_its_vector_is_told(run: Run, tmp_path: Path) -> None:
    there = shutil.copytree(run.folder, tmp_path / "run")
    (there / "calls.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(RunError, match="lacks the vector of"):
        list(recalled_in_ways(Run.open(there, damaged=True), "Ines", {"own": run.world.memory}))
