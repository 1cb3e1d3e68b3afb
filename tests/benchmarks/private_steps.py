"""For `training`: a DP-SGD step beside a plain LoRA step, each kind in a process of its own with one thread.

    python -m tests.benchmarks.private_steps '{"base": "embedded", "protected": true, "batch": 8, "tokens": 256, "at_once": 8}'

takes a step for each line that comes in, over the same records, half of whose tokens are learned; prints its CPU seconds, and at the end
the process's peak memory in MB.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Stepping:
    """One kind of step, in a process that waits between steps. loaded_mb: its peak memory after a very short step."""

    def __init__(self, told: dict[str, Any]) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.private_steps", json.dumps(told)]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=ONE_THREAD,
        )
        self.loaded_mb = float(self._line())

    def measure(self) -> float:
        """CPU seconds of a step."""
        print("step", file=self.process.stdin, flush=True)
        return float(self._line())

    def peak_mb(self) -> float:
        """Ends the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        peak = float(self._line())
        self.process.stdout.close()
        self.process.wait(timeout=60)
        return peak

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the process that takes steps ended; its error stands above")
        return line


def take_steps(base: str, protected: bool, batch: int, tokens: int, at_once: int) -> None:
    """In the process."""
    import torch

    from training.learning.base import load_base, with_adapters
    from training.learning.examples import Example, Record
    from training.learning.gradients import Reading
    from training.learning.steps import Local, Protection
    from training.recipe import Learning, Lora

    model = with_adapters(load_base(base, device="cpu"), Lora(), seed=1)
    reading = Reading(model=model, padding=0, at_once=at_once)
    rng = torch.Generator().manual_seed(1)

    def local(many: int, length: int) -> Local:
        learned = torch.arange(length) >= length // 2
        weight = 1 / int(learned.sum())
        records = [
            Record(
                str(at),
                (
                    Example(
                        torch.randint(5, 40_000, (length,), generator=rng), learned, weight, str(at)
                    ),
                ),
            )
            for at in range(many)
        ]
        protection = Protection(rate=1.0, expected=many, clip=1.0, std=0.01) if protected else None
        return Local(
            reading=reading,
            records=records,
            learning=Learning(),
            key=(1, "benchmark"),
            batch=many,
            protection=protection,
        )

    short, long = local(1, 16), local(batch, tokens)
    optimizer = long.optimizer()
    with long.watching():
        short.step(0, optimizer)
        print(_peak_mb(), flush=True)
        for number, _ in enumerate(sys.stdin, 1):
            began = time.process_time()
            long.step(number, optimizer)
            print(time.process_time() - began, flush=True)
    print(_peak_mb(), flush=True)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    take_steps(**json.loads(sys.argv[1]))
