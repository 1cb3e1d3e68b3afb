"""Several processes that take each step together, as `accelerate launch` and `torchrun` start them.

Each computes its part of a step's records. Sums, draws and noise are those of one process, so that
all of them keep the same weights.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, distributed

from training.errors import TrainingError

T = TypeVar("T")


def told(name: str, otherwise: int) -> int:
    """A number that the launcher tells its processes."""
    return int(os.environ.get(name) or otherwise)


@dataclass(frozen=True)
class Processes:
    """Who takes part."""

    number: int = 0
    """Of this one, from 0."""
    count: int = 1

    @classmethod
    def joined(cls, device: torch.device) -> "Processes":
        """With the others that the launcher started; waits for them."""
        if told("WORLD_SIZE", 1) == 1:
            return cls()
        gpu = device.type == "cuda"
        if gpu and device.index != told("LOCAL_RANK", 0):
            raise TrainingError(
                f"device: {device}: each of several processes needs a GPU of its own; take `device:"
                " cuda` or `auto`"
            )
        if gpu:
            torch.cuda.set_device(device)
        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if gpu else "gloo")
        return cls(distributed.get_rank(), distributed.get_world_size())

    @property
    def first(self) -> bool:
        """Whether this one writes and speaks."""
        return self.number == 0

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """This process's part of what all were given."""
        return items[self.number :: self.count]

    def add(self, tensors: Iterable[Tensor]) -> None:
        """Put into each tensor its sum over all processes."""
        if self.count > 1:
            for one in tensors:
                distributed.all_reduce(one)

    def same(self, tensor: Tensor) -> Tensor:
        """The tensor of the first process; all others must have one of its shape."""
        if self.count > 1:
            distributed.broadcast(tensor, 0)
        return tensor

    def any(self, said: bool, device: torch.device) -> bool:
        """Whether any process says so."""
        flag = torch.tensor(float(said), device=device)
        self.add([flag])
        return bool(flag)

    def wait(self) -> None:
        """Until all are here."""
        if self.count > 1:
            distributed.barrier()


ALONE = Processes()
