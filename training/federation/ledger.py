"""What has been paid so far: the account of `training.privacy`, round by round, as it goes into
every checkpoint and card.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from training.errors import TrainingError
from training.plan import TrainingPlan
from training.privacy import budget
from training.privacy.statement import NEIGHBOURS

SLACK = 1e-9
"""Relative rounding error that an epsilon may have; a plan whose noise was found from its budget
meets it to the last digits.
"""


@dataclass(frozen=True, kw_only=True)
class PrivacyCharges:
    """Of one unit, after `rounds_charged` rounds."""

    unit: str
    adjacency: str
    delta: float
    clip: float
    sensitivity: float
    multiplier: float
    noise_std: float
    noise: str
    sampling: str
    """`sampling`, `also_released`, `noise`: in words."""
    rounds_charged: int
    epsilon: float
    budget_epsilon: float | None
    also_released: tuple[str, ...]


class PlanSpending:
    """The account of one plan, asked for every round; the noise is that of the whole plan, fixed at
    the beginning.
    """

    def __init__(self, plan: TrainingPlan) -> None:
        self.plan = plan
        self._known: dict[int, float] = {0: 0.0}

    @cached_property
    def multiplier(self) -> float:
        """As `budget.Account.multiplier`."""
        return budget.multiplier_of(self.plan)

    def after(self, rounds: int) -> float:
        """The epsilon of so many rounds together."""
        if rounds not in self._known:
            self._known[rounds] = budget.total_epsilon(self.plan, rounds, self.multiplier)
        return self._known[rounds]

    def allows(self, rounds: int) -> bool:
        """Whether so many rounds stay within the budget; always, where none is set."""
        most = self.plan.privacy.budget_epsilon
        return most is None or self.after(rounds) <= most * (1 + SLACK)

    def refuse_overrun(self) -> None:
        """TrainingError if the plan as a whole would cost more than its budget: before it
        begins.
        """
        if not self.allows(self.plan.rounds):
            most = self.plan.privacy.budget_epsilon or 0.0
            last = budget.rounds_within(self.plan, self.multiplier, most)
            raise TrainingError(
                f"privacy.budget_epsilon: {most:g} for one {self.plan.privacy.unit} would be"
                f" overrun after round {last} of {self.plan.rounds} (total"
                f" {self.after(self.plan.rounds):.4g}); take more noise or fewer rounds"
            )

    def ledger(self, rounds: int, source: str) -> PrivacyCharges:
        """source: of the noise, `seeded` or `secure`."""
        given = self.plan.privacy
        return PrivacyCharges(
            unit=given.unit,
            adjacency=NEIGHBOURS[given.adjacency if given.unit == "site" else given.unit],
            delta=given.delta,
            clip=given.clip,
            sensitivity=budget.sensitivity(self.plan),
            multiplier=self.multiplier,
            noise_std=budget.noise_std(self.plan, self.multiplier),
            noise=_noise(source),
            sampling=_sampling(self.plan),
            rounds_charged=rounds,
            epsilon=self.after(rounds),
            budget_epsilon=given.budget_epsilon,
            also_released=_also_released(self.plan),
        )


def _noise(source: str) -> str:
    if source == "secure":
        return "secure: from the operating system's cryptographic generator"
    return "seeded: repeatable, so it protects only from those who do not know the seed"


def _sampling(plan: TrainingPlan) -> str:
    given = plan.privacy
    if given.unit != "site":
        return (
            f"Poisson: each {given.draw or 'session'} alone in every local step; participation of"
            " sites is not counted"
        )
    if given.participation < 1 and given.noise_at == "sum":
        return (
            f"Poisson: each site draws for itself, with probability {given.participation:g} in a"
            " round, and tells nobody"
        )
    return "not counted: every site is charged for every round"


def _also_released(plan: TrainingPlan) -> tuple[str, ...]:
    """What leaves sites beside the noised updates, and is not in epsilon."""
    found = [
        "names and number of sites",
        (
            "which sites failed in a round, and the kind of error (crashes, time or memory that"
            " ran out; numbers that overflow are answered with noise)"
        ),
        "how long a site takes",
    ]
    hidden = plan.privacy.noise_at == "sum" and plan.privacy.participation < 1
    found += [] if hidden else ["which sites took part in a round", "bytes by site and round"]
    found += (
        ["numbers of sessions of the sites, as weights"]
        if plan.privacy.unit != "site" or plan.privacy.weights == "by_size"
        else []
    )
    return tuple(found + (["numbers of local steps"] if plan.privacy.unit != "site" else []))


def of_nothing() -> Mapping[str, Any]:
    """The ledger of a federation without privacy."""
    return {
        "unit": None,
        "epsilon": None,
        "said": "privacy: none; updates and losses of sites were released as they are",
    }
