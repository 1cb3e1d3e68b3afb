"""However a sweep is ended, no process of it goes on: a model that is asked costs money."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simcounsel.lab.sweep import Sweep
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.terminal import OutputError
from tests.each import each
from tests.llm.server import FaultServer
from tests.processes import begun_by, left_after, running
from tests.screens import environment
from tests.stage import ROOT

EXPERIMENT = f"""
name: Small
worlds: [{ROOT}/worlds/tiny.yaml]
clients: [{ROOT}/personas/ines.yaml, {ROOT}/personas/walter.yaml]
in_place_of: Ines
seeds: [3]
models: {{reason: "MODEL", embed: scripted}}
conditions: [{{name: alone, set: {{condition: client_only}}}}]
"""


@contextmanager
def sweeping(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], frozenset[int]]]:
    """A sweep of two runs, both of which wait for a server that never answers; and the processes that it began."""
    with FaultServer(faults=lambda index: "stall") as server:
        experiment = folder / "experiment.yaml"
        experiment.write_text(EXPERIMENT.replace("MODEL", f"{server.url}/m"), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "simcounsel",
            "sweep",
            experiment,
            "--out",
            folder / "out",
            "--processes",
            "2",
        ]
        with subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)] and None,
        ) as process:  # fmt: skip
            until = time.monotonic() + 90
            while len(server.bodies) < 2:
                assert process.poll() is None and time.monotonic() < until, process.communicate()
                time.sleep(0.05)
            begun = begun_by(process.pid)
            assert len(begun) >= 2
            try:
                yield process, begun
            finally:
                process.kill()


@pytest.mark.slow
@each(
    "signals",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGTERM], [signal.SIGKILL]],
)
def test_none_goes_on(tmp_path: Path, signals: list[signal.Signals]) -> None:
    with sweeping(tmp_path) as (process, begun):
        for one in signals:
            process.send_signal(one)
            time.sleep(0.2)
        out, _ = process.communicate(timeout=60)
        assert left_after(begun, seconds=5) == frozenset()
    assert b"Traceback" not in out, out.decode()
    if signals != [signal.SIGKILL]:
        assert process.returncode == 128 + signals[-1]
        first = "Ctrl-C" if signals[0] == signal.SIGINT else signals[0].name
        assert len(signals) == 2 or f"stopped by {first}; the same command goes on" in out.decode()


def test_a_screen_that_is_full(tmp_path: Path) -> None:
    """What ends a sweep otherwise ends its runs too."""
    with FaultServer(faults=lambda index: "stall") as server:
        experiment = tmp_path / "experiment.yaml"
        experiment.write_text(EXPERIMENT.replace("MODEL", f"{server.url}/m"), encoding="utf-8")
        loaded, cells = load_experiment(experiment)
        one = Sweep(loaded, cells, tmp_path / "out", processes=2)
        begun: set[int] = set()

        def full() -> None:
            begun.update(one.workers.pids)  # type: ignore[attr-defined]
            if len(server.bodies) > 1:
                raise OutputError("full")

        with pytest.raises(OutputError):
            one.run(full)
    assert len(begun) == 2 and running(begun) == frozenset()
