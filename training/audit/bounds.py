"""What an accounted budget implies: how well any attack on one unit can do at most.

All bounds are for one unit that was in the training with probability one half, independently of all
else, attacked by somebody who knows everything but that. A trade-off curve f gives the smallest
rate of misses for a rate of false alarms, so a true positive rate is at most 1 - f and an AUC at
most 1 minus the area under f.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from training.audit.curves import FPRS
from training.plan import TrainingPlan
from training.privacy.budget import exposures
from training.privacy.releases import COARSE, epsilon_of, unsampled

DELTAS = (
    1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 2e-2, 4e-2,
    7e-2, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9,
)  # fmt: skip
"""Where the curve of a sampled mechanism is taken from its epsilons: the more, the tighter, and
never too low.
"""


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What an account allows an attack."""

    unit: str
    """Whom it protects."""
    sessions: int
    """How many sessions of one client it was stretched to."""
    by: str
    """The curve it comes from."""
    auc: float
    """At most so large for any attack."""
    tpr: tuple[tuple[float, float], ...]
    """By false positive rate."""
    said: str
    """For whom and under what it holds, in words."""


def auc_gaussian(mu: float) -> float:
    """Phi(mu / sqrt 2): of two normal distributions mu standard deviations apart (Dong, Roth and Su
    2022, definition 2.6).
    """
    return float(norm.cdf(_checked_mu(mu) / math.sqrt(2)))


def tpr_gaussian(mu: float, fpr: float) -> float:
    """Phi(Phi^-1(fpr) + mu)."""
    return float(norm.cdf(norm.ppf(fpr) + _checked_mu(mu)))


def misses(epsilon: float, delta: float, fpr: float) -> float:
    """f(fpr) of (epsilon, delta): the smallest rate of misses (Dong, Roth and Su 2022, equation 5;
    Kairouz et al. 2015).
    """
    _check(epsilon, delta)
    return max(0.0, 1 - delta - _times(fpr, epsilon), math.exp(-epsilon) * (1 - delta - fpr))


def auc_epsilon(epsilon: float, delta: float) -> float:
    """1 - (1 - delta)^2 / (1 + e^epsilon): the curve is two straight lines that meet at (1 - delta)
    / (1 + e^epsilon) on the diagonal.
    """
    _check(epsilon, delta)
    return 1 - (1 - delta) ** 2 * math.exp(-epsilon) / (1 + math.exp(-epsilon))


def tpr_epsilon(epsilon: float, delta: float, fpr: float) -> float:
    """1 - f(fpr)."""
    return min(1.0, 1 - misses(epsilon, delta, fpr))


def auc_pairs(pairs: Sequence[tuple[float, float]], points: int = 4001) -> float:
    """For a mechanism that keeps all of these (epsilon, delta): 1 minus the area under the largest
    of their curves, whose area is taken at the right ends of a fine grid, where a falling curve is
    lowest, so that the bound is never too low.
    """
    fprs = np.unique(np.concatenate([np.linspace(0, 1, points), np.geomspace(1e-9, 1, points)]))
    for epsilon, delta in pairs:
        _check(epsilon, delta)
    first = [1 - delta - np.exp(min(epsilon, 700.0)) * fprs for epsilon, delta in pairs]
    second = [math.exp(-epsilon) * (1 - delta - fprs) for epsilon, delta in pairs]
    curve = np.maximum(0, np.max([*first, *second], axis=0))
    return 1 - float(np.sum(np.diff(fprs) * curve[1:]))


