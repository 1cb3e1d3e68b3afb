"""A sweep on a Ray of this machine: one budget for all its nodes, and none of them goes on when it is ended.

On two cores the processes that live runs ended 0.6 to 2.5 s after the signal, the sweep itself after 3.8 to 5.4: the rest
is Ray's own end of the cluster that it began.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.llm.server import FaultServer
from tests.processes import begun_by, left_after
from tests.screens import environment
from tests.test_lab_ends import EXPERIMENT

BUDGET = 9
pytestmark = pytest.mark.slow


@contextmanager
def sweeping(
    folder: Path, server: FaultServer, more: str = ""
) -> Iterator[subprocess.Popen[bytes]]:
    """A sweep of two runs with `--ray local`."""
    pytest.importorskip("ray", reason="pip install -e '.[test-all]'")
    experiment = folder / "experiment.yaml"
    experiment.write_text(EXPERIMENT.replace("MODEL", f"{server.url}/m") + more, encoding="utf-8")
    command = [sys.executable, "-m", "simcounsel", "sweep", experiment, "--out", folder / "out"]
    with subprocess.Popen(
        [*command, "--ray", "local"],
        env=environment() | {"RAY_USAGE_STATS_ENABLED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(server: FaultServer, count: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while len(server.bodies) < count:
        assert process.poll() is None and time.monotonic() < until, process.communicate()
        time.sleep(0.02)


def workers(begun: frozenset[int]) -> list[int]:
    """Those of Ray that live a run: they name the task that they are at."""
    found = []
    for pid in begun:
        try:
            if b"_live_there" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("killed", [False, True], ids=["untouched", "a worker is killed"])
def test_one_budget_for_all_nodes(tmp_path: Path, killed: bool) -> None:
    """The server counts: as many requests as the budget has, at most."""
    with FaultServer(latency_s=0.05 if killed else 0.01) as server:
        budget = f"\nbudget: {{calls: {BUDGET}}}\n"
        with sweeping(tmp_path, server, budget) as process:
            if killed:
                wait_for(server, 3, process)
                (first, *_) = workers(begun_by(process.pid))
                os.kill(first, signal.SIGKILL)
            out, _ = process.communicate(timeout=150)
        assert process.returncode in ((1, 3) if killed else (3,)), out.decode()
        sent = len(server.bodies)
        assert 3 <= sent <= BUDGET and (killed or sent == BUDGET)
        if not killed:
            return
        with sweeping(tmp_path, server, budget) as process:  # begun again it counts on
            out, _ = process.communicate(timeout=150)
        assert f"the budget of {BUDGET} calls is used up" in out.decode(), out.decode()
        assert sent <= len(server.bodies) <= BUDGET


def test_none_goes_on(tmp_path: Path) -> None:
    """Both runs wait for a server that never answers; their processes end soon."""
    with FaultServer(faults=lambda index: "stall") as server, sweeping(tmp_path, server) as process:
        wait_for(server, 2, process)
        begun = begun_by(process.pid)
        living = workers(begun)
        assert len(living) == 2
        for one in (signal.SIGINT, signal.SIGTERM):
            process.send_signal(one)
            time.sleep(0.2)
        left = left_after(living, seconds=5)
        out, _ = process.communicate(timeout=60)
        assert left == frozenset()
        assert left_after(begun, seconds=10) == frozenset()
    assert b"Traceback" not in out, out.decode()
