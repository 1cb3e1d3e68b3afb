"""Which weights of a training become the adapter, and when it has gone on long enough: both by the
held-out loss.

Clients who are held out are never trained on, and no epsilon is theirs. What is chosen follows from
losses that are told anyway, so nothing more of those who were trained on is given away. When a
training stops early, its whole plan stays charged: an account for a number of rounds that was fixed
before does not hold for one that was found on the way.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

Measured = Sequence[Mapping[str, Any]]
"""Entries of a training's log of the kind `held_out`."""


def best_at(measured: Measured) -> int | None:
    """After which step or round the loss was least, the earliest of equals; None before the first
    measurement of something trained.
    """
    trained = _trained(measured)
    return min(trained, key=lambda at: (trained[at], at)) if trained else None


def enough(measured: Measured, patience: int | None) -> bool:
    """Whether so many measurements came without a new least loss."""
    best = best_at(measured)
    if patience is None or best is None:
        return False
    return sum(at > best for at in _trained(measured)) >= patience


def _trained(measured: Measured) -> dict[int, float]:
    """The loss by step or round, without the untouched base's."""
    losses = {int(one["at"]): float(one["loss"]) for one in measured if one["at"] > 0}
    return {at: math.inf if math.isnan(loss) else loss for at, loss in losses.items()}
