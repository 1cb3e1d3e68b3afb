"""For `training`: a DP-SGD step beside a plain LoRA step, each kind in a process of its own with one thread.

The process takes a step whenever it is told to, over the same records, half of whose tokens are learned; it says how many CPU seconds that
took, and at the end its peak memory in MB.
"""

import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import Any

APART = multiprocessing.get_context("forkserver")
"""For processes that are each their own, of which none has to import torch again."""
APART.set_forkserver_preload(["training.learning.federated", "training.recipe_file"])


class Stepping:
    """One kind of step, in a process that waits between steps. loaded_mb: its peak memory after a very short step."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.here, there = APART.Pipe()
        self.process = APART.Process(target=take_steps, args=(there,), kwargs=told, daemon=True)
        self.process.start()
        there.close()
        self.loaded_mb = self._said()

    def measure(self) -> float:
        """CPU seconds of a step."""
        self.here.send(True)
        return self._said()

    def peak_mb(self) -> float:
        """Ends the process."""
        self.here.send(False)
        peak = self._said()
        self.process.join(timeout=60)
        self.here.close()
        return peak

    def _said(self) -> float:
        try:
            return float(self.here.recv())
        except EOFError:
            raise RuntimeError("the process that takes steps ended; its error is above") from None


def take_steps(
    there: Connection, *, base: str, protected: bool, batch: int, tokens: int, at_once: int
) -> None:
    """In the process."""
    import torch

    from training.learning.base import load_base, with_adapters
    from training.learning.examples import Piece, ProtectedRecord
    from training.learning.gradients import ModelReading
    from training.learning.steps import Local, StepProtection
    from training.recipe import Learning, Lora

    torch.set_num_threads(1)
    model = with_adapters(load_base(base, device="cpu"), Lora(), seed=1)
    reading = ModelReading(model=model, padding=0, at_once=at_once)
    rng = torch.Generator().manual_seed(1)

    def local(many: int, length: int) -> Local:
        learned = torch.arange(length) >= length // 2
        weight = 1 / int(learned.sum())
        records = [
            ProtectedRecord(
                str(at),
                (
                    Piece(
                        torch.randint(5, model.config.vocab_size, (length,), generator=rng),
                        learned,
                        weight,
                        str(at),
                    ),
                ),
            )
            for at in range(many)
        ]
        protection = (
            StepProtection(rate=1.0, expected=many, clip=1.0, std=0.01) if protected else None
        )
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
        there.send(_peak_mb())
        number = 0
        while there.recv():
            number += 1
            began = time.process_time()
            long.step(number, optimizer)
            there.send(time.process_time() - began)
    there.send(_peak_mb())


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
