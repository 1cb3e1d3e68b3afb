"""What is added to frozen base weights over the rounds: as two factors while that is smaller, then
as a dense matrix.

Stacking and exact aggregation produce low-rank additions (FLoRA, Wang et al. 2024; FedEx-LoRA,
Singhal et al. 2025). They are kept as `<layer>.shift_A` (rank x in) and `<layer>.shift_B` (out x
rank), the addition being B A, which also travels at that size; when rank * (in + out) reaches in *
out, as `<layer>.shift`.
"""

from collections.abc import Mapping

import numpy as np

from training.federation.updates import Array, Weights

LEFT, RIGHT, WHOLE = ".shift_B", ".shift_A", ".shift"
Shift = Mapping[str, Array]
Factors = tuple[Array, Array]
"""(B: out x rank, A: rank x in)."""


def grown(shift: Shift | None, more: Mapping[str, Factors]) -> Shift:
    """The shift plus B A of each layer."""
    after: dict[str, Array] = {}
    for layer, (left, right) in sorted(more.items()):
        if shift and layer + WHOLE in shift:
            after[layer + WHOLE] = (
                shift[layer + WHOLE].astype(np.float64) + _product(left, right)
            ).astype(np.float32)
            continue
        if shift:
            left = np.concatenate([shift[layer + LEFT], left], axis=1)
            right = np.concatenate([shift[layer + RIGHT], right], axis=0)
        after |= _small(layer, left, right)
    return after


def _small(layer: str, left: Array, right: Array) -> dict[str, Array]:
    if left.size + right.size >= left.shape[0] * right.shape[1]:
        return {layer + WHOLE: _product(left, right).astype(np.float32)}
    return {layer + LEFT: left.astype(np.float32), layer + RIGHT: right.astype(np.float32)}


def _product(left: Array, right: Array) -> "np.ndarray":
    return left.astype(np.float64) @ right.astype(np.float64)


def dense(shift: Shift | None) -> Weights | None:
    """By layer, what a base weight gets, out x in; None when there is nothing."""
    if not shift:
        return None
    whole = {key.removesuffix(WHOLE): value for key, value in shift.items() if key.endswith(WHOLE)}
    low = {key.removesuffix(LEFT) for key in shift if key.endswith(LEFT)}
    return whole | {
        layer: _product(shift[layer + LEFT], shift[layer + RIGHT]).astype(np.float32)
        for layer in sorted(low)
    }
