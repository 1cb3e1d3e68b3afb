"""What is let into an average, and how long it may be. A refused update is named with the reason;
nothing is mended silently.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError
from training.federation.updates import Array, Weights, norm_of


def problem_of(delta: Mapping[str, npt.NDArray[Any]], like: Weights) -> str | None:
    """Why an update must be left out, in words; None if it is as agreed.

    like: tensors with the keys, shapes and dtype that were asked for.
    """
    missing, extra = sorted(like.keys() - delta.keys()), sorted(delta.keys() - like.keys())
    if missing:
        return f"{len(missing)} of {len(like)} tensors are missing, such as {missing[0]!r}"
    if extra:
        return f"{len(extra)} tensors that nobody asked for, such as {extra[0]!r}"
    for key in sorted(like):
        here, wanted = delta[key], like[key]
        if here.dtype != wanted.dtype:
            return f"{key!r} is {here.dtype}, not {wanted.dtype}"
        if here.shape != wanted.shape:
            return f"{key!r} has shape {here.shape}, not {wanted.shape}"
        if not np.isfinite(here).all():
            return (
                f"{key!r} has {int((~np.isfinite(here)).sum())} entries that are not finite (NaN or"
                " infinite)"
            )
    return None


def clip_to(delta: Weights, clip: float) -> Weights:
    """The same direction, at most this long in L2. TrainingError for NaN or infinite entries:
    min(1, NaN) would let them pass.
    """
    if not (np.isfinite(clip) and clip > 0):
        raise TrainingError(
            f"a clip of {clip:g} bounds nothing; it must be a finite number above 0"
        )
    norm = norm_of(delta)
    if not np.isfinite(norm):
        raise TrainingError(
            "an update with NaN or infinite entries cannot be clipped; look for a learning rate"
            " that is too high"
        )
    if norm <= clip:
        return dict(delta)
    factor = clip / norm
    return {key: _shorter(value, factor) for key, value in delta.items()}


def _shorter(value: Array, factor: float) -> Array:
    """Scaled and rounded to float32 towards zero, so that the norm cannot end above the clip by
    rounding.
    """
    exact = value.astype(np.float64) * factor
    near = exact.astype(np.float32)
    return np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near).astype(
        np.float32
    )
