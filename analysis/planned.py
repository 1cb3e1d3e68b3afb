"""The tests that the experiment's file announced, as it announced them, corrected together by
Holm.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pandas as pd

from analysis.experiment import Experiment, Hypothesis
from analysis.statistics import (
    Contrast,
    Power,
    anova,
    holm,
    mixed,
    paired_t,
    permutation_anova,
    power_of_contrast,
    welch_t,
)

Verdict = Literal[
    "as expected", "against expectation", "a difference", "no evidence", "not testable"
]


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A hypothesis and what came of it."""

    hypothesis: Hypothesis
    kind: str = "change"
    judged: str = ""
    estimate: float | None = None
    """`estimate`, `low`, `high`: first arm minus second, in the score's unit, at 1 - alpha; None
    for an omnibus test.
    """
    low: float | None = None
    high: float | None = None
    statistic: str = ""
    """In words."""
    p: float | None = None
    p_holm: float | None = None
    """Over all planned tests."""
    effect_name: str = "g"
    effect: float | None = None
    """Hedges' g, or eta squared for an omnibus test (`effect_name`)."""
    effect_low: float | None = None
    effect_high: float | None = None
    n: dict[str, int] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Run and why."""
    assumes: str = ""
    reason: str | None = None
    power: Power | None = None
    verdict: Verdict = "not testable"


def test_planned(experiment: Experiment, outcomes: pd.DataFrame) -> list[Tested]:
    """All hypotheses in the order of the file; `outcomes` as of `analysis.outcomes`."""
    raw = [_tested(hypothesis, outcomes) for hypothesis in experiment.hypotheses]
    corrected = holm([one.p for one in raw])
    return [_judged(replace(one, p_holm=p)) for one, p in zip(raw, corrected, strict=True)]


test_planned.__test__ = False  # type: ignore[attr-defined]


def _tested(hypothesis: Hypothesis, outcomes: pd.DataFrame) -> Tested:
    rows, judged = _of(hypothesis, outcomes)
    here = rows[rows["arm"].isin(hypothesis.contrast)]
    known = here.dropna(subset=["value"])
    left_out = tuple(
        (str(row.run), str(row.reason)) for row in here[here["value"].isna()].itertuples()
    )
    blank = Tested(
        hypothesis=hypothesis,
        judged=judged,
        kind=str(here["kind"].iloc[0]) if len(here) else "change",
        runs=tuple(sorted(known["run"].astype(str))),
        left_out=left_out,
        n={arm: int((known["arm"] == arm).sum()) for arm in hypothesis.contrast},
    )
    if not len(rows):
        return replace(
            blank,
            reason=f"no run was measured with {hypothesis.instrument}, score {hypothesis.score}",
        )
    empty = [arm for arm, count in blank.n.items() if not count]
    if empty:
        return replace(blank, reason=f"no value in {', '.join(empty)}")
    match hypothesis.test:
        case "anova" | "permutation":
            return _omnibus(blank, known)
        case "paired_t":
            return _paired(blank, known)
        case "mixed":
            return _mixed(blank, known)
        case "welch":
            return _welch(blank, known)


def _of(hypothesis: Hypothesis, outcomes: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The rows of the hypothesis. Where several respondents or judges answered: the first by name,
    which is said.
    """
    rows = outcomes[
        (outcomes["instrument"] == hypothesis.instrument) & (outcomes["score"] == hypothesis.score)
    ]
    sources = sorted(
        {(str(r), str(j)) for r, j in zip(rows["respondent"], rows["judge"], strict=True)}
    )
    if not sources:
        return rows, ""
    respondent, judge = sources[0]
    words = f"{respondent}{f', {judge}' if judge else ''}" + (
        f" (of {len(sources)} who answered, the first by name)" if len(sources) > 1 else ""
    )
    return (
        rows[(rows["respondent"].astype(str) == respondent) & (rows["judge"].astype(str) == judge)],
        words,
    )


def _values(known: pd.DataFrame, arms: Sequence[str]) -> dict[str, list[float]]:
    return {arm: known[known["arm"] == arm]["value"].astype(float).tolist() for arm in arms}


