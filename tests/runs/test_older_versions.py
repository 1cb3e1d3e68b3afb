"""Runs that versions 1, 2 and 3 of the log wrote: they open, show, view, fork and export as they did.

The two folders of each were made by the last simcounsel of that version with the scripted model:
six ticks of the measured tiny world with danger in it, and a synthesis of four sessions.
"""

import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from simcounsel.cli import app
from simcounsel.corpus.reading import read_dialogues
from simcounsel.corpus.synthesis.workshop import fork as fork_synthesis
from simcounsel.engine.forking import fork
from simcounsel.engine.revisit import revisit
from simcounsel.errors import RunError
from simcounsel.runs.chain import HASHED
from simcounsel.runs.history import History
from simcounsel.runs.record import open_record
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from simcounsel.viewer.bundle import write_bundle
from simcounsel.viewer.routes import make_app
from simcounsel.viewer.run_list import RunList
from tests.stage import ROOT, go_on
from tests.viewer.written import go_on as write_on


@pytest.fixture(scope="module", params=[1, 2, 3])
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def old(version: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The two runs; read only."""
    out = tmp_path_factory.mktemp(f"version_{version}")
    for file in (ROOT / "tests" / "data" / f"version_{version}").glob("*.tar.xz"):
        with tarfile.open(file) as packed:
            packed.extractall(out, filter="data")
    return {run.kind.about: run for run in map(open_record, out.iterdir())}


def shown(*words: str) -> str:
    found = CliRunner().invoke(app, ["show", *words])
    assert found.exit_code == 0, found.output
    return found.output


def test_a_world_is_read(old: dict[str, Any], version: int) -> None:
    run = old["world"]
    assert (run.log_version, run.ticks_done()) == (version, 6)
    history = History.of(run)
    held = list(history.conversations())
    headings = history.lives().conversations
    assert {one.id: len(one.lines) for one in held} == {
        chat: heading.lines for chat, heading in headings.items()
    }
    assert history.names_calls == (version > 1)
    assert {line.danger.level for one in held for line in one.lines if line.danger} == {"imminent"}
    calls = list(history.calls(2, "Ines"))
    assert {call.exact for call in calls if not call.embeds} == {version > 1}
    assert all(call.messages[-1].role == "user" for call in calls if not call.embeds)


def test_it_shows(old: dict[str, Any]) -> None:
    folder = str(old["world"].folder)
    assert "lived          6 of 12 ticks" in shown(folder)
    assert "danger: imminent" in shown(folder, "--conversation", "1")
    assert "talks with Miriam" in shown(folder, "--who", "Ines")
    assert "score  recency" in shown(folder, "--recall", "Ines")
    assert "written        4 of 4 sessions" in shown(str(old["synthesis"].folder))
    assert "to revise" in shown(str(old["synthesis"].folder), "--conversation", "1")


def test_it_views_and_says_what_was_not_recorded(
    old: dict[str, Any], version: int, tmp_path: Path
) -> None:
    for kind, run in old.items():
        shelf = RunList(run.folder)
        site = TestClient(make_app(shelf), base_url="http://127.0.0.1:8765")
        api = f"/api/runs/{run.name}"
        if kind == "world":
            overview = site.get(f"{api}/overview").json()
            assert (overview["ticks"], overview["problems"]) == (6, [])
            talk = site.get(f"{api}/conversation/{overview['talks'][0]['chat']}").json()
            behind = site.get(f"{api}/behind/{talk['lines'][0]['seq']}?tick={talk['tick']}").json()
            assert (bool(behind["keys"]), behind["recorded"]) == (version > 1, version > 1)
        else:
            assert len(site.get(f"{api}/sessions").json()["sessions"]) == 4
            asked = site.get(f"{api}/asked/S0001").json()
            assert asked["recorded"] == (version > 1)
            assert asked["requests"]["other"]
        assert write_bundle(shelf.log(run.name), tmp_path / f"{kind}.html") == []


def test_it_forks_but_does_not_go_on(old: dict[str, Any], version: int, tmp_path: Path) -> None:
    with pytest.raises(
        RunError, match=f"written with log version {version}; it can be looked at and forked"
    ):
        go_on(old["world"])
    world = go_on(fork(old["world"], 4, {}, tmp_path), 1)
    written = write_on(fork_synthesis(old["synthesis"], 1, {}, tmp_path))
    assert (world.ticks_done(), written.ticks_done()) == (5, 2)
    assert not verify(world.folder).damages and not verify(written.folder).damages


def test_it_verifies_by_what_it_has(old: dict[str, Any], version: int, tmp_path: Path) -> None:
    for run in old.values():
        [line] = verify(run.folder).lines()
        assert "  holds: " in line
        unhashed = f"written before hashes (log version {version}): only its numbering was checked"
        assert line.endswith(unhashed) == (version < HASHED)
    folder = Path(shutil.copytree(old["world"].folder, tmp_path / "gap"))
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "events.jsonl").write_bytes(b"".join(lines[:40] + lines[41:]))
    gap = "events.jsonl:41: event 40 is missing before this line"
    assert gap in verify(folder).damages[0]
    with pytest.raises(RunError, match=gap):
        list(Run.open(folder).entries())
    with pytest.raises(RunError, match=gap):
        History.of(Run.open(folder))


def test_its_people_and_dialogues_are_there(old: dict[str, Any]) -> None:
    past = revisit(old["world"], "Miriam")
    assert past.resident.practice["Ines"]
    for run in old.values():
        assert read_dialogues(run.folder)
