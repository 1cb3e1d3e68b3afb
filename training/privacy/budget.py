"""What a plan costs in privacy: for its unit, per round and in total, and the noise for a wanted
total.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from training.errors import TrainingError
from training.plan import EXCESS, SiteSize, TrainingPlan
from training.privacy import gaussian
from training.privacy.lattice import SHORT, Lattice, lattice
from training.privacy.releases import Releases, epsilon_of, multiplier_for

Exposure = tuple[Releases, ...]


@dataclass(frozen=True, kw_only=True)
class PrivacyAccount:
    """A plan's budget. All epsilons are for `plan.privacy.unit` and `plan.privacy.delta`."""

    plan: TrainingPlan
    multiplier: float
    """As `Privacy.noise_multiplier`."""
    sensitivity: float
    noise_std: float
    """On each coordinate of what is released (see `noise_std`)."""
    round_epsilon: float
    """One round alone."""
    total_epsilon: float
    """All rounds, of the site where it is largest, and `by_site` of each kind of site."""
    by_site: tuple[tuple[str, float], ...]
    last_round: int | None = None
    """After which `budget_epsilon` would be overrun; None if it is kept, or none is set."""


def make(plan: TrainingPlan) -> PrivacyAccount:
    """The account of a plan that was checked by `plan.problems`."""
    multiplier, budget = multiplier_of(plan), plan.privacy.budget_epsilon
    lattice_of(plan, multiplier)
    by_site = tuple(
        (name, _epsilon(plan, seen, multiplier)) for name, seen in exposures(plan, plan.rounds)
    )
    total = max(epsilon for _, epsilon in by_site)
    return PrivacyAccount(
        plan=plan,
        multiplier=multiplier,
        sensitivity=sensitivity(plan),
        noise_std=noise_std(plan, multiplier),
        round_epsilon=total_epsilon(plan, 1, multiplier),
        total_epsilon=total,
        by_site=by_site,
        last_round=(
            rounds_within(plan, multiplier, budget)
            if budget is not None and total > budget
            else None
        ),
    )


def multiplier_of(plan: TrainingPlan) -> float:
    """The plan's own multiplier, the paper's, or the smallest that keeps the budget."""
    given = plan.privacy
    if given.stated_epsilon is not None:
        return (
            gaussian.paper_multiplier(given.stated_epsilon, given.delta)
            * given.clip
            / sensitivity(plan)
        )
    if given.noise_multiplier is not None:
        return given.noise_multiplier
    if given.budget_epsilon is None:
        raise ValueError(
            "a plan without noise_multiplier, budget_epsilon and stated_epsilon; `plan.problems`"
            " refuses it"
        )
    return needed(plan, plan.rounds, given.budget_epsilon)


def needed(plan: TrainingPlan, rounds: int, epsilon: float) -> float:
    """The multiplier with which the plan, over so many rounds, stays within this total at every
    site.
    """
    whole = plan.privacy.noise_at == "sum"
    return max(
        multiplier_for(seen, epsilon - EXCESS * whole, plan.privacy.delta * (1 - SHORT * whole))
        for seen in {seen for _, seen in exposures(plan, rounds)}
    )


def total_epsilon(plan: TrainingPlan, rounds: int, multiplier: float) -> float:
    """The epsilon of so many rounds: the largest over places where a unit may be (parallel
    composition over disjoint sites).
    """
    return max(
        _epsilon(plan, seen, multiplier) for seen in {seen for _, seen in exposures(plan, rounds)}
    )


def _epsilon(plan: TrainingPlan, seen: Exposure, multiplier: float) -> float:
    """Of the Gaussian mechanism, with what whole numbers add to it where sites share the noise."""
    delta = plan.privacy.delta
    if plan.privacy.noise_at == "sum":
        return _counted(seen, multiplier, delta * (1 - SHORT)) + EXCESS
    return _counted(seen, multiplier, delta)


@cache
def _counted(seen: Exposure, multiplier: float, delta: float) -> float:
    """Kept, since mixtures take seconds, and the same number is asked for in several places."""
    return epsilon_of(seen, multiplier, delta)


def lattice_of(plan: TrainingPlan, multiplier: float) -> Lattice | None:
    """The whole numbers in which sites share the noise of a sum; None where they do not.
    TrainingError where 32 bits are too few for the account to hold.
    """
    given = plan.privacy
    if given.noise_at != "sum":
        return None
    found = lattice(
        reach=given.clip,
        std=noise_std(plan, multiplier),
        members=plan.n_sites,
        answering=plan.answering,
    )
    if found is None or found.excess(plan.rounds) > EXCESS:
        raise TrainingError(
            f"privacy: noise of {noise_std(plan, multiplier):.3g} beside a clip of {given.clip:g},"
            f" over {plan.rounds} rounds, is too little for a secure sum of 32 bits; take more"
            " noise, or fewer rounds"
        )
    return found


def rounds_within(plan: TrainingPlan, multiplier: float, epsilon: float) -> int:
    """How many rounds of the plan stay within this total; 0 if not even one does."""
    return _last(lambda rounds: total_epsilon(plan, rounds, multiplier) <= epsilon, plan.rounds)


def _last(holds: Callable[[int], bool], most: int) -> int:
    """The largest number from 0 to `most` for which a property holds that, once lost, stays lost; 0
    is taken to have it.
    """
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def exposures(plan: TrainingPlan, rounds: int) -> list[tuple[str, Exposure]]:
    """For each kind of place where a unit may be, its name and all releases that see it there.

    A client that may be at several sites is counted as being at all of them.
    """
    given = plan.privacy
    if given.unit == "site":
        seen = Releases(times=rounds, rate=given.participation if given.noise_at == "sum" else 1.0)
        return [("each site", (seen,))]
    if given.disjoint_sites is False:
        return [
            (
                "all sites together",
                tuple(_of_steps(plan, site, rounds * site.count) for site in plan.sites),
            )
        ]
    return [(site.name, (_of_steps(plan, site, rounds),)) for site in plan.sites]


def _of_steps(plan: TrainingPlan, site: SiteSize, rounds: int) -> Releases:
    parts = plan.privacy.sessions_per_client or 1
    return Releases(times=rounds * plan.steps_per_round(site), rate=plan.rate(site), parts=parts)


def largest_weight(plan: TrainingPlan) -> float:
    """The largest share that a site has in the average of updates."""
    if plan.privacy.weights == "uniform":
        return 1 / plan.n_sites
    share = max(site.sessions for site in plan.sites) / sum(
        site.count * site.sessions for site in plan.sites
    )
    return min(share, plan.privacy.max_weight or 1.0)


def sensitivity(plan: TrainingPlan) -> float:
    """How far one unit can move, in L2, what is released: always from the clip, never chosen.

    Session, client: the sum of clipped gradients of a step. Site, `each_site`: its own update;
    `sum`: the weighted average, hence clip times the largest weight. Two arbitrary updates
    (`replaced`) lie twice as far apart as one and none.
    """
    given = plan.privacy
    if given.unit != "site":
        return given.clip * (given.sessions_per_client or 1)
    weight = largest_weight(plan) if given.noise_at == "sum" else 1.0
    return given.clip * weight * (2 if given.adjacency == "replaced" else 1)


def noise_std(plan: TrainingPlan, multiplier: float) -> float:
    """Standard deviation on each coordinate: of a step's sum of clipped gradients, of a site's
    update, or of the average.
    """
    return multiplier * (sensitivity(plan) if plan.privacy.unit == "site" else plan.privacy.clip)
