"""One effect for each specification: a way to live the experiment, a seed, a way to analyze it.

A contrast at equal baselines: analysis of covariance with the client as its unit.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis import tables
from analysis.errors import ReportError
from analysis.outcomes import BASELINE, points_of
from analysis.sample import Sample
from analysis.statistics import Contrast, by_client, client_contrast
from analysis.validity.multiverse.universes import LIVED, Universes, named_outcomes
from simcounsel.specs.multiverse import Baseline, Outcome, Time

Floats = NDArray[np.float64]


def adjusted(rows: pd.DataFrame, contrast: Sequence[str]) -> tuple[Contrast, pd.DataFrame]:
    """First minus second, and each client's means, at equal baselines. rows: the columns `client`,
    `arm`, `value`, `baseline`.

    Where conditions share clients the differences of values are regressed on the differences of
    baselines (n - 2 degrees of freedom), else values on condition and baseline (n - 3). Without
    any difference between baselines it is the contrast as it is. g is in the standard deviations
    of the contrast that is not adjusted. No p with too few clients, as there.
    """
    first, second = contrast
    plain = client_contrast(rows, first, second)
    values, before = (by_client(rows, contrast, value=one) for one in ("value", "baseline"))
    fit = _crossed if values.crossed else _in_groups
    found = fit(values.means[[first, second]], before.means[[first, second]])
    if found is None:
        return plain, values.means
    estimate, error, df, slope = found
    half = float(stats.t.ppf(0.975, df)) * error
    p = float(2 * stats.t.sf(abs(estimate) / error, df)) if error > 0 else None
    scale = plain.g / plain.difference if plain.g is not None and plain.difference else None
    g = [
        None if scale is None else scale * one
        for one in (estimate, estimate - half, estimate + half)
    ]
    done = replace(
        plain,
        difference=estimate,
        low=estimate - half,
        high=estimate + half,
        df=df,
        p=p if values.too_few is None else None,
        g=g[0],
        g_low=g[1],
        g_high=g[2],
    )
    middle = float(np.nanmean(before.means.to_numpy()))
    return done, values.means - slope * (before.means - middle)


def _crossed(
    values: pd.DataFrame, before: pd.DataFrame
) -> tuple[float, float, float, float] | None:
    """Estimate, its standard error, df and slope; None where baselines tell nothing."""
    both = pd.concat([values, before], axis=1).dropna().to_numpy(dtype=float)
    x = both[:, 2] - both[:, 3]
    return _fitted(both[:, 0] - both[:, 1], [np.ones(len(x)), x])


def _in_groups(
    values: pd.DataFrame, before: pd.DataFrame
) -> tuple[float, float, float, float] | None:
    """The same for other clients in each condition."""
    parts = [
        pd.concat([values.iloc[:, at], before.iloc[:, at]], axis=1).dropna().to_numpy(dtype=float)
        for at in (0, 1)
    ]
    y, x = (np.concatenate([part[:, at] for part in parts]) for at in (0, 1))
    is_first = np.repeat([1.0, 0.0], [len(part) for part in parts])
    return _fitted(y, [is_first, x - x.mean() if len(x) else x, np.ones(len(x))])


def _fitted(y: Floats, columns: Sequence[Floats]) -> tuple[float, float, float, float] | None:
    """Least squares: the first column's coefficient with its error, and the second one's, which is
    the baseline's.
    """
    design = np.column_stack(columns)
    df = len(y) - design.shape[1]
    if df < 1 or np.ptp(columns[1]) < 1e-9 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    solved = np.linalg.lstsq(design, y, rcond=None)[0]
    rest = y - design @ solved
    spread = float(rest @ rest) / df * np.linalg.inv(design.T @ design)
    return float(solved[0]), float(np.sqrt(spread[0, 0])), float(df), float(solved[1])


SEED = "seed"
CHOICES = (*LIVED, SEED, "outcome", "time", "baseline", "runs")
"""All that a specification chooses, as its table names it."""


@dataclass(frozen=True, kw_only=True)
class Specification:
    """One effect, and what was chosen to come to it."""

    levels: dict[str, str]
    """By choice, in the order of CHOICES."""
    estimate: float | None
    """First condition minus second; None with a `reason`. In points of the scale where there is one
    outcome, else in standard deviations (Hedges' g)."""
    low: float | None = None
    """`low`, `high`: 95%."""
    high: float | None = None
    p: float | None = None
    """None also with fewer than six clients."""
    clients: int = 0
    reason: str | None = None
    means: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Each client's mean in each of the two conditions, turned as the estimate is."""

    @property
    def significant(self) -> bool:
        """p < .05, for itself alone."""
        return self.p is not None and self.p < 0.05


@dataclass(frozen=True, kw_only=True)
class EffectTable:
    """Those of all specifications."""

    specifications: tuple[Specification, ...]
    unit: str
    """Of the estimates, in words."""
    notes: tuple[str, ...] = ()

    @property
    def estimated(self) -> tuple[Specification, ...]:
        """Those that have an estimate."""
        return tuple(one for one in self.specifications if one.estimate is not None)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The choices that have more than one level among them."""
        return tuple(
            one for one in CHOICES if len({spec.levels[one] for spec in self.estimated}) > 1
        )

    def table(self) -> pd.DataFrame:
        """A row each: what was chosen, the estimate with 95%, p, clients, why there is none."""
        keys = ("estimate", "low", "high", "p", "clients", "reason")
        rows = [
            {**one.levels, **{key: getattr(one, key) for key in keys}}
            for one in self.specifications
        ]
        return pd.DataFrame(rows, columns=[*CHOICES, *keys])


def effects(plan: Universes, sample: Sample) -> EffectTable:
    """ReportError when nothing was measured, or several answer an outcome and it names none."""
    measured = tables.measurements(sample.logs)
    if not len(measured):
        raise ReportError(
            "nothing was measured in these runs; add `measurements` to the experiment"
        )
    outcomes = plan.outcomes
    unit = "points" if len({(one.instrument, one.score) for one in outcomes}) == 1 else "SD"
    turned = len({one.better for one in outcomes} - {None}) > 1
    values = pd.DataFrame(_values(plan, sample, measured))
    if not len(values):
        raise ReportError(
            "no run has a value of "
            + ", ".join(named_outcomes(outcomes).values())
            + "; see `measurements` of the experiment"
        )
    values["clean"] = ~values["run"].isin(set(tables.warnings(sample.logs)["run"].astype(str)))
    by = [*LIVED, SEED, "outcome", "time", "baseline"]
    grouped = dict(iter(values.groupby(by, sort=False)))
    found, repeats = _once_each(tuple(_each(plan, values, grouped, unit, turned)))
    words = "points of the scale" if unit == "points" else "standard deviations (Hedges' g)"
    notes = ("Effects are turned so that a positive one is the better one.",) if turned else ()
    return EffectTable(specifications=found, unit=words, notes=(*notes, *repeats))


def _values(plan: Universes, sample: Sample, measured: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """A row for each run, client, outcome and way to take it."""
    members = {one.name: one for one in sample.members if one.arm in plan.contrast}
    for outcome, name in named_outcomes(plan.outcomes).items():
        own = _of(outcome, measured)
        for (run, client), rows in own.groupby(["run", "client"], observed=True):
            member = members.get(str(run))
            way = plan.way_of.get(str(run))
            if member is None or way is None:
                continue
            points = points_of(rows)["value"]
            for time, baseline in itertools.product(plan.choices.times, plan.choices.baselines):
                yield {
                    "run": member.name,
                    "client": str(client),
                    "arm": member.arm,
                    **way.levels,
                    SEED: str(member.seed),
                    "outcome": name,
                    "time": time,
                    "baseline": baseline,
                    "value": _value(points, time, baseline),
                    "before": points.get(BASELINE),
                }


def _of(outcome: Outcome, measured: pd.DataFrame) -> pd.DataFrame:
    own = measured[
        (measured["instrument"] == outcome.instrument) & (measured["score"] == outcome.score)
    ]
    for key in ("respondent", "judge"):
        wanted = getattr(outcome, key)
        own = own if wanted is None else own[own[key].astype(str) == wanted]
    answered = sorted(set(own["respondent"].astype(str)))
    if len(answered) > 1:
        raise ReportError(
            f"{outcome.instrument}.{outcome.score} is answered by several ({', '.join(answered)});"
            " name each as an outcome of its own, with `respondent`"
        )
    return own


def _value(points: "pd.Series[float]", time: Time, baseline: Baseline) -> float | None:
    """One client's value in a run; None where it was not measured so."""
    after = points.drop(index=BASELINE, errors="ignore")
    if not len(after) or (baseline != "ignored" and BASELINE not in points.index):
        return None
    value = float(after.iloc[-1] if time == "last" else after.mean())
    return value - float(points[BASELINE]) if baseline == "subtracted" else value


def _each(
    plan: Universes, values: pd.DataFrame, grouped: dict[Any, pd.DataFrame], unit: str, turned: bool
) -> Iterator[Specification]:
    names = named_outcomes(plan.outcomes)
    for way, seed, outcome in itertools.product(plan.ways, plan.seeds, plan.outcomes):
        for time, baseline, runs in itertools.product(
            plan.choices.times, plan.choices.baselines, plan.choices.runs
        ):
            key = (*way.levels.values(), str(seed), names[outcome], time, baseline)
            rows = grouped.get(key, values.iloc[0:0])
            rows = rows[rows["clean"]] if runs != "all" else rows
            levels = dict(zip(CHOICES, (*key, runs), strict=True))
            sign = -1 if turned and outcome.better == "lower" else 1
            yield _specification(rows, plan.contrast, levels, unit, sign)


def _once_each(
    found: tuple[Specification, ...],
) -> tuple[tuple[Specification, ...], tuple[str, ...]]:
    """Without the levels of a choice of analysis that change nothing anywhere, which would count
    the same effects several times; and which these are, in sentences.
    """
    notes = []
    for choice in (one for one in CHOICES if one in ("outcome", "time", "baseline", "runs")):
        kept: dict[str, list[Specification]] = {}
        for level in dict.fromkeys(one.levels[choice] for one in found):
            own = [one for one in found if one.levels[choice] == level]
            same = (name for name, others in kept.items() if all(map(_alike, others, own)))
            if (as_ := next(same, None)) is None:
                kept[level] = own
            else:
                notes.append(
                    f"{choice}: {level} is the same as {as_} in every specification, and counts"
                    " once."
                )
        found = tuple(one for one in found if one.levels[choice] in kept)
    return found, tuple(notes)


def _alike(one: Specification, other: Specification) -> bool:
    """Whether two effects are one, taken twice."""
    pairs = zip(
        (one.estimate, one.low, one.high), (other.estimate, other.low, other.high), strict=True
    )
    return all(
        a == b if a is None or b is None else math.isclose(a, b, abs_tol=1e-9) for a, b in pairs
    )


def _specification(
    rows: pd.DataFrame, contrast: Sequence[str], levels: dict[str, str], unit: str, sign: int
) -> Specification:
    known = rows.dropna(subset=["value"])
    if not len(known):
        return Specification(levels=levels, estimate=None, reason="not measured so in these runs")
    known = known.assign(value=sign * known["value"].astype(float))
    if levels["baseline"] == "covariate":
        done, means = adjusted(known.assign(baseline=sign * known["before"]), contrast)
    else:
        done = client_contrast(known, contrast[0], contrast[1])
        means = by_client(known, contrast).means
    counted = done.n.get("clients", sum(done.n.values()))
    points = unit == "points"
    estimate, low, high = (
        (done.difference, done.low, done.high) if points else (done.g, done.g_low, done.g_high)
    )
    return Specification(
        levels=levels,
        estimate=estimate,
        low=low,
        high=high,
        p=done.p,
        clients=counted,
        reason=done.reason,
        means=means,
    )
