"""The tests that the experiment's file announced, as it announced them, corrected by Holm within
each family that it declares.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import pandas as pd

from analysis.statistics import Power, client_anova, client_contrast, holm, mixed, power_of_contrast
from simcounsel.specs.experiment import Change, Hypothesis
from simcounsel.specs.sweep_plan import SweepPlan

TestVerdict = Literal[
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
    """Over the planned tests of its family."""
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
    verdict: TestVerdict = "not testable"


def test_planned(
    experiment: SweepPlan,
    outcomes: pd.DataFrame,
    changed: Callable[[Change], pd.DataFrame] | None = None,
) -> list[Tested]:
    """All hypotheses in the order of the file; `outcomes` as of `analysis.outcomes`. changed: the
    same for the hypotheses that name a change of their own (`steps.outcomes_over`).
    """
    of: dict[Change | None, pd.DataFrame] = {None: outcomes}
    for change in {one.change for one in experiment.hypotheses if one.change}:
        of[change] = changed(change) if changed else outcomes.iloc[0:0]
    raw = [_tested(hypothesis, of[hypothesis.change]) for hypothesis in experiment.hypotheses]
    corrected: dict[int, float | None] = {}
    for family in dict.fromkeys(one.hypothesis.family for one in raw):
        places = [at for at, one in enumerate(raw) if one.hypothesis.family == family]
        corrected |= zip(places, holm([raw[at].p for at in places]), strict=True)
    return [_judged(replace(one, p_holm=corrected[at])) for at, one in enumerate(raw)]


test_planned.__test__ = False  # type: ignore[attr-defined]


def _tested(hypothesis: Hypothesis, outcomes: pd.DataFrame) -> Tested:
    rows, judged, unclear = rows_of(hypothesis, outcomes)
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
            reason=unclear
            or f"no run was measured with {hypothesis.instrument}, score {hypothesis.score}",
        )
    empty = [arm for arm, count in blank.n.items() if not count]
    if empty:
        return replace(blank, reason=f"no value in {', '.join(empty)}")
    match hypothesis.test:
        case "anova" | "permutation":
            return _omnibus(blank, known)
        case "mixed":
            return _mixed(blank, known)
        case "clients" | "paired_t" | "welch":
            return _contrast(blank, known)


def rows_of(hypothesis: Hypothesis, outcomes: pd.DataFrame) -> tuple[pd.DataFrame, str, str | None]:
    """The rows of the hypothesis, who answered, and why there are none: several respondents or
    judges answered and the hypothesis does not say which one it is about.
    """
    rows = outcomes[
        (outcomes["instrument"] == hypothesis.instrument) & (outcomes["score"] == hypothesis.score)
    ]
    for column, wanted in (("respondent", hypothesis.respondent), ("judge", hypothesis.judge)):
        names = sorted(set(rows[column].astype(str)))
        if wanted is None and len(names) > 1:
            said = ", ".join(names)
            return rows.iloc[0:0], "", f"answered by several ({said}): name a `{column}`"
        if wanted is not None and names and wanted not in names:
            said = ", ".join(names)
            return rows.iloc[0:0], "", f"no answers of the {column} {wanted!r}, but of {said}"
        rows = rows if wanted is None else rows[rows[column].astype(str) == wanted]
    if not len(rows):
        return rows, "", None
    first = rows.iloc[0]
    return (
        rows,
        ", ".join(one for one in map(str, (first["respondent"], first["judge"])) if one),
        None,
    )


def _omnibus(blank: Tested, known: pd.DataFrame) -> Tested:
    arms = blank.hypothesis.contrast
    done = client_anova(known, arms, permutation=blank.hypothesis.test == "permutation")
    words = (
        f"F({done.df[0]:.3g}, {done.df[1]:.3g}) = {done.f:.2f}"
        if done.f is not None and done.df
        else ""
    )
    return replace(
        blank,
        statistic=words,
        p=done.p,
        effect_name="eta squared",
        effect=done.eta_squared,
        n=done.n,
        assumes=done.assumes,
        reason=done.reason,
    )


def _contrast(blank: Tested, known: pd.DataFrame) -> Tested:
    """Two arms over clients; `paired_t` takes only runs that have their pair in the other arm."""
    first, second = blank.hypothesis.contrast[:2]
    alpha, by = blank.hypothesis.alpha, ""
    if blank.hypothesis.test == "paired_t":
        known, by = in_pairs(known, first, second)
    done = client_contrast(known, first, second, level=1 - alpha)
    crossed = "clients" in done.n
    sizes = [done.n["clients"]] * 2 if crossed else [done.n.get(one, 0) for one in (first, second)]
    statistic = f"t({done.df:.3g}) = {done.statistic:.2f}" if done.statistic is not None else ""
    return replace(
        blank,
        estimate=done.difference,
        low=done.low,
        high=done.high,
        statistic=statistic,
        p=done.p,
        effect=done.g,
        effect_low=done.g_low,
        effect_high=done.g_high,
        n=done.n,
        assumes=f"{done.assumes}; a pair of runs: {by}" if by else done.assumes,
        reason=done.reason,
        power=power_of_contrast(sizes[0], sizes[1], paired=crossed, alpha=alpha),
    )


def in_pairs(known: pd.DataFrame, first: str, second: str) -> tuple[pd.DataFrame, str]:
    """The runs that have their pair in the other arm, and in words what makes a pair: a fork of one
    past where there are any, else a run of the same client and seed.
    """
    keys = ["client", "pair"] if known["pair"].notna().any() else ["client", "seed"]
    rows = known[known["arm"].isin([first, second])].dropna(subset=keys)
    both = rows.groupby(keys, observed=True)["arm"].transform("nunique") == 2
    return rows[both], (
        "a shared past"
        if known["shared_past"].any()
        else "the same client and seed, but no shared past"
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
    words = f"t({done.df:.3g}) = {done.t:.2f}" if done.t is not None and done.df else ""
    if done.client_sd is not None:
        words += f"; {done.clients} clients, their SD {done.client_sd:.3g}"
    return replace(
        blank,
        estimate=done.difference,
        low=done.low,
        high=done.high,
        statistic=words,
        p=done.p,
        n=done.n | {"clients": done.clients},
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
