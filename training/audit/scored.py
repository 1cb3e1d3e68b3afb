"""What a model thinks of a text, token by token: all that the attacks are computed from."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError

Floats = npt.NDArray[np.float64]
Words = Literal["counselor", "all"]
"""Whose words are scored: the counselor's, which alone are learned, or everybody's (said in the
counselor's context either way).
"""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One session as a model sees it. TrainingError if shapes differ."""

    id: str
    """`id`, `client`: of the dialogue."""
    client: str
    text: str
    """The scored words."""
    logp: Floats
    """Natural logarithm of the probability of each scored token, shape (T,)."""
    mean: Floats
    """`mean`, `std`: of the log-probability of the next token under the model's own distribution
    over the vocabulary at the same places, shape (T,): sum p log p, and the square root of sum p
    (log p - mean)^2. T may be 0.
    """
    std: Floats

    def __post_init__(self) -> None:
        shapes = {self.logp.shape, self.mean.shape, self.std.shape}
        if len(shapes) > 1 or self.logp.ndim != 1:
            raise TrainingError(
                f"session {self.id!r}: logp, mean and std have the shapes {sorted(shapes)}; all"
                " three must be (T,)"
            )

    @property
    def tokens(self) -> int:
        """How many tokens were scored."""
        return int(self.logp.size)

    @property
    def loss(self) -> float | None:
        """Mean negative log-probability, nats per token; None without tokens."""
        return -float(self.logp.mean()) if self.tokens else None