def _omnibus(blank: Tested, known: pd.DataFrame) -> Tested:
    groups = _values(known, blank.hypothesis.contrast)
    done = anova(groups) if blank.hypothesis.test == "anova" else permutation_anova(groups)
    words = (
        f"F({done.df[0]:g}, {done.df[1]:g}) = {done.f:.2f}"
        if done.f is not None and done.df
        else ""
    )
    return replace(
        blank,
        statistic=words,
        p=done.p,
        effect_name="eta squared",
        effect=done.eta_squared,
        assumes=done.assumes,
        reason=done.reason,
    )


def _welch(blank: Tested, known: pd.DataFrame) -> Tested:
    first, second = blank.hypothesis.contrast[:2]
    alpha, groups = blank.hypothesis.alpha, _values(known, (first, second))
    done = welch_t(groups[first], groups[second], names=(first, second), level=1 - alpha)
    return replace(
        _contrasted(blank, done, df=".1f"),
        power=power_of_contrast(len(groups[first]), len(groups[second]), alpha=alpha),
    )


def _contrasted(blank: Tested, done: Contrast, df: str) -> Tested:
    """Two arms against each other by a t test. df: the format of its degrees of freedom."""
    return replace(
        blank,
        estimate=done.difference,
        low=done.low,
        high=done.high,
        statistic=f"t({done.df:{df}}) = {done.statistic:.2f}" if done.statistic is not None else "",
        p=done.p,
        effect=done.g,
        effect_low=done.g_low,
        effect_high=done.g_high,
        assumes=done.assumes,
        reason=done.reason,
    )


def pairs_of(known: pd.DataFrame, first: str, second: str) -> tuple[pd.DataFrame, str]:
    """Values of both arms side by side, one row a pair, and in words what makes a pair.

    Forks of one past where there are any, else runs of the same client and seed.
    """
    keys = ["pair", "client"] if known["pair"].notna().any() else ["client", "seed"]
    rows = known.dropna(subset=keys)
    wide = rows[rows["arm"].isin([first, second])].pivot_table(
        index=keys, columns="arm", values="value", aggfunc="mean", observed=True
    )
    missing = [arm for arm in (first, second) if arm not in wide]
    if missing:
        return pd.DataFrame(columns=[first, second], dtype=float), "nothing"
    return wide[[first, second]].dropna(), (
        "a shared past"
        if known["shared_past"].any()
        else "the same client and seed, but no shared past"
    )


def _paired(blank: Tested, known: pd.DataFrame) -> Tested:
    first, second = blank.hypothesis.contrast[:2]
    alpha, (wide, by) = blank.hypothesis.alpha, pairs_of(known, first, second)
    done = paired_t(
        wide[first].tolist(), wide[second].tolist(), names=(first, second), level=1 - alpha
    )
    return replace(
        _contrasted(blank, done, df="g"),
        n={"pairs": len(wide)},
        assumes=f"{done.assumes}; a pair: {by}",
        power=power_of_contrast(len(wide), len(wide), paired=True, alpha=alpha),
    )


def _mixed(blank: Tested, known: pd.DataFrame) -> Tested:
    if len(blank.hypothesis.contrast) > 2:
        return replace(
            blank,
            reason=(
                "a mixed model of more than two arms is not tested as one; name contrasts of two"
            ),
        )
    first, second = blank.hypothesis.contrast
    done = mixed(known, first, second, level=1 - blank.hypothesis.alpha)
    words = (
        f"{done.clients} clients, their SD {done.client_sd:.3g}"
        if done.client_sd is not None
        else ""
    )
    return replace(
        blank,
        estimate=done.difference,
        low=done.low,
        high=done.high,
        statistic=words,
        p=done.p,
        n=done.n,
        assumes=done.assumes,
        reason=done.reason,
    )


def _judged(one: Tested) -> Tested:
    if one.p_holm is None:
        return replace(one, verdict="not testable")
    if one.p_holm >= one.hypothesis.alpha:
        return replace(one, verdict="no evidence")
    wanted = one.hypothesis.direction
    if wanted == "differs" or one.estimate is None:
        return replace(one, verdict="a difference")
    return replace(
        one,
        verdict=(
            "as expected" if (one.estimate < 0) == (wanted == "lower") else "against expectation"
        ),
    )
