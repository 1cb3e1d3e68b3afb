"""A run whose log has another version: every way in says which it has, which is read, and what to do."""

import json
import shutil
from pathlib import Path

import pytest

from simcounsel.engine.forking import fork
from simcounsel.errors import RunError
from simcounsel.events import SCHEMA_VERSION
from simcounsel.runs.run import Run
from simcounsel.runs.verifying import verify
from tests.commands import Command
from tests.without import needs

OLDER = (
    f"written with log version 4, this simcounsel reads {SCHEMA_VERSION}; install the simcounsel"
    r" that wrote it \(.+\), or run its world again with this one"
)


@pytest.fixture
def older(lived: Run, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(lived.folder, tmp_path / "older"))
    data = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    text = json.dumps(data | {"schema_version": 4})
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return folder


def test_it_does_not_open(older: Path, tmp_path: Path) -> None:
    for damaged in (False, True):
        with pytest.raises(RunError, match=OLDER):
            Run.open(older, damaged=damaged)
    with pytest.raises(RunError, match=OLDER):
        fork(Run.open(older), 6, {}, tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "show",
        "resume",
        "rate --instrument panas",
        pytest.param("export --format native --out x", marks=needs("corpus")),
        "talk --who Ines",
    ],
)
def test_each_command_says_so(older: Path, simcounsel: Command, command: str) -> None:
    name, *options = command.split()
    ended = simcounsel(name, older, *options)
    assert ended.code == 1 and f"reads {SCHEMA_VERSION}; install the simcounsel" in ended.err


def test_verify_looks_no_further(older: Path, simcounsel: Command) -> None:
    found = verify(older)
    assert len(found.damages) == 1 and not found.checked
    ended = simcounsel("verify", older)
    assert ended.code == 1
    assert ended.out.startswith(f"{older}  cannot be checked\n  written with log version 4, ")
