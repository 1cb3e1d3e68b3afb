"""What a sweep can show: clients, not runs, are what is counted.

Where each client lives under every condition a contrast of two conditions is a t test on as many
differences as there are clients; in a parallel design it is one of two groups. Sizes are by the
normal approximation with Guenther's correction (1981, The American Statistician 35), which agrees
with the exact ones (a test holds them against statsmodels); the report computes the power of what
really happened exactly.
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


def clients_needed(
    alpha: float, *, effect: float = EFFECT, power: float = POWER, groups: bool = False
) -> int:
    """So many clients, each under both conditions (groups: under each of them), for a two-sided t
    test at `alpha` that sees a standardized mean difference of `effect` with this power.
    """
    tail, reach, many = NORMAL.inv_cdf(1 - alpha / 2), NORMAL.inv_cdf(power), 2 if groups else 1
    return math.ceil(many * ((tail + reach) / effect) ** 2 + tail**2 / (2 * many))


def power_of(clients: int, alpha: float, *, effect: float = EFFECT, groups: bool = False) -> float:
    """The share of such sweeps, of 6 clients or more (groups: in each condition), that would see an
    effect of that size; from 0 to 1.
    """
    tail, many = NORMAL.inv_cdf(1 - alpha / 2), 2 if groups else 1
    reach = max(0.0, clients - tail**2 / (2 * many)) / many
    return NORMAL.cdf(effect * math.sqrt(reach) - tail)


def power_lines(experiment: Experiment, clients: int, power: float = POWER) -> Iterator[str]:
    """What the planned tests of the experiment could see with so many clients (in each condition,
    of a parallel design), and how many would be needed for this power; nothing where no test is
    planned.
    """
    if not experiment.hypotheses:
        return
    groups = experiment.design == "parallel"
    seeds = len(experiment.all_seeds)
    repeats = f", each measured with {seeds} seeds" if seeds > 1 else ""
    each = " in each condition" if groups else ""
    who = f"{clients} client{'' if clients == 1 else 's'}{each}{repeats}"
    if clients < LEAST_CLIENTS:
        yield (
            f"power        none: {who}; clients are what is counted, and below {LEAST_CLIENTS} the"
            " report gives estimates without p"
        )
    for alpha in sorted({one.alpha for one in experiment.hypotheses}):
        needed = clients_needed(alpha, power=power, groups=groups)
        if clients >= LEAST_CLIENTS:
            yield (
                f"power        {power_of(clients, alpha, groups=groups):.0%} for g = {EFFECT} at"
                f" {alpha}, before Holm's correction, with {who}"
            )
        if clients < needed:
            yield (
                f"             {needed} clients{each} are needed for {power:.0%}; more seeds do"
                " not replace them"
            )
