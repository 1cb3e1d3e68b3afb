"""The part of the page on choices that could as well have been others."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pandas as pd

from analysis.errors import ReportError
from analysis.finding import find
from analysis.page import counted, num, percent
from analysis.statistics import holm
from analysis.style import Picture
from analysis.validity.multiverse.curve import SpecificationCurve, curve
from analysis.validity.multiverse.effects import CHOICES, EffectTable, effects
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
        made=f"{datetime.now():%Y-%m-%dT%H:%M:%S}",
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
