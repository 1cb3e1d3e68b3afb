"""Simulated effects beside real ones: each study by itself, and all of them together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from analysis import tables
from analysis.errors import ReportError
from analysis.finding import find
from analysis.outcomes import measured_outcomes
from analysis.planned import rows_of
from analysis.statistics import Effect, by_client, hedges_g, welch_t
from analysis.validity.truth.studies import Real, RealStudy, real_of
from simcounsel.specs.experiment import LEAST_CLIENTS, Hypothesis

FEWEST_STUDIES = 3
"""From which on all are put together."""


@dataclass(frozen=True, kw_only=True)
class ArmBeside:
    """The changes of one condition, simulated and real."""

    arm: str
    simulated: float
    real: float
    """Means, in points."""
    n_simulated: int
    n_real: int
    p_t: float | None
    """Welch's t test of the two means."""
    ks: float
    """Kolmogorov and Smirnov's distance of the two distributions, 0 to 1."""
    p_ks: float


@dataclass(frozen=True, kw_only=True)
class StudyBeside:
    """One study, simulated beside real."""

    study: RealStudy
    simulated: Effect
    """Of clients' changes, as if the conditions had other clients, as real groups have."""
    real: Real
    arms: tuple[ArmBeside, ...]
    clients: int
    """In the smaller condition of the simulation."""

    @property
    def difference(self) -> tuple[float, float, float] | None:
        """Simulated minus real g, with 95%; None where one has no interval. The errors are those of
        the two intervals, as if normal.
        """
        one, real = self.simulated, self.real.effect
        if one.g is None or one.low is None or one.high is None:
            return None
        if real.g is None or real.low is None or real.high is None:
            return None
        half = math.hypot(one.high - one.low, real.high - real.low) / 2
        return one.g - real.g, one.g - real.g - half, one.g - real.g + half

    @property
    def within(self) -> bool | None:
        """Whether the simulation's interval holds the real effect; None where that is unknown."""
        one, real = self.simulated, self.real.effect.g
        if one.low is None or one.high is None or real is None:
            return None
        return one.low <= real <= one.high


@dataclass(frozen=True, kw_only=True)
class Together:
    """What all studies say together."""

    studies: int
    correlation: float | None
    """Spearman's, of simulated and real effects."""
    slope: float | None
    """Of the real effect on the simulated one, by least squares: 1 where a larger simulated effect
    is as much of a larger real one. It, the intercept and the correlation: None where an effect is
    the same in all studies."""
    intercept: float | None
    error: float
    """Mean absolute difference, in standard deviations."""
    same_sign: int
    within: int
    """Studies of which the simulation's interval holds the real effect."""
    known: int
    """Studies of which that is known."""


def beside(study: RealStudy, folder: Path) -> StudyBeside:
    """A study's simulation beside it, of each client's first seed: a person of a real study has one
    score, and means over seeds would vary less. folder: from which files are seen. ReportError.
    """
    sample = find([folder / study.runs])
    outcomes = measured_outcomes(tables.measurements(sample.logs), sample)
    asked = Hypothesis(
        id=study.id, instrument=study.instrument, score=study.score,
        contrast=study.contrast, respondent=study.respondent,
    )  # fmt: skip
    rows, _, unclear = rows_of(asked, outcomes)
    if study.people is not None and set(rows["kind"].astype(str)) - {"change"}:
        raise ReportError(
            f"{folder / study.runs}: {study.instrument} was not measured at the beginning, so there"
            " is no change to hold beside people's; add `when: start`"
        )
    rows = rows.sort_values("seed", kind="stable").groupby(["arm", "client"], observed=True).head(1)
    means = by_client(rows, study.contrast).means if len(rows) else pd.DataFrame()
    own = [means[arm].dropna().tolist() if arm in means else [] for arm in study.contrast]
    if empty := [arm for arm, values in zip(study.contrast, own, strict=True) if not values]:
        there = ", ".join(sample.arms)
        raise ReportError(
            f"{folder / study.runs}: {unclear or f'no {study.instrument} in {empty[0]}'};"
            f" its conditions are {there}"
        )
    real = real_of(study, folder)
    arms = () if real.changes is None else tuple(map(_arm, study.contrast, own, real.changes))
    return StudyBeside(
        study=study,
        simulated=hedges_g(own[0], own[1]),
        real=real,
        arms=arms,
        clients=min(map(len, own)),
    )


def _arm(arm: str, simulated: Sequence[float], real: Sequence[float]) -> ArmBeside:
    done = stats.ks_2samp(simulated, real)
    return ArmBeside(
        arm=arm,
        simulated=float(np.mean(simulated)),
        real=float(np.mean(real)),
        n_simulated=len(simulated),
        n_real=len(real),
        p_t=welch_t(simulated, real).p if len(simulated) >= LEAST_CLIENTS else None,
        ks=float(done.statistic),
        p_ks=float(done.pvalue),
    )


def together(found: Sequence[StudyBeside]) -> Together | None:
    """All studies; None with fewer than three that have both effects."""
    pairs = [
        (float(one.simulated.g), float(one.real.effect.g))
        for one in found
        if one.simulated.g is not None and one.real.effect.g is not None
    ]
    if len(pairs) < FEWEST_STUDIES:
        return None
    simulated, real = np.array(pairs).T
    varies = np.ptp(simulated) > 1e-9 and np.ptp(real) > 1e-9
    slope, intercept = np.polyfit(simulated, real, 1) if varies else (None, None)
    known = [one.within for one in found if one.within is not None]
    return Together(
        studies=len(pairs),
        correlation=float(stats.spearmanr(simulated, real).statistic) if varies else None,
        slope=None if slope is None else float(slope),
        intercept=None if intercept is None else float(intercept),
        error=float(np.abs(simulated - real).mean()),
        same_sign=int((np.sign(simulated) == np.sign(real)).sum()),
        within=sum(known),
        known=len(known),
    )
