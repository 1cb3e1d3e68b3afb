"""How updates become the next weights. All sums go over sites in order of their names, so that who
answered first changes nothing.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from training.federation.replies import Gathered
from training.federation.shift import Factors, Shift, grown
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import A, Array, B, Weights, Wide, layers
from training.privacy.noise import generator

FIRST_DECAY, SECOND_DECAY, ADAPTIVITY = 0.9, 0.99, 1e-3
"""beta1, beta2 and tau of FedAdam, as in the experiments of Reddi et al. 2021 (section 5, appendix
D).
"""


def shares(
    weights: Mapping[str, float], answered: Mapping[str, Any], *, fixed: bool
) -> dict[str, float]:
    """The part of each site that answered. fixed: as before round one, so that they may add up to
    less than 1 and a silent site counts as zero; otherwise the silent ones' parts are dealt to the
    others in proportion.
    """
    here = {site: weights[site] for site in sorted(answered)}
    whole = 1.0 if fixed else math.fsum(here.values())
    return {site: weight / whole for site, weight in here.items()}


def weighted_sum(
    deltas: Mapping[str, Weights], parts: Mapping[str, float], like: Weights
) -> dict[str, Wide]:
    """sum of part_i * delta_i, in float64, for the keys of `like`; zeros where nobody answered."""
    total = {key: np.zeros(like[key].shape, dtype=np.float64) for key in sorted(like)}
    for site in sorted(deltas):
        for key in total:
            total[key] += parts[site] * deltas[site][key].astype(np.float64)
    return total


def fedavg(
    weights: Weights, mean: Mapping[str, npt.NDArray[Any]], learning_rate: float = 1.0
) -> dict[str, Array]:
    """w + learning_rate * mean (McMahan et al. 2017, with a server step as in Reddi et al. 2021,
    algorithm 1). Others stay.
    """
    return {
        key: (
            (value.astype(np.float64) + learning_rate * mean[key]).astype(np.float32)
            if key in mean
            else value
        )
        for key, value in weights.items()
    }


def fedadam(
    weights: Weights,
    mean: Mapping[str, npt.NDArray[Any]],
    moments: Mapping[str, npt.NDArray[Any]],
    learning_rate: float,
) -> tuple[dict[str, Array], dict[str, Wide]]:
    """m and v by Reddi et al. 2021, algorithm 2 (no bias correction, v from tau squared), then w +
    rate * m / (sqrt(v) + tau).

    moments: `m.<key>` and `v.<key>` of the round before, float64; empty at first.
    """
    after: dict[str, Wide] = {}
    step: dict[str, Wide] = {}
    for key in sorted(mean):
        first = moments.get(f"m.{key}", np.zeros(mean[key].shape))
        second = moments.get(f"v.{key}", np.full(mean[key].shape, ADAPTIVITY**2))
        after[f"m.{key}"] = FIRST_DECAY * first + (1 - FIRST_DECAY) * mean[key]
        after[f"v.{key}"] = SECOND_DECAY * second + (1 - SECOND_DECAY) * np.square(mean[key])
        step[key] = after[f"m.{key}"] / (np.sqrt(after[f"v.{key}"]) + ADAPTIVITY)
    return fedavg(weights, step, learning_rate), after


def cut(weights: Weights, rank: int | None) -> dict[str, Array]:
    """The first components only: rows of A, columns of B; all for None."""
    if rank is None:
        return dict(weights)
    return {
        key: np.ascontiguousarray(value[:rank] if key.endswith(A) else value[:, :rank])
        for key, value in weights.items()
    }


def stack(
    weights: Weights,
    after: Mapping[str, Weights],
    parts: Mapping[str, float],
    alpha: float,
    shift: Shift | None,
    rng: np.random.Generator,
) -> tuple[dict[str, Array], Shift]:
    """The mean of all B_i A_i, exactly and for any ranks, goes into the base as a stack of factors;
    adapters begin again (FLoRA, Wang et al. 2024, section 3.2). after: of each site. New A as PEFT
    draws it, uniform within 1 / sqrt(in); B zero.
    """
    fresh: dict[str, Array] = {}
    more: dict[str, Factors] = {}
    for layer in layers(weights):
        more[layer] = _stacked(layer, after, parts, alpha)
        bound = 1 / math.sqrt(weights[layer + A].shape[1])
        fresh[layer + A] = rng.uniform(-bound, bound, weights[layer + A].shape).astype(np.float32)
        fresh[layer + B] = np.zeros_like(weights[layer + B])
    return fresh, grown(shift, more)


def exact(
    weights: Weights,
    after: Mapping[str, Weights],
    parts: Mapping[str, float],
    alpha: float,
    shift: Shift | None,
) -> tuple[dict[str, Array], Shift]:
    """Factors are averaged, and what the mean of products has beyond the product of means goes into
    the base, so that together they are exact (FedEx-LoRA, Singhal et al. 2025).
    """
    mean = {
        key: value.astype(np.float32) for key, value in weighted_sum(after, parts, weights).items()
    }
    more: dict[str, Factors] = {}
    for layer in layers(weights):
        left, right = _stacked(layer, after, parts, alpha)
        scale = np.float32(alpha / mean[layer + A].shape[0])
        more[layer] = (
            np.concatenate([left, -scale * mean[layer + B]], axis=1),
            np.concatenate([right, mean[layer + A]], axis=0),
        )
    return mean, grown(shift, more)


def _stacked(
    layer: str, after: Mapping[str, Weights], parts: Mapping[str, float], alpha: float
) -> Factors:
    """Factors of sum part_i * alpha / rank_i * B_i A_i."""
    sites = sorted(after)
    lefts = [
        after[site][layer + B] * np.float32(parts[site] * alpha / after[site][layer + A].shape[0])
        for site in sites
    ]
    return np.concatenate(lefts, axis=1), np.concatenate(
        [after[site][layer + A] for site in sites], axis=0
    )


def fresh_from(seed: int, round: int) -> np.random.Generator:
    """Of the new A that `stack` begins a round with."""
    return generator((seed, "new adapters", round))


def stepped(state: ServerState, got: Gathered, terms: Terms, seed: int) -> ServerState:
    """The server's step. `state` has the number of this round already."""
    weights, shift, moments = state.weights, state.shift, state.moments
    new_shift: Shift | None = shift
    match terms.rule:
        case "fedavg":
            weights = fedavg(weights, _average(got, terms), terms.learning_rate)
        case "fedadam":
            weights, moments = fedadam(weights, _average(got, terms), moments, terms.learning_rate)
        case "stack" | "exact":
            parts = shares(terms.weights, got.deltas, fixed=False)
            after = {
                site: _moved(cut(weights, terms.ranks.get(site)), delta)
                for site, delta in got.deltas.items()
            }
            if terms.rule == "exact":
                weights, new_shift = exact(weights, after, parts, terms.alpha, shift)
            else:
                weights, new_shift = stack(
                    weights, after, parts, terms.alpha, shift, fresh_from(seed, state.round)
                )
    return ServerState(
        weights=weights, round=state.round, shift=new_shift, moments=moments, charged=state.charged
    )


def _moved(weights: Weights, delta: Weights) -> dict[str, Array]:
    return {key: value + delta[key] for key, value in weights.items()}


def _average(got: Gathered, terms: Terms) -> Mapping[str, Wide]:
    """The mean update. With fixed weights: the sum, which has its noise from the sites, over the
    probability of being drawn, which makes it unbiased and, as it comes after the noise, costs
    nothing. Otherwise over the weight of those who answered.
    """
    if not terms.fixed:
        whole = math.fsum(terms.weights[site] for site in got.answered)
        return {key: value / whole for key, value in got.total.items()}
    return {key: value / terms.participation for key, value in got.total.items()}
