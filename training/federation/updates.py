"""What goes to a site and comes back: weights, a round's task, an update; and who learns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError

Array = npt.NDArray[np.float32]
Wide = npt.NDArray[np.float64]
Weights = Mapping[str, Array]
"""Adapters, keyed as in PEFT's adapter_model.safetensors: `<layer>.lora_A.weight` (rank x in) and
`<layer>.lora_B.weight` (out x rank). The layer adds alpha / rank * B A to its frozen base weight.
Always float32.
"""
A, B = ".lora_A.weight", ".lora_B.weight"


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a site is asked in a round."""

    round: int
    """From 1."""
    weights: Weights
    """Those that travel."""
    base_shift: Weights | None
    """What is added to frozen base weights, as `shift.Shift`; None when there is none."""


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A site's local training."""

    weights: Weights
    """All adapters after it."""
    steps: int
    """Optimizer steps."""
    loss: float | None = None
    """Mean over its steps; None if not known."""


@dataclass(frozen=True, kw_only=True)
class Update:
    """What leaves a site."""

    site: str
    round: int
    delta: Weights
    """Of the trained weights, after minus before (clipped and noised where that was agreed)."""
    steps: int
    loss: float | None
    """None where it would tell of private data, and where the site does not know it."""


class Learner(Protocol):
    """Trains one site's data. The data lie with the learner; nothing here ever sees them."""

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        """Train from these weights. shift: dense matrices (out x in) by layer, added to the frozen
        base; None when there is none.

        The answer depends on the arguments only, so that a round can be repeated after a crash.
        """
        ...


def layers(weights: Mapping[str, Any]) -> tuple[str, ...]:
    """The layers that have an adapter, in order: keys without `.lora_A.weight`."""
    found = tuple(sorted(key.removesuffix(A) for key in weights if key.endswith(A)))
    strange = sorted(key for key in weights if not key.endswith((A, B))) or [
        f"{layer}{B}" for layer in found if layer + B not in weights
    ]
    if strange:
        raise TrainingError(
            f"{strange[0]}: no whole LoRA adapter; a layer has `lora_A.weight` and `lora_B.weight`,"
            " and nothing else travels"
        )
    return found


def norm_of(weights: Mapping[str, npt.NDArray[Any]]) -> float:
    """L2 norm over all entries of all tensors; not finite if one of them is not."""
    return float(
        np.sqrt(
            sum(float(np.sum(np.square(weights[key], dtype=np.float64))) for key in sorted(weights))
        )
    )
