"""Syntheses of earlier versions: a folder that looks like a run's is read as it is, and gets today's form when it is gone on with."""

import json
from pathlib import Path

import pytest

from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.synthesis.kind import SYNTHESIS
from simcounsel.corpus.synthesis.record import SynthesisRecord
from simcounsel.corpus.synthesis.workshop import Workshop, fork
from simcounsel.record_kinds import kind_of
from simcounsel.runs.verifying import verify
from tests.commands import Command
from tests.corpus.written import written
from tests.stage import log, seal


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Two waves of three, in a folder as it was written before."""
    folder = written(tmp_path / "runs", 2).folder
    fields = json.loads((folder / "synthesis.json").read_text(encoding="utf-8"))
    (folder / "synthesis.json").unlink()
    (folder / "manifest.json").write_text(json.dumps(fields | {"world": None}), encoding="utf-8")
    seal(folder)
    return folder


def test_it_is_read_as_it_is(old: Path, simcounsel: Command) -> None:
    before = {file.name: file.read_bytes() for file in old.iterdir()}
    assert kind_of(old) is SYNTHESIS and not verify(old).damages
    assert "written        4 of 6 sessions" in simcounsel("show", old).out
    assert len(read_dialogues(old)) == 4
    assert simcounsel("view", old, "--html", "old.html").code == 0
    assert "K001" in simcounsel("show", old, "--strategies").out
    assert fork(SynthesisRecord.open(old), 1, {}, old.parent / "forks").ticks_done() == 1
    assert {file.name: file.read_bytes() for file in old.iterdir()} == before


def test_it_gets_today_s_form_when_it_is_gone_on_with(old: Path, tmp_path: Path) -> None:
    run = Workshop(SynthesisRecord.open(old)).run()
    assert run.ticks_done() == 3 and not verify(old).damages
    assert sorted(file.name for file in old.glob("*.json*")) == [
        "calls.jsonl",
        "events.jsonl",
        "synthesis.json",
    ]
    assert log(run) == log(written(tmp_path / "whole"))
    assert SynthesisRecord.open(old).settings == run.settings


def test_a_manifest_that_was_changed_is_named(old: Path, simcounsel: Command) -> None:
    file = old / "manifest.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"seed": 1', '"seed": 2'))
    ended = simcounsel("resume", old)
    assert ended.code == 1 and "manifest.json: it was changed after it was written" in ended.err
