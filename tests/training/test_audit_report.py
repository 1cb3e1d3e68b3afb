"""What the report concludes: leaks, shifts, bounds that are broken, and how it is told."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from training.audit import bounds
from training.audit.attacking import Beside, ModelView, audit
from training.audit.curves import BootstrapInterval
from training.audit.exposing import Exposed
from training.audit.findings import AttackReport, AuditReport
from training.audit.memorization import Likeness
from training.audit.onerun import OneRun
from training.audit.scored import Scored
from training.audit.table import lines
from training.errors import TrainingError

Level = Callable[[bool, np.random.Generator], float]
BOUND = bounds.of_pairs([(1.0, 1e-5)], unit="session", said="the account is for one session")


def seen(level: Level, seed: int = 1, many: int = 120, short: int = 0) -> ModelView:
    """Sessions whose mean log-probability is drawn by `level`, given whether it is a member's."""
    sides = []
    for member in (True, False):
        rng = np.random.default_rng([seed, member])
        side = []
        for n in range(many):
            logp = level(member, rng) + rng.normal(0, 0.3, 40)
            size = 0 if member and n < short else 40
            name = f"{'m' if member else 'o'}{n}"
            side.append(
                Scored(
                    id=name,
                    client=name,
                    text="Since when? " * 20,
                    logp=logp[:size],
                    mean=np.full(size, -3.0),
                    std=np.ones(size),
                )
            )
        sides.append(side)
    return ModelView(members=sides[0], others=sides[1])


def even(member: bool, rng: np.random.Generator) -> float:
    return float(rng.normal(-3, 0.5))


def leaking(member: bool, rng: np.random.Generator) -> float:
    return even(member, rng) + (1.5 if member else 0.1)


def by_name(report: AuditReport) -> dict[str, AttackReport]:
    return {one.attack: one for one in report.attacks}


def test_a_leak_is_told_and_breaks_the_bound() -> None:
    report = audit(seen(leaking), seen(even), BOUND, bootstrap=200)
    found = by_name(report)
    assert any(
        line.startswith("ABOVE what the account allows: LOSS, zlib, Min-K%, Min-K%++, reference;")
        for line in lines(report)
    )
    for name, one in found.items():
        assert one.verdict == "told apart", name
        assert one.within_bound is False, name
        assert one.bound == pytest.approx(0.731, abs=1e-3)
    assert found["reference"].trained.roc_auc > 0.99 > found["loss"].trained.roc_auc
    assert found["reference"].base is None and found["reference"].why_no_base


def test_nothing_learned_is_not_told_apart_and_within_the_bound() -> None:
    model = seen(even)
    for one in audit(
        model, model, BOUND, bootstrap=200, attacks=("loss", "zlib", "min_k", "min_k_plus_plus")
    ).attacks:
        assert one.verdict == "not told apart"
        assert one.within_bound is True


def test_a_shift_between_members_and_others_is_no_evidence() -> None:
    """The base model, which saw neither, finds members easier: then a high AUC of the trained model says nothing."""

    def shifted(member: bool, rng: np.random.Generator) -> float:
        return even(member, rng) + (1.0 if member else 0.0)

    model = seen(shifted)
    report = audit(model, model, BOUND, bootstrap=200)
    found = by_name(report)
    assert found["loss"].verdict == "shift"
    assert found["loss"].trained.roc_auc > 0.85
    assert found["reference"].verdict == "not told apart"
    told = "\n".join(lines(report))
    assert "no evidence: the base model, which saw nobody, tells them apart too" in told
    assert "ABOVE" not in told


def test_an_attack_turned_round_breaks_the_bound_as_well() -> None:
    def turned(member: bool, rng: np.random.Generator) -> float:
        return even(member, rng) - (1.5 if member else 0.0)

    found = by_name(audit(seen(turned), seen(even), BOUND, bootstrap=200))["loss"]
    assert found.trained.roc_auc < 0.1
    assert (found.verdict, found.within_bound) == ("told apart", False)


def test_sessions_without_a_score_are_counted_not_dropped_in_silence() -> None:
    model = seen(even, short=3)
    report = audit(model, model, None, bootstrap=50, attacks=("loss", "min_k"))
    assert by_name(report)["min_k"].trained.left_out == {"no token to score": 3}
    assert by_name(report)["min_k"].trained.members == 117
    assert "Min-K%: 3 sessions left out: no token to score" in lines(report)
    with pytest.raises(TrainingError, match="no session of members has a score"):
        audit(seen(even, short=120), model, None, attacks=("loss",))


def test_without_an_account_or_intervals_nothing_is_claimed() -> None:
    report = audit(seen(leaking), seen(even), None, bootstrap=0)
    assert {(one.verdict, one.within_bound, one.bound) for one in report.attacks} == {
        (None, None, None)
    }
    told = "\n".join(lines(report))
    assert (
        "nothing limits what an attack can do" in told
        and "no interval, so nothing can be said" in told
    )


def test_a_client_on_both_sides_is_refused() -> None:
    model = seen(even)
    with pytest.raises(
        TrainingError, match="1 clients, such as 'm0', are among members and others"
    ):
        audit(
            ModelView(members=model.members, others=[*model.others, model.members[0]]), model, None
        )


def test_the_report_is_json_and_a_table_with_all_it_knows() -> None:
    likeness = Likeness(
        measure="rouge1_recall",
        members=0.4,
        others=0.3,
        difference=0.1,
        interval=BootstrapInterval(low=0.02, high=0.2),
        n_members=9,
        n_others=8,
    )
    run = OneRun(
        canaries=100,
        guesses=20,
        correct=19,
        epsilon=1.7,
        delta=1e-5,
        confidence=0.95,
        tried=4,
        most=2.38,
    )
    report = audit(
        seen(even),
        seen(even, seed=2),
        BOUND,
        bootstrap=50,
        beside=Beside(
            likeness={"trained": [likeness], "base": [likeness]},
            one_run=run,
            stated_epsilon=1.0,
            exposed=Exposed(
                included=9.1,
                excluded=1.5,
                auc=0.9,
                interval=BootstrapInterval(low=0.8, high=0.95),
                n_included=48,
                n_excluded=52,
                bits=18.8,
            ),
        ),
    )
    assert AuditReport.model_validate_json(report.model_dump_json()) == report
    assert (
        json.loads(report.model_dump_json())["attacks"][0]["trained"]["tpr"][1]["resolved"] is False
    )
    told = lines(report)
    assert told[0] == "trained on      120 sessions of 120 clients"
    assert any("no attack has an AUC above 0.731" in line for line in told)
    assert any(line.startswith("  Min-K%++") for line in told)
    assert "* without any false alarm: 120 held out are too few (1000 for 0.1% at least)" in told
    assert any(
        "ROUGE-1 recall  trained  0.400       0.300     +0.100 (+0.020 to +0.200)" in line
        for line in told
    )
    assert told[-5] == "one-run audit   19 of 20 guesses about 100 canaries are right"
    assert (
        told[-4]
        .strip()
        .startswith("epsilon is at least 1.700 (95% confidence, delta 1e-05); ABOVE")
    )
    assert told[-4].endswith("ABOVE the stated 1: the account is wrong")
    assert (
        told[-3].strip()
        == "even with every guess right, 100 canaries could show no more than 2.380"
    )
    assert told[-2].startswith(
        "exposure        9.10 bits for the 48 canaries that were trained on, 1.50 for the 52 others"
    )
    assert told[-1].strip() == "told apart with AUC 0.900 (0.800 to 0.950)"
    assert all(len(line) <= 160 for line in told)
