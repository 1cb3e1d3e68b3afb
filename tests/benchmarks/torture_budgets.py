"""Budgets against a server that counts: runs with 64 requests in flight, faults of every kind, kills, resume after resume.

python -m tests.benchmarks.torture_budgets        (a minute or two)
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from simcounsel.engine.opening import begin_run
from simcounsel.specs.world import World
from tests.llm.server import FaultServer
from tests.stage import tiny

TRIALS, STARTS = 20, 3
FAULTS = (None, None, None, "429", "500", "503", "drop", "garbage", "null content", "empty string")
RUN = """
import sys
from simcounsel.engine.simulation import Limits, Simulation
from simcounsel.errors import GivenUp
from simcounsel.llm.asking import Asking, asked
from simcounsel.runs.run import Run
run = Run.open(sys.argv[1])
try:
    with asked(Asking(wait_s=20)):
        Simulation(run.world, run=run, limits=Limits(budget_calls=int(sys.argv[2]))).run()
except GivenUp:
    sys.exit(3)
"""


def served(url: str) -> World:
    """The tiny world, whose people are a model on that server."""
    world = tiny()
    models = world.models.model_copy(update={"reason": f"{url}/m"})
    return world.model_copy(update={"models": models})


def overrun(trial: int, folder: Path) -> tuple[int, int]:
    """One run, started again and again under growing budgets and sometimes killed: how often it was started, how often more
    requests had reached the server than the budget had."""
    chance = random.Random(trial)
    budgets = sorted(chance.randint(5, 60) for _ in range(STARTS))
    over = 0
    with FaultServer(
        latency_s=0.01,
        faults=lambda index: random.Random(f"{trial} {index}").choice(FAULTS),
        retry_after="0.01",
    ) as server:
        run = begin_run(served(server.url), folder)
        for budget in budgets:
            command = [sys.executable, "-c", RUN, str(run.folder), str(budget)]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
                if chance.random() < 0.5:
                    until = time.monotonic() + chance.uniform(2, 6)
                    while process.poll() is None and time.monotonic() < until:
                        time.sleep(0.01)
                    if process.poll() is None:
                        os.kill(process.pid, signal.SIGKILL)
                process.wait(timeout=120)
            over += len(server.bodies) > budget
    return len(budgets), over


def budgets() -> str:
    """One line: how many starts were tried, and how many overran their budget."""
    tried = over = 0
    for trial in range(TRIALS):
        with tempfile.TemporaryDirectory() as folder:
            starts, overran = overrun(trial, Path(folder))
        tried, over = tried + starts, over + overran
    return f"budgets: {tried} starts, overrun {over}"


if __name__ == "__main__":
    print(budgets())
