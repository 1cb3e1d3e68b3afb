"""What the manifest hashes: every file of data that decides what happens in a run."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simcounsel.engine.opening import DATA, DECIDE_NOTHING, prompt_hashes
from simcounsel.runs.chain import start_hash
from tests.stage import ROOT

PACKAGE = ROOT / "simcounsel"


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's files of data, to be changed."""
    copy = tmp_path_factory.mktemp("package") / "simcounsel"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.py", "*.pyc", "*.xz"))
    return copy


def test_a_change_of_any_file_that_decides_shows(copied: Path) -> None:
    before = prompt_hashes(copied)
    assert before == prompt_hashes() and len(before) > 300
    for path in before:
        file = copied / path
        data = file.read_bytes()
        file.write_bytes(data + b" ")
        changed = prompt_hashes(copied)
        file.write_bytes(data)
        assert {one for one in before if changed[one] != before[one]} == {path}
        assert start_hash({"prompts": changed}) != start_hash({"prompts": before})


def test_a_new_folder_of_data_is_not_forgotten(copied: Path) -> None:
    file = copied / "policies" / "another" / "en.yaml"
    file.parent.mkdir()
    file.write_text("said: [no]\n", encoding="utf-8")
    assert "policies/another/en.yaml" in prompt_hashes(copied)


def test_what_decides_nothing_is_there() -> None:
    for path in DECIDE_NOTHING:
        assert (PACKAGE / path).exists(), path


OPENED = """
import json, sys
opened = set()
sys.addaudithook(lambda event, args: event == "open" and opened.add(str(args[0])))
from simcounsel.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["simcounsel", *command, "--model", "scripted", "--quiet"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (command, end.code)
print("OPENED", *sorted(opened), sep="\\n")
"""


CLINIC = ("clinic", "tiny", "--client", "Ines", "--therapy", "cbt", "--sessions", "5", "--lines", "6")  # fmt: skip
CHINESE = ("--set", "language=zh", "--set", "fallbacks.most=1")


@pytest.mark.slow(8)
def test_every_file_of_data_that_a_run_opens_is_hashed(tmp_path: Path) -> None:
    """In a process that has read nothing yet."""
    commands = [
        ["run", "tiny", "--ticks", "9"],
        CLINIC,
        [*CLINIC, *CHINESE],
        ["synthesize", "--sessions", "2"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", OPENED, json.dumps(commands)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    opened = [
        Path(one).relative_to(PACKAGE).as_posix()
        for one in done.stdout.split("OPENED\n")[1].splitlines()
        if one.startswith(str(PACKAGE)) and one.endswith(DATA)
    ]
    assert len(opened) > 30 and {"zh", "en"} <= {
        part for path in opened for part in path.split("/")
    }
    hashed = prompt_hashes()
    decide = [path for path in opened if not any(map(path.startswith, DECIDE_NOTHING))]
    assert not [path for path in decide if path not in hashed]
