"""A run's memories in Chroma: derived from the log, made when somebody asks."""

import json
import shutil
from pathlib import Path

import pytest

from simcounsel.engine.memory_index import memory_index
from simcounsel.errors import RunError
from simcounsel.events import Remembered
from simcounsel.runs.run import Run
from tests.stage import go_on, happened, live


def test_each_memory_with_its_text_and_vector(lived: Run, tmp_path: Path) -> None:
    run = Run.open(shutil.copytree(lived.folder, tmp_path / lived.name))
    kept = memory_index(run).get(include=["documents", "metadatas", "embeddings"])
    remembered = {event.memory.id: event for event in happened(run, Remembered)}
    assert dict(zip(kept["ids"], kept["documents"], strict=True)) == {
        i: e.memory.text for i, e in remembered.items()
    }
    assert {m["who"] for m in kept["metadatas"]} == {"Ines", "Miriam"}
    assert len(kept["embeddings"][0]) == 64


def test_it_grows_with_the_run(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=3)
    assert not (run.folder / "memory").exists()
    before = set(memory_index(run).get(include=[])["ids"])
    go_on(run, 3)
    after = set(memory_index(run).get(include=[])["ids"])
    assert before < after == {event.memory.id for event in happened(run, Remembered)}


def test_a_vector_that_is_missing_is_told(tmp_path: Path) -> None:
    run = live(tmp_path, ticks=2)
    calls = run.folder / "calls.jsonl"
    lines = calls.read_text(encoding="utf-8").splitlines(keepends=True)
    calls.write_text(
        "".join("{\n" if json.loads(line)["purpose"] == "remember" else line for line in lines),
        encoding="utf-8",
    )
    with pytest.raises(RunError, match=r"calls.jsonl: the vector of \S+:\d+ \(tick 0\) is missing"):
        memory_index(run)
