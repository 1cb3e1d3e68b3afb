"""What the server makes of a round's updates: the next weights, by the rule that was agreed."""

import math
from collections.abc import Mapping

from training.federation import aggregation
from training.federation.replies import Gathered
from training.federation.shift import Shift
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.federation.updates import Array, Weights, Wide


def stepped(state: ServerState, got: Gathered, terms: Terms, seed: int) -> ServerState:
    """The server's step. `state` has the number of this round already."""
    weights, shift, moments = state.weights, state.shift, state.moments
    new_shift: Shift | None = shift
    match terms.rule:
        case "fedavg":
            weights = aggregation.fedavg(weights, _average(got, terms), terms.learning_rate)
        case "fedadam":
            weights, moments = aggregation.fedadam(
                weights, _average(got, terms), moments, terms.learning_rate
            )
        case "stack" | "exact":
            parts = aggregation.shares(terms.weights, got.deltas, fixed=False)
            after = {
                site: _moved(aggregation.cut(weights, terms.ranks.get(site)), delta)
                for site, delta in got.deltas.items()
            }
            if terms.rule == "exact":
                weights, new_shift = aggregation.exact(weights, after, parts, terms.alpha, shift)
            else:
                weights, new_shift = aggregation.stack(
                    weights,
                    after,
                    parts,
                    terms.alpha,
                    shift,
                    aggregation.fresh_from(seed, state.round),
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
