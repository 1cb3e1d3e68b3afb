"""The part of the page on choices that could as well have been others.

The curve as a whole: its median, its range, its signs, and how often as much would come by
chance alone.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis.errors import ReportError
from analysis.finding import find
from analysis.page import counted, num, percent
from analysis.statistics import holm
from analysis.style import Picture
from analysis.validity.multiverse.effects import CHOICES, EffectTable, Specification, effects
from analysis.validity.multiverse.pictures import curve_picture, shares_picture
from analysis.validity.multiverse.shares import NOISE, VarianceShare, shares
from analysis.validity.multiverse.universes import Universes
from analysis.validity.part import (
    Claim,
    ClaimVerdict,
    PartTable,
    ValidityPart,
    shown,
    sources,
    table_of,
)
from analysis.validity.runs import said_of
from simcounsel.specs.experiment import LEAST_CLIENTS

Floats = NDArray[np.float64]
EXACT_UP_TO = 12
"""Clients up to which all patterns of signs are taken."""
SHUFFLES = 4000
SEED = 20


@dataclass(frozen=True, kw_only=True)
class SpecificationCurve:
    """What all specifications say together."""

    count: int
    """Specifications with an estimate."""
    median: float
    least: float
    most: float
    inner: tuple[float, float]
    """Between which eight of ten estimates lie."""
    same: int
    """So many have the median's sign."""
    significant: int
    """So many of these have p < .05, each for itself."""
    against: int
    """So many have p < .05 with the other sign."""
    clients: int
    """In the specification that has fewest."""
    p_median: float | None = None
    """How often labels dealt again give a median as far from 0; None with fewer than six clients.
    """
    p_significant: float | None = None
    """How often they give as many effects beyond the critical t in one direction."""


def curve(found: Sequence[Specification]) -> SpecificationCurve | None:
    """None without any estimate."""
    values = np.array([one.estimate for one in found if one.estimate is not None], dtype=float)
    known = [one for one in found if one.estimate is not None]
    if not known:
        return None
    median = float(np.median(values))
    sign = np.sign(median)
    p = _joint(known)
    return SpecificationCurve(
        count=len(known),
        median=median,
        least=float(values.min()),
        most=float(values.max()),
        inner=(float(np.quantile(values, 0.1)), float(np.quantile(values, 0.9))),
        same=int((np.sign(values) == sign).sum()),
        significant=sum(one.significant and np.sign(one.estimate or 0) == sign for one in known),
        against=sum(one.significant and np.sign(one.estimate or 0) == -sign for one in known),
        clients=min(one.clients for one in known),
        p_median=p and p[0],
        p_significant=p and p[1],
    )


def _joint(known: Sequence[Specification]) -> tuple[float, float] | None:
    """p of the median and of the number of effects beyond the critical t, under labels dealt again:
    within each client, for all specifications alike, where conditions share clients, else over
    clients. None where there are too few clients.
    """
    clients = sorted({str(client) for one in known for client in one.means.index})
    first, second = (
        np.array([one.means.iloc[:, at].reindex(clients).to_numpy(float) for one in known])
        for at in (0, 1)
    )
    both = np.isfinite(first - second).any(axis=0)
    if both.sum() >= 2:
        differences = (first - second)[:, both]
        return _of(_flipped(differences), known) if both.sum() >= LEAST_CLIENTS else None
    values, is_first = np.where(np.isfinite(first), first, second), np.isfinite(first).any(axis=0)
    if min(is_first.sum(), (~is_first).sum()) < LEAST_CLIENTS:
        return None
    return _of(_dealt(values, is_first), known)


def _of(
    drawn: tuple[Floats, Floats, Floats], known: Sequence[Specification]
) -> tuple[float, float]:
    """drawn: mean differences and their t, a row a pattern, the observed one first; critical t."""
    differences, t, critical = drawn
    unit = np.array([one.estimate for one in known], dtype=float)
    scale = np.divide(unit, differences[0], out=np.ones_like(unit), where=differences[0] != 0)
    medians = np.abs(np.median(differences * scale, axis=1))
    beyond = np.maximum((t > critical).sum(axis=1), (t < -critical).sum(axis=1))
    return (float((medians >= medians[0] - 1e-12).mean()), float((beyond >= beyond[0]).mean()))


def _flipped(differences: Floats) -> tuple[Floats, Floats, Floats]:
    """The signs of clients flipped: all patterns, or so many by chance."""
    count = differences.shape[1]
    if count <= EXACT_UP_TO:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=count)))
    else:
        drawn = np.random.default_rng(SEED).choice((1.0, -1.0), size=(SHUFFLES, count))
        signs = np.vstack([np.ones(count), drawn])
    there = np.isfinite(differences)
    plain, n = np.where(there, differences, 0.0), there.sum(axis=1)
    means = signs @ plain.T / n
    spread = ((plain**2).sum(axis=1) - n * means**2) / np.maximum(n - 1, 1)
    return means, _t(means, spread / n), _critical(n - 1)


