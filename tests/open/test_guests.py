"""The core without its guests: it runs and shows a world by the scripted model, and each command that wants a guest says
in one sentence what is missing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.stage import ROOT
from tests.without import GUESTS

CORE = ("agents", "engine", "policies", "runs", "specs")
"""Folders of tests/ for the core alone."""
SCRIPT = """
import contextlib, io, json, sys
from pathlib import Path
import tests.without
from simcounsel import cli
ended = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["simcounsel", *(str(*Path("runs").iterdir()) if one == "RUN" else one for one in words)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    ended.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""
RUN = ["run", "tiny", "--model", "scripted", "--quiet", "--out", "runs"]
WANTS = {
    "danger": ["run", "tiny", "--model", "scripted", "--set", "safety.counselors=protocol"],
    "embedded": ["run", "tiny", "--model", "embedded"],
    "local": ["run", "tiny", "--model", "local:qwen2.5-1.5b"],
    "corpus": ["corpus", "check", "x.jsonl"],
    "bench": ["study", "bench", "show", "x"],
    "studies": ["study", "rate-page", "x"],
    "practice": ["practice", "--help"],
    "trial": ["trial", "status", "x"],
    "therapies": ["run", "tiny", "--model", "scripted", "--set", "residents.Miriam.policy=staged"],
}
"""A command that wants the guest; none wants `envs`, which is for Python."""


def without(guests: str, *commands: list[str], cwd: Path) -> list[list[Any]]:
    """Of each command its exit code, output and errors, where simcounsel is without these guests."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(commands)],
        cwd=cwd,
        env=os.environ | {"SIMCOUNSEL_WITHOUT": guests, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    ended: list[list[Any]] = json.loads(done.stdout)
    return ended


@pytest.mark.parametrize("guests", [*GUESTS, ",".join(GUESTS)])
def test_a_world_is_run_and_shown_without(guests: str, tmp_path: Path) -> None:
    wanting = [WANTS[guest] for guest in guests.split(",") if guest in WANTS]
    ran, shown, *refused = without(guests, RUN, ["show", "RUN"], *wanting, cwd=tmp_path)
    assert (ran[0], ran[2]) == (0, "")
    assert shown[0] == 0 and "conversations  " in shown[1]
    for code, _, said in refused:
        assert code == 1 and "is not installed here" in said, said
        assert said.count("\n") <= 3 and "Traceback" not in said


@pytest.mark.slow
def test_the_tests_of_the_core_pass_without_any_guest() -> None:
    folders = [str(ROOT / "tests" / folder) for folder in CORE]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.without", "-n", "2", *folders],
        cwd=ROOT,
        env=os.environ | {"SIMCOUNSEL_WITHOUT": ",".join(GUESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
    assert " passed" in ended.stdout
