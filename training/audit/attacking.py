"""The attacks on what two models make of the same sessions, and what an audit reports of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.audit.bounds import Bound
from training.audit.curves import AttackCurve, BootstrapInterval, curve
from training.audit.exposing import Exposed
from training.audit.findings import (
    AttackRate,
    AttackReport,
    AttackVerdict,
    AuditReport,
    BoundReport,
    ExposureReport,
    LikenessReport,
    Model,
    OneRunReport,
    P,
    Separation,
    as_said,
)
from training.audit.memorization import Likeness
from training.audit.onerun import OneRun
from training.audit.scored import Scored, Words
from training.audit.scores import ATTACKS, Attack, AttackScore, attack
from training.errors import TrainingError


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """What one model makes of sessions that were trained on and of others."""

    members: Sequence[Scored]
    others: Sequence[Scored]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What is reported beside the attacks."""

    likeness: Mapping[Model, Sequence[Likeness]] = field(default_factory=dict)
    """How alike the models' replies are to those of the sessions."""
    one_run: OneRun | None = None
    """What guesses about canaries prove; None without canaries."""
    stated_epsilon: float | None = None
    """What the training says that it cost; None where `one_run` cannot be held against it."""
    exposed: Exposed | None = None
    """How exposed canaries are; None without canaries."""


NOTHING = Beside()


def audit(
    trained: ModelView,
    base: ModelView,
    bound: Bound | None,
    *,
    attacks: Sequence[Attack] = ATTACKS,
    words: Words = "counselor",
    bootstrap: int = 1000,
    seed: int = 0,
    beside: Beside = NOTHING,
) -> AuditReport:
    """Run the attacks on both models. bound: what the account of the training implies
    (`bounds.of_plan`); None without privacy. TrainingError where there is nothing to compare, or
    somebody is both member and other.
    """
    _check(trained)
    return AuditReport(
        words=words,
        member_clients=len({one.client for one in trained.members}),
        other_clients=len({one.client for one in trained.others}),
        bound=None if bound is None else as_said(BoundReport, bound),
        attacks=tuple(_attack(name, trained, base, bound, bootstrap, seed) for name in attacks),
        memorization=tuple(
            _with_ends(LikenessReport, one, model=model)
            for model, found in beside.likeness.items()
            for one in found
        ),
        one_run=None if beside.one_run is None else _one_run(beside.one_run, beside.stated_epsilon),
        exposure=(None if beside.exposed is None else _with_ends(ExposureReport, beside.exposed)),
    )


def _check(seen: ModelView) -> None:
    both = {one.client for one in seen.members} & {one.client for one in seen.others}
    if both:
        raise TrainingError(
            f"{len(both)} clients, such as {min(both)!r}, are among members and others; hold"
            " clients out whole"
        )


def _attack(
    name: Attack,
    trained: ModelView,
    base: ModelView,
    bound: Bound | None,
    bootstrap: int,
    seed: int,
) -> AttackReport:
    separation = _separation(name, trained, base, bound, bootstrap, seed)
    itself = None if name == "reference" else _separation(name, base, base, None, bootstrap, seed)
    return AttackReport(
        attack=name,
        trained=separation,
        base=itself,
        why_no_base="the base model is what it compares with" if itself is None else None,
        bound=None if bound is None else bound.auc,
        verdict=_verdict(separation, itself),
        within_bound=(
            None
            if bound is None or separation.low is None or separation.high is None
            else separation.low <= bound.auc and separation.high >= 1 - bound.auc
        ),
    )


def _verdict(trained: Separation, base: Separation | None) -> AttackVerdict | None:
    if trained.low is None or trained.high is None:
        return None
    if (
        base is not None
        and base.low is not None
        and base.high is not None
        and not base.low <= 0.5 <= base.high
    ):
        return "shift"
    return "told apart" if not trained.low <= 0.5 <= trained.high else "not told apart"


def _separation(
    name: Attack, model: ModelView, base: ModelView, bound: Bound | None, bootstrap: int, seed: int
) -> Separation:
    members, lost = _kept(model.members, attack(name, model.members, base.members))
    others, more = _kept(model.others, attack(name, model.others, base.others))
    if not members or not others:
        raise TrainingError(
            f"attack {name!r}: no session of {'members' if not members else 'others'} has a score"
            f" ({', '.join(lost + more)})"
        )
    found = curve(
        [value for _, value in members],
        [value for _, value in others],
        member_clients=[client for client, _ in members],
        other_clients=[client for client, _ in others],
        bootstrap=bootstrap,
        seed=seed,
    )
    return _as_separation(found, Counter(lost + more), dict(bound.tpr) if bound else {})


def _kept(
    sessions: Sequence[Scored], scores: Sequence[AttackScore]
) -> tuple[list[tuple[str, float]], list[str]]:
    """Client and value of sessions with a score; the reasons of the others."""
    pairs = list(zip(sessions, scores, strict=True))
    kept = [(one.client, score.value) for one, score in pairs if score.value is not None]
    return kept, [score.why_not or "no reason given" for _, score in pairs if score.value is None]


def _as_separation(
    found: AttackCurve, left_out: Counter[str], bounds: Mapping[float, float]
) -> Separation:
    low, high = _ends(found.intervals.get("roc_auc"))
    pr_low, pr_high = _ends(found.intervals.get("pr_auc"))
    rates = []
    for at in found.tpr:
        ends = _ends(found.intervals.get(f"tpr@{at.fpr:g}"))
        rates.append(as_said(AttackRate, at, low=ends[0], high=ends[1], bound=bounds.get(at.fpr)))
    more = {"low": low, "high": high, "pr_low": pr_low, "pr_high": pr_high}
    return as_said(Separation, found, **more, tpr=tuple(rates), left_out=dict(left_out))


def _ends(interval: BootstrapInterval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _one_run(found: OneRun, stated: float | None) -> OneRunReport:
    below = None if stated is None else found.epsilon <= stated
    return as_said(OneRunReport, found, stated_epsilon=stated, below_stated=below)


def _with_ends(kind: type[P], found: Likeness | Exposed, **more: Any) -> P:
    low, high = _ends(found.interval)
    return as_said(kind, found, low=low, high=high, **more)
