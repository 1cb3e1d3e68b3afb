"""What travels, as bytes: safetensors with float32, float16 or int8 numbers, and a few facts as
text.

int8 has one scale for every line along a tensor's longer axis: for LoRA one for each rank-one
component, since these differ in size and there are few. Rounding is stochastic, hence unbiased:
entries below half a step, most of a late update, would always be lost to the nearest number, while
random errors cancel over sites and rounds. It is repeatable by its key. Private updates are clipped
and noised before they come here, so rounding them is post-processing and costs no privacy.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from training.errors import TrainingError
from training.federation.updates import Array, Weights

Send = Literal["fp32", "fp16", "int8"]
SCALES = "scales"
LEVELS = 127
DTYPES: dict[str, "np.dtype"] = {
    "fp32": np.dtype(np.float32),
    "fp16": np.dtype(np.float16),
    "int8": np.dtype(np.int8),
}


@dataclass(frozen=True, kw_only=True)
class SiteMessage:
    """What travels between server and site."""

    weights: Weights
    """Float32 again."""
    facts: Mapping[str, str]
    """Text that went along."""


def encoded(
    weights: Weights, send: Send, facts: Mapping[str, str], rng: np.random.Generator
) -> bytes:
    """The bytes that travel. rng: of stochastic rounding. TrainingError for entries that are not
    finite, or too large for float16.
    """
    for key in sorted(weights):
        if not np.isfinite(weights[key]).all():
            raise TrainingError(f"{key!r} has entries that are not finite, and cannot be sent")
    tensors: dict[str, np.ndarray] = {}
    if send == "int8":
        lines = {key: _scale(weights[key]) for key in sorted(weights)}
        tensors = {key: _rounded(weights[key], lines[key], rng) for key in sorted(weights)}
        tensors[SCALES] = (
            np.concatenate([lines[key].ravel() for key in sorted(weights)])
            if weights
            else np.zeros(0, np.float32)
        )
    else:
        tensors = {
            key: np.ascontiguousarray(_cast(key, weights[key], DTYPES[send]))
            for key in sorted(weights)
        }
    return save(tensors, metadata={"send": send, **facts})


def _cast(key: str, value: Array, dtype: "np.dtype") -> "np.ndarray":
    with np.errstate(over="ignore"):
        small = value.astype(dtype)
    if not np.isfinite(small).all():
        raise TrainingError(
            f"{key!r} reaches {np.abs(value).max():.4g}, and float16 ends at 65504; take `send:"
            " fp32`"
        )
    return small


def _axis(shape: tuple[int, ...]) -> int:
    return int(np.argmax(shape))


def _scale(value: Array) -> Array:
    """One step of int8 for each line along the longer axis, shaped so that it multiplies the
    tensor.
    """
    largest: Array = np.abs(value).max(axis=_axis(value.shape), keepdims=True, initial=0)
    return largest / np.float32(LEVELS)


def _rounded(value: Array, scale: Array, rng: np.random.Generator) -> "np.ndarray":
    exact = value.astype(np.float64) / np.where(scale > 0, scale, 1)
    return np.clip(np.floor(exact + rng.random(value.shape)), -LEVELS, LEVELS).astype(np.int8)


def decoded(data: bytes, send: Send) -> SiteMessage:
    """What was encoded. TrainingError names what is wrong with bytes that are no such message."""
    try:
        tensors, facts = load(data), _facts(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise TrainingError(f"{len(data)} bytes that are no message ({error})") from None
    if facts.get("send") != send:
        raise TrainingError(f"sent as {facts.get('send', 'nothing known')}, but {send} was agreed")
    wrong = [
        key
        for key, value in tensors.items()
        if value.dtype != DTYPES[send] and not (send == "int8" and key == SCALES)
    ]
    if wrong:
        raise TrainingError(
            f"{wrong[0]!r} is {tensors[wrong[0]].dtype}, not {DTYPES[send]} as {send} says"
        )
    if send == "int8":
        return _from_int8(tensors, facts)
    weights = {key: value.astype(np.float32) for key, value in tensors.items()}
    return SiteMessage(weights=weights, facts=facts)


def _facts(data: bytes) -> dict[str, str]:
    """The metadata, which the library's in-memory reader leaves out: eight bytes of length, then
    JSON.
    """
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return {str(key): str(value) for key, value in (header.get("__metadata__") or {}).items()}


def _from_int8(tensors: Mapping[str, "np.ndarray"], facts: Mapping[str, str]) -> SiteMessage:
    scales = tensors.get(SCALES, np.zeros(0, np.float32)).astype(np.float32).ravel()
    keys = sorted(tensors.keys() - {SCALES})
    shapes = {key: _scale(np.zeros(tensors[key].shape, np.float32)).shape for key in keys}
    if scales.size != sum(int(np.prod(shape)) for shape in shapes.values()):
        raise TrainingError(f"{scales.size} scales do not fit {len(keys)} tensors")
    weights, at = {}, 0
    for key in keys:
        size = int(np.prod(shapes[key]))
        scale = scales[at : at + size].reshape(shapes[key])
        at += size
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found later
            weights[key] = tensors[key].astype(np.float32) * scale
    return SiteMessage(weights=weights, facts=facts)
