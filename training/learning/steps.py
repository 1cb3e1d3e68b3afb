"""Local training: which records a step takes, and what it does with them.

Without privacy an epoch is a shuffle, cut into batches. With it, each step draws every record
independently (Poisson sampling, as it is accounted for), adds up clipped gradients, adds noise, and
divides by the expected number of records, which is fixed.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from training.learning.base import bitsandbytes
from training.learning.examples import ProtectedRecord
from training.learning.gradients import (
    ModelReading,
    clipped_sum,
    mean_gradient,
    mean_loss,
    per_sequence,
)
from training.learning.preferences import measured, steered
from training.privacy.noise import Key, generator, normals, secure_generator
from training.recipe import Learning


@dataclass(frozen=True, kw_only=True)
class StepProtection:
    """DP-SGD of one site."""

    rate: float
    """Probability that a step takes a given record."""
    expected: int
    """Records a step takes on average."""
    clip: float
    """L2 norm of a record's gradient."""
    std: float
    """Of the noise on each coordinate of the sum."""
    secure: bool = False
    """Noise and draws from the system's generator."""


@dataclass(frozen=True, kw_only=True)
class Local:
    """A site's training."""

    reading: ModelReading
    records: Sequence[ProtectedRecord]
    learning: Learning
    key: Key
    """Names it among all (seed, site); steps are counted from 0 over all rounds, so that the same
    step always draws the same records and noise.
    """
    batch: int
    """Records of a step without protection."""
    protection: StepProtection | None = None
    in_all: int = 1
    """Steps over all rounds, for the schedule."""

    @property
    def steps_per_epoch(self) -> int:
        """Whole steps; with protection this many draw each record once on average."""
        size = self.protection.expected if self.protection else self.batch
        return -(-len(self.records) // size)

    def optimizer(self) -> torch.optim.Optimizer:
        """A fresh one."""
        rate, decay, parameters = (
            self.learning.learning_rate,
            self.learning.weight_decay,
            self.reading.trained(),
        )
        if self.learning.optimizer == "adamw":
            return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
        if self.learning.optimizer == "adamw_8bit":
            package = bitsandbytes(
                "learning.optimizer: adamw_8bit", "optimizer: adamw", self.reading.device
            )
            eight: torch.optim.Optimizer = package.optim.AdamW8bit(
                parameters, lr=rate, weight_decay=decay
            )
            return eight
        return torch.optim.SGD(parameters, lr=rate, weight_decay=decay)

    def watching(self) -> AbstractContextManager[None]:
        """Around all steps of a stretch: with protection, hooks are on."""
        return per_sequence(self.reading) if self.protection else nullcontext()

    def step(
        self, number: int, optimizer: torch.optim.Optimizer, anchor: Sequence[Tensor] = ()
    ) -> float | None:
        """One step; returns the batch's mean loss, None with protection, which does not pay for it.
        anchor: the weights of the round's beginning, towards which `proximal` pulls.
        """
        self.reading.model.train()
        torch.manual_seed(
            int(generator((*self.key, "torch", number)).integers(2**62))
        )  # for dropout
        optimizer.zero_grad(set_to_none=True)
        loss = None
        if self.protection:
            self._protect(self.protection, number)
        else:
            loss = self._learn(number)
        if anchor and self.learning.proximal:
            for parameter, start in zip(self.reading.trained(), anchor, strict=True):
                if parameter.grad is not None:
                    parameter.grad.add_(parameter.detach() - start, alpha=self.learning.proximal)
        for group in optimizer.param_groups:
            group["lr"] = self.learning.learning_rate * rate_at(number, self.in_all, self.learning)
        optimizer.step()
        return loss

    def _learn(self, number: int) -> float:
        """Leaves the mean gradient of the step's records, and returns their mean loss."""
        records = self.batch_of(number)
        processes, parameters = self.reading.processes, self.reading.trained()
        mine, known = self._aimed(processes.share(records))
        found = mean_gradient(self.reading, mine, len(records))
        loss = torch.tensor(
            found if known is None else known / len(records), device=self.reading.device
        )
        if processes.count > 1:
            for parameter in parameters:
                if parameter.grad is None:  # a process without a record in this step
                    parameter.grad = torch.zeros_like(parameter)
            processes.add([loss, *(one.grad for one in parameters if one.grad is not None)])
        return float(loss)

    def _aimed(
        self, records: Sequence[ProtectedRecord]
    ) -> tuple[Sequence[ProtectedRecord], float | None]:
        """The records as the objective weighs them, and the sum of their losses where that is not
        what the weights give.
        """
        if self.learning.by_pairs:
            return steered(self.reading, records, self.learning.beta)
        return records, None

    def _protect(self, given: StepProtection, number: int) -> None:
        processes = self.reading.processes
        mine, _ = self._aimed(processes.share(self.drawn(number)))
        total = clipped_sum(self.reading, mine, given.clip)
        processes.add(total)
        parameters = self.reading.trained()
        drawn = normals(
            sum(one.numel() for one in total),
            given.std,
            None if given.secure else (*self.key, "noise", number),
        )
        noise = torch.from_numpy(drawn.astype(np.float32)).to(self.reading.device)
        noise = processes.same(noise)
        at = 0
        for parameter, one in zip(parameters, total, strict=True):
            parameter.grad = (
                (one + noise[at : at + one.numel()].view_as(one)) / given.expected
            ).to(parameter.dtype)
            at += one.numel()

    def drawn(self, number: int) -> list[ProtectedRecord]:
        """The records of a protected step: each with probability `rate`, independently; sometimes
        none.
        """
        given = self.protection
        if given is None:
            raise ValueError("without protection a step takes `batch_of`")
        rng = secure_generator() if given.secure else generator((*self.key, "draw", number))
        chances = rng.random(len(self.records))
        if self.reading.processes.count > 1:
            there = torch.from_numpy(chances).to(self.reading.device)
            chances = self.reading.processes.same(there).cpu().numpy()
        return [
            record
            for record, chance in zip(self.records, chances, strict=True)
            if chance < given.rate
        ]

    def batch_of(self, number: int) -> list[ProtectedRecord]:
        """The records of an unprotected step: its stretch of its epoch's shuffle."""
        epoch, at = divmod(number, self.steps_per_epoch)
        order = generator((*self.key, "epoch", epoch)).permutation(len(self.records))
        return [self.records[one] for one in order[at * self.batch : (at + 1) * self.batch]]


def held_out_loss(
    reading: ModelReading, records: Sequence[ProtectedRecord], learning: Learning
) -> dict[str, float]:
    """`loss`, nats; of lines also `perplexity`, of preferences in what share the line is
    `preferred`.
    """
    if learning.by_pairs:
        reading.model.eval()
        return measured(reading, records, learning.beta)
    loss, perplexity = mean_loss(reading, records)
    return {"loss": loss, "perplexity": perplexity}


def rate_at(number: int, in_all: int, learning: Learning) -> float:
    """The learning rate of step `number` (from 0) of `in_all`, as a share of the largest: the
    schedules of Transformers, whose first step would have 0; here it has one part of the warmup.
    """
    rising = math.ceil(learning.warmup * in_all)
    if number < rising:
        return (number + 1) / rising
    done = min(1.0, (number - rising) / max(1, in_all - rising))
    match learning.schedule:
        case "linear":
            return 1 - done
        case "cosine":
            return (1 + math.cos(math.pi * done)) / 2
        case _:
            return 1.0


def adapter_weights(model: torch.nn.Module) -> dict[str, np.ndarray]:
    """The adapters, float32, under the names of PEFT's adapter_model.safetensors."""
    return {
        name.replace(".default.", "."): parameter.detach().cpu().float().numpy().copy()
        for name, parameter in sorted(model.named_parameters())
        if "lora_A" in name or "lora_B" in name
    }


def set_adapter_weights(reading: ModelReading, weights: Mapping[str, np.ndarray]) -> None:
    """Write weights over the adapters' own; names that are not given keep theirs. KeyError for a
    name that there is none of, ValueError for another shape.
    """
    parameters = {
        name.replace(".default.", "."): parameter
        for name, parameter in reading.model.named_parameters()
    }
    with torch.no_grad():
        for name, value in weights.items():
            if parameters[name].shape != value.shape:
                raise ValueError(
                    f"{name}: shape {value.shape}, and the adapter's is"
                    f" {tuple(parameters[name].shape)}"
                )
            parameters[name].copy_(torch.from_numpy(np.ascontiguousarray(value, dtype=np.float32)))
