"""What a sweep can show: clients, not runs, are what is counted.

Each client lives under every condition of a sweep, so that a contrast of two conditions is a t test
on as many differences as there are clients. Sizes by Guenther's correction (1981, The American
Statistician 35) of the normal approximation, which agrees with the exact ones (a test holds them
against statsmodels); the report computes the power of what was really lived exactly.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist

from simcounsel.specs.experiment import LEAST_CLIENTS, Experiment

EFFECT = 0.5
"""A difference of half the standard deviation of clients' differences, as in the paper (SimCounsel,
A.5).
"""
POWER = 0.8
NORMAL = NormalDist()


def clients_needed(alpha: float, *, effect: float = EFFECT, power: float = POWER) -> int:
    """So many clients, each under both conditions, for a two-sided t test at `alpha` that sees a
    standardized mean difference of `effect` with this power.
    """
    tail, reach = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power)
    return math.ceil(((tail + reach) / effect) ** 2 + tail**2 / 2)


def power_of(clients: int, alpha: float, *, effect: float = EFFECT) -> float:
    """The share of such sweeps, of 6 clients or more, that would see an effect of that size; from 0
    to 1.
    """
    tail = NORMAL.inv_cdf(1 - alpha / 2)
    return NORMAL.cdf(effect * math.sqrt(max(0.0, clients - tail**2 / 2)) - tail)


def power_lines(experiment: Experiment, clients: int) -> Iterator[str]:
    """What the planned tests of the experiment could see; nothing where none is planned."""
    if not experiment.hypotheses:
        return
    seeds = len(experiment.all_seeds)
    repeats = f", each measured with {seeds} seeds" if seeds > 1 else ""
    who = f"{clients} client{'' if clients == 1 else 's'}{repeats}"
    if clients < LEAST_CLIENTS:
        yield (
            f"power        none: {who}; clients are what is counted, and below {LEAST_CLIENTS} the"
            " report gives estimates without p"
        )
    for alpha in sorted({one.alpha for one in experiment.hypotheses}):
        needed = clients_needed(alpha)
        if clients >= LEAST_CLIENTS:
            yield (
                f"power        {power_of(clients, alpha):.0%} for g = {EFFECT} at {alpha}, before"
                f" Holm's correction, with {who}"
            )
        if clients < needed:
            yield (
                f"             {needed} clients are needed for {POWER:.0%}; more seeds do not"
                " replace them"
            )
