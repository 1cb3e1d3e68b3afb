"""A real SuperLink and three real SuperNodes as processes on loopback; one dies in the middle."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.training.federation.leastsquares import LeastSquares, start
from tests.training.federation.test_course import DATA, SITE, SIZES, plan_of, recipe
from training.federation.course import ROUNDS
from training.federation.inprocess import Failed, InProcess
from training.federation.rounds import conduct
from training.federation.state import ServerState, from_folder
from training.federation.terms import Terms, terms_of
from training.federation.updates import Weights

pytest.importorskip("flwr")
ROOT = Path(__file__).parents[3]
APP = Path(__file__).parent / "flowerapp"
BIN = Path(sys.executable).parent
ROUNDS_WANTED = 4


def free_port() -> int:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return int(here.getsockname()[1])


class Flower:
    """SuperLink and SuperNodes of one test, each a process (group) of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        home = folder / "flwr"
        home.mkdir(parents=True)
        (home / "config.toml").write_text(f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\ninsecure = true\n')
        self.env = {**os.environ, "FLWR_HOME": str(home), "FLWR_TELEMETRY_ENABLED": "0", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "PATH": f"{BIN}:{os.environ['PATH']}"}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen([str(BIN / words[0]), *words[1:]], cwd=self.folder, env=self.env, stdout=log, stderr=log, start_new_session=True)

    def up(self) -> None:
        self.start("superlink", "flower-superlink", "--insecure", "--port", str(self.port), "--disable-runtime-dependency-installation")
        self.reachable(self.port)
        for site in SIZES:
            self.start(site, "flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{self.port}", "--port", str(free_port()), "--node-config", f'site="{site}"')

    def reachable(self, port: int) -> None:
        for _ in range(300):
            with socket.socket() as here:
                if here.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        raise AssertionError("no SuperLink")

    def run(self, out: Path, private: bool) -> None:
        app = self.folder / "app"
        shutil.copytree(APP, app, ignore=shutil.ignore_patterns("__pycache__"))
        out.mkdir()
        config = f'folder="{out}" private={str(private).lower()} rounds={ROUNDS_WANTED}'
        subprocess.run([str(BIN / "flwr"), "run", str(app), "here", "--run-config", config], cwd=self.folder, env=self.env, check=True, timeout=120, capture_output=True)

    def kill(self, name: str) -> None:
        """At once, with all that it has started."""
        process = self.processes.pop(name)
        for number in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.wait()

    def down(self) -> None:
        for name in list(self.processes):
            self.kill(name)


def descendants(parent: int) -> list[int]:
    """Processes that it started, and those that these started."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found += [int(stat.parent.name), *descendants(int(stat.parent.name))]
    return found


@pytest.fixture
def flower(tmp_path: Path) -> Iterator[Flower]:
    here = Flower(tmp_path)
    try:
        yield here
    finally:
        here.down()


def lines_of(out: Path, until: str, seconds: float = 240) -> list[str]:
    """What the server said, when it has said a line that begins so."""
    for _ in range(int(seconds / 0.1)):
        said = (out / "said.txt").read_text().splitlines() if (out / "said.txt").exists() else []
        if any(line.startswith(until) for line in said):
            return said
        time.sleep(0.1)
    raise AssertionError(f"no line {until!r}: {said}")


class Without(InProcess):
    """In process, with the sites failing in the rounds in which they failed over Flower."""

    def __init__(self, answered: Mapping[int, set[str]], *given: object) -> None:
        super().__init__(*given)  # type: ignore[arg-type]
        self.answered, self.round = answered, 0

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        self.round += 1
        return {site: said if site in self.answered[self.round] else Failed("gone") for site, said in super().ask(tasks, frozen).items()}


def in_process(terms: Terms, answered: Mapping[int, set[str]]) -> ServerState:
    sites, state = Without(answered, LeastSquares(DATA), terms, 1), start()
    for _ in answered:
        state, _ = conduct(state, sites, terms, 1)
    return state


@pytest.mark.slow
@pytest.mark.parametrize("private", [True])  # False was tried too; each takes over a minute
def test_over_flower_with_a_site_that_dies_the_result_is_that_of_one_process(private: bool, flower: Flower, tmp_path: Path) -> None:
    out = tmp_path / "out"
    flower.up()
    flower.run(out, private)
    lines_of(out, "2 ")  # the third round has begun, or is about to
    flower.kill("south")
    said = lines_of(out, "end")
    assert said[-1] == "end None"
    answered = {int(line.split()[0]): set(line.split()[1].split(",")) for line in said[:-1]}
    assert any("south" in here for here in answered.values()) and "south" not in answered[ROUNDS_WANTED] and len(answered) == ROUNDS_WANTED
    of = recipe(SITE if private else None, rounds=ROUNDS_WANTED)
    wanted = in_process(terms_of(of, plan_of(of), SIZES), answered)
    state, facts = from_folder(out / ROUNDS / f"{ROUNDS_WANTED:04d}")
    assert all(np.array_equal(state.weights[key], value) for key, value in wanted.weights.items())
    assert facts["ledger"].get("rounds_charged") == (ROUNDS_WANTED if private else None)
