"""A real SuperLink and three real SuperNodes as processes on loopback, with TLS and keys; one dies in the middle."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.federation import certificates
from tests.training.federation.leastsquares import (
    DATA,
    SITE,
    SIZES,
    LeastSquares,
    plan_of,
    recipe,
    start,
)
from training.federation.all_rounds import ROUNDS
from training.federation.fixedpoint import Residues
from training.federation.inprocess import InProcess
from training.federation.replies import Failed
from training.federation.rounds import conduct
from training.federation.site import SiteSide
from training.federation.state import from_folder
from training.federation.terms import terms_of
from training.federation.updates import Weights

pytest.importorskip("flwr", reason="pip install -e '.[test-all]'")
ROOT = Path(__file__).parents[3]
APP = Path(__file__).parent / "flowerapp"
BIN = Path(sys.executable).parent
ROUNDS_WANTED = 2


def free_port() -> int:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return int(here.getsockname()[1])


class Flower:
    """SuperLink and SuperNodes of one test, each a process (group) of its own, with TLS and keys."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        home = folder / "flwr"
        home.mkdir(parents=True)
        ca = certificates.authority(folder, "ca")
        certificates.server(folder, ca)
        certificates.authority(folder, "other")
        for name in (*SIZES, "stranger"):
            certificates.node(folder, name)
        here = f'address = "127.0.0.1:{self.port}"\nroot-certificates = "{folder}/ca.pem"'
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n\n[superlink.here]\n{here}\n'
        )
        self.env = {
            **os.environ,
            "FLWR_HOME": str(home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [str(BIN / words[0]), *words[1:]],
                cwd=self.folder,
                env=self.env,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def up(self) -> None:
        tls = (
            "--ssl-certfile",
            "server.pem",
            "--ssl-keyfile",
            "server.key",
            "--ssl-ca-certfile",
            "ca.pem",
        )
        self.start(
            "superlink",
            "flower-superlink",
            *tls,
            "--enable-supernode-auth",
            "--port",
            str(self.port),
            "--disable-runtime-dependency-installation",
        )
        self.reachable(self.port)
        with ThreadPoolExecutor() as together:
            list(
                together.map(
                    lambda name: self.flwr("supernode", "register", f"{name}.pub", "here"), SIZES
                )
            )
        for name in SIZES:
            self.node(name, "--auth-supernode-private-key", name)
        self.node("stranger", "--auth-supernode-private-key", "stranger", "--max-retries", "0")
        self.node("keyless", "--max-retries", "0")
        self.node(
            "misled", "--auth-supernode-private-key", "east", "--max-retries", "0", ca="other.pem"
        )

    def node(self, name: str, *more: str, ca: str = "ca.pem") -> None:
        where = ("--superlink", f"127.0.0.1:{self.port}", "--port", str(free_port()))
        self.start(
            name,
            "flower-supernode",
            "--root-certificates",
            ca,
            *where,
            "--node-config",
            f'site="{name}"',
            *more,
        )

    def flwr(self, *words: str) -> None:
        subprocess.run(
            [str(BIN / "flwr"), *words],
            cwd=self.folder,
            env=self.env,
            check=True,
            timeout=120,
            capture_output=True,
        )

    def refused(self, name: str) -> str:
        """What a node said that could not come in, when it has ended; what it had started is ended too."""
        assert self.processes[name].wait(60) != 0
        self.kill(name)
        return (self.folder / f"{name}.log").read_text()

    def reachable(self, port: int) -> None:
        for _ in range(300):
            with socket.socket() as here:
                if here.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        raise AssertionError("no SuperLink")

    def run(self, out: Path, **asked: bool) -> None:
        app = self.folder / "app"
        shutil.copytree(APP, app, ignore=shutil.ignore_patterns("__pycache__"))
        out.mkdir()
        config = " ".join(
            [
                f'folder="{out}" rounds={ROUNDS_WANTED}',
                *(f"{key}={str(value).lower()}" for key, value in asked.items()),
            ]
        )
        self.flwr("run", str(app), "here", "--run-config", config)

    def kill(self, name: str) -> None:
        """At once, with all that it has started."""
        process = self.processes.pop(name)
        below = descendants(process.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for number in below:
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


def lines_of(file: Path, until: str = "", seconds: float = 240) -> list[str]:
    """What a file says, when it is there with a line that begins so."""
    said: list[str] = []
    for _ in range(int(seconds / 0.1)):
        said = file.read_text().splitlines() if file.exists() else []
        if (file.exists() and not until) or any(line.startswith(until) for line in said):
            return said
        time.sleep(0.1)
    raise AssertionError(f"{file.name}: no line {until!r}: {said}")


class Without(InProcess):
    """In process, with the sites failing in the rounds in which they failed over Flower. plain: all that must not leave a site."""

    def __init__(self, answered: Mapping[int, set[str]], *given: Any) -> None:
        super().__init__(*given)
        self.answered, self.round = answered, 0
        self.plain: list[bytes] = []

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        return self.left(super().ask(tasks, frozen))

    def ask_parts(
        self, tasks: Mapping[str, bytes], frozen: Weights
    ) -> dict[str, Residues | Failed]:
        for site, task in tasks.items():
            update = SiteSide(
                name=site,
                learner=self.timed.learner,
                terms=self.terms,
                seed=self.seed,
                frozen=frozen,
            ).update_of(task)
            self.plain += [value.tobytes() for value in update.delta.values()]
        parts = super().ask_parts(tasks, frozen)
        self.plain += [part.tobytes() for part in parts.values() if not isinstance(part, Failed)]
        return self.left(parts)

    def left(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        self.round += 1
        return {
            site: said if site in self.answered[self.round] else Failed("gone")
            for site, said in answers.items()
        }


@pytest.mark.slow(90)
@pytest.mark.parametrize(
    ("private", "secure"), [(True, True)]
)  # the other three were tried too; each takes minutes
def test_over_flower_with_a_site_that_dies_the_result_is_that_of_one_process(
    private: bool, secure: bool, flower: Flower, tmp_path: Path
) -> None:
    """With TLS; every site known by its key. The one that dies does so while it trains: in a secure sum, after its shares were dealt."""
    out = tmp_path / "out"
    flower.up()
    flower.run(out, private=private, secure=secure)
    for name, why in (
        ("stranger", "Failed to activate SuperNode"),
        ("keyless", "must be registered via the CLI"),
        ("misled", "CERTIFICATE_VERIFY_FAILED"),
    ):
        assert why in flower.refused(name)
    lines_of(out / "trains")
    flower.kill("south")
    said = lines_of(out / "said.txt", "end")
    assert said[-1] == "end None"
    answered = {int(line.split()[0]): set(line.split()[1].split(",")) for line in said[:-1]}
    assert answered == {1: set(SIZES), 2: set(SIZES) - {"south"}}
    of = recipe(SITE if private else None, rounds=ROUNDS_WANTED, averaging={"secure": secure})
    terms, wanted = terms_of(of, plan_of(of), SIZES), start()
    sites = Without(answered, LeastSquares(DATA), terms, 1)
    for _ in answered:
        wanted, _ = conduct(wanted, sites, terms, 1)
    state, facts = from_folder(out / ROUNDS / f"{ROUNDS_WANTED:04d}")
    assert all(np.array_equal(state.weights[key], value) for key, value in wanted.weights.items())
    assert facts["ledger"].get("rounds_charged") == (ROUNDS_WANTED if private else None)
    heard = (out / "heard.jsonl").read_text()
    assert not any(one.hex() in heard for one in sites.plain)
    kinds = Counter(json.loads(line)["kind"] for line in heard.splitlines())
    assert not secure or (
        kinds["train"],
        kinds["train.share"],
        kinds["train.mask"],
        kinds["train.reveal"],
    ) == (0, 6, 5, 5)
