"""What is let into an average, and how long it may be. A refused update is named with the reason;
nothing is repaired silently.
"""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError
from training.federation.messages import LEVELS, Send
from training.federation.terms import UNCLIPPED, Terms
from training.federation.updates import Array, Weights, Wide, norm_of

UNLIKELY = 1e-12
"""Probability, at most, that what is honest is refused in a round, for the length of its noise."""
ROUNDED: dict[Send, float] = {"fp32": 1e-6, "fp16": 2.0**-10, "int8": 1e-6}
"""By how much of itself a number may grow where it is rounded, with the grid of secure noise."""
FAINT = 2.0**-24
"""What float16 may add to a number near zero."""


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


def too_large(delta: Weights, terms: Terms) -> str | None:
    """Why a site's update is larger than an honest one can be, in words; None if it is not. An
    update that has noise is as long as the noise makes it, so an attacker may use that length too.
    """
    if terms.clip is None:
        return _beyond(_top(delta), UNCLIPPED * (1 + ROUNDED[terms.send]))
    std = terms.noise_std if terms.noise_at == "each_site" else 0.0
    most = _carried(reach(terms.clip, std, _size(delta)), delta, terms.send)
    return _longer(norm_of(delta), most, terms.clip)


def sum_too_large(total: Mapping[str, Wide], answered: Collection[str], terms: Terms) -> str | None:
    """The same of a sum of weighted updates, where nobody can be named. None also means: one member
    moved it by no more than all together may.
    """
    parts = [terms.weights[site] for site in answered]
    rounding = len(parts) * terms.fixed_point.step
    if terms.clip is None:
        most = UNCLIPPED * (1 + ROUNDED[terms.send]) * sum(parts)
        return _beyond(_top(total), most + rounding)
    std = 0.0
    if terms.noise_at == "each_site":
        std = terms.noise_std * math.hypot(*parts)
    elif terms.fixed_point.lattice is not None:
        std = terms.fixed_point.lattice.share_std * math.sqrt(len(parts))
    size = _size(total)
    most = reach(terms.clip * sum(parts), std, size) + rounding * math.sqrt(size)
    return _longer(norm_of(total), most, terms.clip)


def reach(clip: float, std: float, size: int) -> float:
    """The L2 norm that a vector of at most `clip`, with normal noise on each of its `size` numbers,
    exceeds with a probability below `UNLIKELY`: its norm moves by at most `std` where the noise
    moves by 1, so it is above its mean by t * std with probability exp(-t^2 / 2) at most (Boucheron
    et al. 2013, theorem 5.6), and its mean is at most the root of its mean square.
    """
    return math.sqrt(clip**2 + std**2 * size) + std * math.sqrt(-2 * math.log(UNLIKELY))


def _carried(length: float, like: Weights, send: Send) -> float:
    """What becomes of this norm at most, on the way. In int8 a number moves by less than a step,
    and a step is 1/127 of the largest number of its line.
    """
    line = max((max(value.shape) for value in like.values()), default=0) if send == "int8" else 0
    faint = FAINT * math.sqrt(_size(like)) if send == "fp16" else 0.0
    return length * (1 + math.sqrt(line) / LEVELS) * (1 + ROUNDED[send]) + faint


def _longer(norm: float, most: float, clip: float) -> str | None:
    if norm <= most:
        return None
    return f"too large: its norm is {norm:.4g}, and with a clip of {clip:g} at most {most:.4g}"


def _beyond(top: float, most: float) -> str | None:
    if top <= most:
        return None
    return f"too large: it has an entry of {top:.4g}, and without a clip {most:.4g} is the most"


def _top(values: Mapping[str, npt.NDArray[Any]]) -> float:
    return max((float(np.abs(value).max(initial=0)) for value in values.values()), default=0.0)


def _size(values: Mapping[str, npt.NDArray[Any]]) -> int:
    return sum(value.size for value in values.values())


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