def _dealt(values: Floats, is_first: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Clients dealt to the two conditions again, in groups of the same size."""
    rng = np.random.default_rng(SEED)
    labels = np.array(
        [is_first, *(rng.permutation(is_first) for _ in range(SHUFFLES))], dtype=float
    )
    there = np.isfinite(values).astype(float)
    plain = np.where(there > 0, values, 0.0)
    moments = []
    for side in (labels, 1 - labels):
        n = np.maximum(side @ there.T, 1)
        mean = side @ plain.T / n
        spread = (side @ (plain**2).T - n * mean**2) / np.maximum(n - 1, 1)
        moments.append((mean, spread / n))
    (one, one_error), (other, other_error) = moments
    df = there.sum(axis=1) - 2
    return one - other, _t(one - other, one_error + other_error), _critical(df)


def _t(means: Floats, squared_error: Floats) -> Floats:
    error = np.sqrt(np.maximum(squared_error, 1e-18))
    return np.asarray(means / error, dtype=np.float64)


def _critical(df: NDArray[np.float64] | NDArray[np.int_]) -> Floats:
    return np.asarray(stats.t.ppf(0.975, np.maximum(df, 1)), dtype=np.float64)


MOST_ROWS = 14
"""On the page; all are in the CSV."""


def make(plan: Universes, runs: Path, command: str) -> tuple[ValidityPart, list[Picture]]:
    """The part and its figures, from runs that followed the plan. ReportError when no effect
    can be estimated.
    """
    sample = find([runs])
    found = effects(plan, sample)
    whole = curve(found.estimated)
    if whole is None:
        why = sorted({str(one.reason) for one in found.specifications})
        raise ReportError(f"{runs}: no effect can be estimated ({'; '.join(why)})")
    parts = shares(found.table(), found.chosen)
    drawn = [curve_picture(found, plan.contrast), shares_picture(parts)]
    pictures = [one for one in drawn if one is not None]
    said, of_sign = said_of([runs]), sign(plan.contrast, whole)
    part = ValidityPart(
        id="multiverse",
        title="Does the effect hang on choices?",
        lead=_lead(plan, found, whole, parts),
        claims=(of_sign, size(whole, of_sign.verdict), choices(parts, whole)),
        tables=(_summary(found, whole), _shares_table(parts), _specifications(found)),
        figures=shown(pictures),
        notes=(*_notes(found), *said.notes),
        labels=said.labels,
        toys=said.toys,
        sources=sources("multiverse"),
        command=command,
    )
    return part, pictures


def _lead(
    plan: Universes, found: EffectTable, whole: SpecificationCurve, parts: Sequence[VarianceShare]
) -> tuple[str, ...]:
    noise = next((one.share for one in parts if one.of == NOISE), None)
    seeds = (
        f" Seeds alone, which nobody chooses for a reason, make {percent(noise)} of its variance."
        if noise is not None and len(plan.seeds) > 1
        else " With one seed, what choices do cannot be told from noise: give two at least."
    )
    effect = " minus ".join(plan.contrast)
    return (
        f"{plan.experiment.name}: {effect}, in {counted(whole.count, 'specification')}: every"
        f" combination of {', '.join(found.chosen) or 'nothing that was varied'}. The"
        f" experiment was run in {counted(len(plan.ways), 'way')} with"
        f" {counted(len(plan.seeds), 'seed')} each.",
        f"The median effect is {num(whole.median)} {found.unit}, from {num(whole.least)} to"
        f" {num(whole.most)}; {whole.same} of {whole.count} have its sign, {whole.significant} of"
        f" these with p < .05, each for itself.{seeds}",
    )


def _summary(found: EffectTable, whole: SpecificationCurve) -> PartTable:
    row = {
        "specifications": whole.count,
        "median": whole.median,
        "least": whole.least,
        "10%": whole.inner[0],
        "90%": whole.inner[1],
        "most": whole.most,
        "with the median's sign": whole.same,
        "of these p < .05": whole.significant,
        "p < .05 against it": whole.against,
        "p of the median": whole.p_median,
        "p of as many": whole.p_significant,
    }
    return table_of(
        "multiverse_curve",
        "The curve in numbers",
        pd.DataFrame([row]),
        note=f"Effects in {found.unit}. p of the median, and of as many effects beyond the critical"
        " t: how often labels of the two conditions, dealt again to each client for all"
        " specifications alike, give as much.",
    )


def _shares_table(parts: Sequence[VarianceShare]) -> PartTable:
    rows = [
        {
            "choice": one.of,
            "share": one.share,
            "beyond noise": one.beyond,
            "times noise": one.f,
            "p": one.p,
            "df": one.df,
            "sum of squares": one.squares,
        }
        for one in sorted(parts, key=lambda one: (one.together, -(one.share or 0.0)))
    ]
    columns = ["choice", "share", "beyond noise", "times noise", "p", "df", "sum of squares"]
    return table_of(
        "multiverse_shares",
        "Of the variance of the effect, from each choice",
        pd.DataFrame(rows, columns=columns),
        note="Sums of squares over specifications, type II. Noise is what differs between seeds of"
        " the same choices; beyond it: without what noise alone would give. Prompts, model and"
        " temperature are held against what differs between runs, choices of analysis against what"
        " they do differently from seed to seed.",
        most=MOST_ROWS,
        aside=("sum of squares",),
    )


def _specifications(found: EffectTable) -> PartTable:
    frame = found.table().sort_values("estimate", kind="stable")
    return table_of(
        "multiverse_specifications",
        "Every specification",
        frame,
        note=f"Effects in {found.unit}, with 95% over clients; no p with fewer than"
        f" {LEAST_CLIENTS} clients.",
        most=MOST_ROWS,
        aside=[one for one in frame.columns[: len(CHOICES)] if one not in found.chosen],
    )


def _notes(found: EffectTable) -> tuple[str, ...]:
    without = [one for one in found.specifications if one.estimate is None]
    reasons = ", ".join(sorted({str(one.reason) for one in without}))
    left_out = (f"{counted(len(without), 'specification')} without an estimate: {reasons}",)
    return (*found.notes, *(left_out if without else ()))


WITHIN = (0.5, 1.5)
"""Of the median: so much may eight of ten estimates differ for the size to hold."""
ALPHA = 0.05


def _few(whole: SpecificationCurve) -> str | None:
    if whole.clients >= LEAST_CLIENTS:
        return None
    return f"{counted(whole.clients, 'client')}, and {LEAST_CLIENTS} are the least"


def sign(contrast: Sequence[str], whole: SpecificationCurve) -> Claim:
    """Held by all signs and a curve that chance does not give; not where signs part."""
    because = (
        f"{whole.same} of {whole.count} have the median's sign, {whole.against} have p < .05"
        " against it"
    )
    verdict: ClaimVerdict = "undecided"
    if (few := _few(whole)) is not None:
        because += f"; {few}"
    elif whole.against or whole.same < 0.75 * whole.count:
        verdict = "does not hold"
    elif whole.same == whole.count and whole.p_median is not None:
        because += f"; with labels dealt again a median as far from 0: p = {num(whole.p_median)}"
        verdict = "holds" if whole.p_median < ALPHA else "undecided"
    return Claim(
        statement=f"The effect ({' minus '.join(contrast)}) has the same sign whatever was chosen",
        verdict=verdict,
        because=because,
    )


def size(whole: SpecificationCurve, of_sign: ClaimVerdict) -> Claim:
    """Held where the sign is and eight of ten estimates are within half of the median; not where
    they reach 0.
    """
    low, high = sorted(end / whole.median for end in whole.inner) if whole.median else (0.0, 0.0)
    verdict: ClaimVerdict = "undecided"
    because = (
        f"eight of ten estimates lie between {num(whole.inner[0])} and {num(whole.inner[1])},"
        f" median {num(whole.median)}"
    )
    if (few := _few(whole)) is not None:
        because += f"; {few}"
    elif not whole.median or low <= 0:
        verdict = "does not hold"
    elif low >= WITHIN[0] and high <= WITHIN[1] and of_sign == "holds":
        verdict = "holds"
    return Claim(
        statement="Its size holds too (within half of the median, for eight of ten specifications)",
        verdict=verdict,
        because=because,
    )


def choices(parts: Sequence[VarianceShare], whole: SpecificationCurve) -> Claim:
    """Not held where a choice moves the effect more than seeds do (Holm over the choices)."""
    statement = "No choice moves the effect more than another seed does"
    mains = [one for one in parts if not one.together and one.p is not None]
    if (few := _few(whole)) is not None or not mains:
        why = few or "no choice can be held against seeds: two seeds at least, and a choice"
        return Claim(statement=statement, verdict="undecided", because=why)
    corrected = holm([one.p for one in mains])
    clear = [one for one, p in zip(mains, corrected, strict=True) if p is not None and p < ALPHA]
    largest = max(clear or mains, key=lambda one: one.share or 0.0)
    return Claim(
        statement=statement,
        verdict="does not hold" if clear else "undecided",
        because=f"{largest.of}: {percent(largest.share)} of the variance, "
        + (f"{num(largest.f)} times as much as noise would give" if largest.f else "and seeds none")
        + ("" if clear else "; that it is no more is not shown by that"),
    )
