"""All rounds of a federation: charged before they are run, written after, resumed where they
stopped.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from training.errors import TrainingError
from training.federation import state as on_disk
from training.federation.ledger import PlanSpending, PrivacyCharges, of_nothing
from training.federation.replies import SiteLinks
from training.federation.rounds import RoundReport, conduct
from training.federation.state import ServerState
from training.federation.terms import Terms
from training.plan import TrainingPlan
from training.stopping import stoppable

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
) -> FederationOutcome:
    """Run rounds up to number `rounds`, from the last one found in `folder`, or from `start`.

    plan: what is accounted for; None without privacy. Its noise and budget are for all its rounds.
    on_round: told of every round that is on disk. Ctrl-C ends after the round in progress, a second
    one at once. TrainingError, before anything is sent, for a plan that would overrun its budget or
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