def of_plan(
    plan: TrainingPlan,
    multiplier: float,
    sessions_per_client: int = 1,
    fprs: Sequence[float] = FPRS,
) -> Bound:
    """The bound on attacks on one client of whom so many sessions were trained on, by a plan with
    this multiplier.

    Exact for full batches (a Gaussian); for sampled ones from the epsilons at many deltas, each
    true. A unit that is a session is stretched to all sessions of a client, since members and
    others differ in all of them; a site that may only fall silent, to one whose data are any
    others.
    """
    seen = max((releases for _, releases in exposures(plan, plan.rounds)), key=unsampled)
    group = _group(plan, sessions_per_client)
    said = _said(plan, group, sessions_per_client)
    if all(part.rate == 1 for _, releases in exposures(plan, plan.rounds) for part in releases):
        mu = group * math.sqrt(unsampled(seen)) / multiplier
        return Bound(
            unit=plan.privacy.unit,
            sessions=sessions_per_client,
            by=f"mu-GDP, mu {mu:.4g}",
            auc=auc_gaussian(mu),
            tpr=tuple((fpr, tpr_gaussian(mu, fpr)) for fpr in fprs),
            said=said,
        )
    kept = {releases for _, releases in exposures(plan, plan.rounds)}
    pairs = [
        (max(epsilon_of(releases, multiplier, delta, COARSE) for releases in kept), delta)
        for delta in DELTAS
    ]
    return of_pairs(
        pairs,
        unit=plan.privacy.unit,
        group=group,
        sessions=sessions_per_client,
        said=said,
        fprs=fprs,
    )


def of_pairs(
    pairs: Sequence[tuple[float, float]],
    *,
    unit: str,
    group: int = 1,
    sessions: int = 1,
    said: str = "",
    fprs: Sequence[float] = FPRS,
) -> Bound:
    """The bound from (epsilon, delta) pairs that hold for one unit, for `group` units together."""
    wide = [grouped(epsilon, delta, group) for epsilon, delta in pairs]
    wide = [(epsilon, delta) for epsilon, delta in wide if delta < 1] or [(0.0, 1.0)]
    tpr = tuple(
        (fpr, min(tpr_epsilon(epsilon, delta, fpr) for epsilon, delta in wide)) for fpr in fprs
    )
    auc = auc_epsilon(*wide[0]) if len(wide) == 1 else auc_pairs(wide)
    by = (
        f"epsilon {wide[0][0]:.4g}, delta {wide[0][1]:.3g}"
        if len(wide) == 1
        else f"epsilons at {len(wide)} deltas"
    )
    return Bound(unit=unit, sessions=sessions, by=by, auc=auc, tpr=tpr, said=said)


def grouped(epsilon: float, delta: float, many: int) -> tuple[float, float]:
    """What (epsilon, delta) for one unit means for several: (k epsilon, delta (e^(k epsilon) - 1) /
    (e^epsilon - 1)) (Dwork and Roth 2014, theorem 2.2; Vadhan 2017, lemma 2.2).
    """
    _check(epsilon, delta)
    if many < 1:
        raise ValueError(f"a group of {many}; it must be at least 1")
    grown = sum(_times(delta, epsilon * step) for step in range(many))
    return epsilon * many, min(grown, 1.0)


def _group(plan: TrainingPlan, sessions: int) -> int:
    if plan.privacy.unit == "session":
        return sessions
    return 2 if plan.privacy.unit == "site" and plan.privacy.adjacency == "absent" else 1


def _said(plan: TrainingPlan, group: int, sessions: int) -> str:
    unit = plan.privacy.unit
    if unit == "session" and group > 1:
        return (
            "the account is for one session; members and others differ in all sessions of a"
            f" client, so the bound is for {sessions} sessions, the most that one client has in the"
            " training"
        )
    if unit == "site":
        how = ", which may be absent, so that other data count twice" if group == 2 else ""
        return f"the account is for one site{how}; it holds for every client of it"
    return f"the account is for one {unit}" + (
        ", and no client has more than one here" if unit == "session" else ", with all sessions"
    )


def _times(rate: float, epsilon: float) -> float:
    """rate e^epsilon, infinite where it is too large to be told."""
    return rate * math.exp(epsilon) if epsilon < 700 else math.inf if rate else 0.0


def _check(epsilon: float, delta: float) -> None:
    if not epsilon >= 0 or not 0 <= delta <= 1:
        raise ValueError(f"epsilon {epsilon:g} must be at least 0, delta {delta:g} from 0 to 1")


def _checked_mu(mu: float) -> float:
    if not mu >= 0:
        raise ValueError(f"mu {mu:g} must be at least 0")
    return mu
