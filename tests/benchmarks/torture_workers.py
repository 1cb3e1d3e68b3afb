"""Sweeps ended in every way, while their runs wait for a model that never answers: what still runs five seconds later.

python -m tests.benchmarks.torture_workers        (about a minute; Linux)
"""

import itertools
import signal
import tempfile
import time
from pathlib import Path

from tests.processes import left_after
from tests.test_lab_ends import sweeping

ALONE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
WAYS: list[tuple[signal.Signals, ...]] = [
    *((one,) for one in ALONE),
    *itertools.permutations((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), 2),
    (signal.SIGINT, signal.SIGKILL),
]


def workers_left() -> str:
    """One line: in how many ways sweeps were ended, and how many processes of them were left."""
    left = begun_in_all = 0
    for way in WAYS:
        with tempfile.TemporaryDirectory() as folder, sweeping(Path(folder)) as (process, begun):
            begun_in_all += len(begun)
            for one in way:
                process.send_signal(one)
                time.sleep(0.3)
            left += len(left_after({process.pid, *begun}, seconds=5))
    return f"sweeps ended in {len(WAYS)} ways: {begun_in_all} processes begun, workers left {left}"


if __name__ == "__main__":
    print(workers_left())
