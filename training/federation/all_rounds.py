"""All rounds of a federation: charged before they are run, written after, resumed where they
stopped.

What has been paid so far: the account of `training.privacy`, round by round, as it goes into
every checkpoint and card.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from training.errors import TrainingError
from training.federation import state as on_disk
from training.federation.replies import SiteLinks
from training.federation.rounds import RoundReport, conduct
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.plan import TrainingPlan
from training.privacy import budget
from training.privacy.statement import NEIGHBOURS
from training.stopping import stoppable

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


LEDGER, ROUNDS = "ledger.json", "rounds"


@dataclass(frozen=True, kw_only=True)
class FederationOutcome:
    """What a federation came to."""

    state: ServerState
    """After the last round."""
    ledger: PrivacyCharges | None
    """None without privacy."""
    stopped: str | None
    """Why before the plan's end; None at its end."""


def federate(
    start: ServerState,
    sites: SiteLinks,
    terms: Terms,
    plan: TrainingPlan | None,
    *,
    rounds: int,
    seed: int,
    folder: Path,
    on_round: Callable[[RoundReport], None] = lambda report: None,
    enough: Callable[[], bool] = lambda: False,
) -> FederationOutcome:
    """Run rounds up to number `rounds`, from the last one found in `folder`, or from `start`.

    plan: what is accounted for; None without privacy. Its noise and budget are for all its rounds.
    on_round: told of every round that is on disk. enough: whether no more rounds are wanted; all
    that could have been are charged then. Ctrl-C ends after the round in progress, a second one at
    once. TrainingError, before anything is sent, for a plan that would overrun its budget or
    terms that are not those of the rounds already done.
    """
    spending = PlanSpending(plan) if plan else None
    _check(terms, plan, rounds)
    if spending:
        spending.refuse_overrun()
    mark = fingerprint(terms, spending, seed)
    now = _resumed(folder, mark, terms, start)
    with stoppable() as asked:
        while now.round < rounds:
            if now.round and enough():
                whole = replace(now, charged=_reachable(now, rounds, spending))
                _charge(folder, whole.charged, spending, terms)
                return _outcome(whole, spending, terms, None)
            if asked():
                return _outcome(
                    now, spending, terms, f"on request, after round {now.round} of {rounds}"
                )
            if spending and not spending.allows(now.charged + 1):
                return _outcome(
                    now,
                    spending,
                    terms,
                    f"after round {now.round} of {rounds}: {now.charged} are charged, and one more"
                    f" would overrun the budget of epsilon {spending.plan.privacy.budget_epsilon:g}"
                    f" for one {spending.plan.privacy.unit}",
                )
            _charge(folder, now.charged + 1, spending, terms)
            now, report = conduct(now, sites, terms, seed)
            _write(folder, now, mark, spending, terms)
            on_round(report)
    return _outcome(now, spending, terms, None)


def _reachable(now: ServerState, rounds: int, spending: PlanSpending | None) -> int:
    """How many rounds could have been charged in the end, had it gone on."""
    most = now.charged + rounds - now.round
    while spending and most > now.charged and not spending.allows(most):
        most -= 1
    return most


def fingerprint(terms: Terms, spending: PlanSpending | None, seed: int) -> str:
    """SHA-256 of what must not change between rounds: terms, seed, and whom how much noise
    protects. The number of rounds may, where it does not change the noise.
    """
    plan = (
        spending.plan.model_dump(mode="json", exclude={"rounds"})
        | {"multiplier": spending.multiplier}
        if spending
        else None
    )
    return hashlib.sha256(
        json.dumps([terms.fingerprint, seed, plan], sort_keys=True).encode()
    ).hexdigest()


def _check(terms: Terms, plan: TrainingPlan | None, rounds: int) -> None:
    if plan is None and not terms.tells_loss:
        raise TrainingError("these terms are private, and there is no plan to account for them")
    if plan is not None and terms.tells_loss:
        raise TrainingError("these terms are not private, and the plan accounts as if they were")
    if plan is not None and rounds > plan.rounds:
        raise TrainingError(
            f"{rounds} rounds, but the plan accounts for {plan.rounds}; its noise is for these"
        )


def _resumed(folder: Path, mark: str, terms: Terms, start: ServerState) -> ServerState:
    """The last state on disk. With secure noise, rounds that were begun and not finished stay
    charged, since what sites sent in them was seen and is not sent again; with seeded noise the
    round sends the same again.
    """
    at = on_disk.latest(folder / ROUNDS)
    now = start
    if at is not None:
        now, facts = on_disk.from_folder(at)
        if facts.get("fingerprint") != mark:
            raise TrainingError(
                f"{at}: made with another recipe, seed or noise; resume with the same, or begin in"
                " a new folder"
            )
    written = folder / LEDGER
    if terms.noise == "secure" and written.exists():
        begun = json.loads(written.read_text(encoding="utf-8")).get("rounds_charged") or 0
        now = replace(now, charged=max(now.charged, begun))
    return now


def _charge(folder: Path, rounds: int, spending: PlanSpending | None, terms: Terms) -> None:
    """Written before a round begins, so that a crash cannot hide what was paid."""
    folder.mkdir(parents=True, exist_ok=True)
    on_disk.replaced(folder / LEDGER, json.dumps(_ledger(rounds, spending, terms), indent=2) + "\n")


def _ledger(rounds: int, spending: PlanSpending | None, terms: Terms) -> Mapping[str, Any]:
    return asdict(spending.ledger(rounds, terms.noise)) if spending else of_nothing()


def _write(
    folder: Path, now: ServerState, mark: str, spending: PlanSpending | None, terms: Terms
) -> None:
    facts = {"fingerprint": mark, "ledger": _ledger(now.charged, spending, terms)}
    on_disk.to_folder(now, folder / ROUNDS / f"{now.round:04d}", facts)


def _outcome(
    now: ServerState, spending: PlanSpending | None, terms: Terms, stopped: str | None
) -> FederationOutcome:
    return FederationOutcome(
        state=now,
        ledger=spending.ledger(now.charged, terms.noise) if spending else None,
        stopped=stopped,
    )
