"""An effect taken apart by channel: of a planned contrast, how much is gone where one thing is cut.

A condition that is the contrast's first one with something cut in people (`do`) is a channel. Its
part is the first condition minus it, each client with themselves. What the parts do not add up to
is said: less where channels stand in for each other, more where something else carries.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from analysis.page import interval, num, percent
from analysis.planned import rows_of
from analysis.statistics import Contrast, by_client, client_contrast
from analysis.style import Look, Picture, broken, picture, small_multiples
from simcounsel.specs.experiment import LEAST_CLIENTS, Change, Hypothesis
from simcounsel.specs.sweep_plan import PlannedArm, SweepPlan

WHOLE, REST = "whole effect", "does not add up"


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of an effect."""

    hypothesis: Hypothesis
    of: str
    """The condition in which it is cut; WHOLE, or REST for what the parts leave."""
    cut: str
    """What is cut there, in words; '' for WHOLE and REST."""
    found: Contrast
    """In the score's unit, over clients."""
    share: float | None
    """Of the whole effect; None where that is 0, or there is none."""


def channels(
    experiment: SweepPlan, outcomes: pd.DataFrame, changed: Callable[[Change], pd.DataFrame]
) -> list[Part]:
    """The parts of every planned contrast of two conditions of which one is cut in others; []
    without any. outcomes, changed: as of `planned.test_planned`.
    """
    return [
        part
        for one in experiment.hypotheses
        for part in _of(one, experiment, changed(one.change) if one.change else outcomes)
    ]


def _of(hypothesis: Hypothesis, experiment: SweepPlan, outcomes: pd.DataFrame) -> Iterator[Part]:
    cut = _cut_arms(hypothesis, experiment.arms)
    if not cut:
        return
    rows, _, unclear = rows_of(hypothesis, outcomes)
    first, second = hypothesis.contrast[:2]
    names = [first, second, *(arm.name for arm in cut)]
    means = by_client(rows, names).shared
    parts = {WHOLE: means[first] - means[second]}
    parts |= {arm.name: means[first] - means[arm.name] for arm in cut}
    parts[REST] = parts[WHOLE] - sum(parts[arm.name] for arm in cut)
    level = 1 - hypothesis.alpha
    whole = _clear(_over_clients(parts[WHOLE], level, unclear))
    words = {arm.name: ", ".join(arm.do) for arm in cut}
    for name, values in parts.items():
        found = _over_clients(values, level, unclear)
        part = found.difference
        share = part / whole + 0.0 if part is not None and whole else None
        yield Part(
            hypothesis=hypothesis, of=name, cut=words.get(name, ""), found=found, share=share
        )


def _cut_arms(hypothesis: Hypothesis, arms: Iterable[PlannedArm]) -> list[PlannedArm]:
    """The conditions that are the contrast's first one with something cut."""
    if len(hypothesis.contrast) > 2:
        return []
    named = {arm.name: arm for arm in arms}
    first = named.get(hypothesis.contrast[0])
    if first is None or first.do:
        return []
    others = [arm for arm in named.values() if arm.name not in hypothesis.contrast]
    return [arm for arm in others if arm.do and arm.changes == first.changes]


def _clear(whole: Contrast) -> float | None:
    """The whole effect, where it is beyond doubt; else None: of nothing there are no shares."""
    if whole.low is None or whole.high is None or whole.n.get("clients", 0) < LEAST_CLIENTS:
        return None
    return None if whole.low <= 0 <= whole.high else whole.difference


def _over_clients(values: "pd.Series[float]", level: float, unclear: str | None) -> Contrast:
    """A mean over clients with its interval: each client's difference against 0."""
    table = pd.DataFrame(
        {
            "client": [*values.index, *values.index],
            "arm": ["part"] * len(values) + ["none"] * len(values),
            "value": [*values.astype(float), *([0.0] * len(values))],
        }
    )
    if not len(values):
        why = unclear or "no client was measured in all of these conditions"
        return Contrast(test="clients", first="part", second="none", reason=why)
    return client_contrast(table, "part", "none", level=level)


def sentences(parts: Sequence[Part]) -> Iterator[str]:
    """Each effect with its parts, in words."""
    for hypothesis in dict.fromkeys(part.hypothesis.id for part in parts):
        whole, *others, rest = [part for part in parts if part.hypothesis.id == hypothesis]
        if whole.share is None:
            why = whole.found.reason or "there is no effect beyond doubt"
            yield f"{hypothesis} cannot be taken apart: {why}."
            continue
        each = "; ".join(
            f"{_said(one)} ({percent(one.share)}) is gone in {one.of}" for one in others
        )
        yield f"{hypothesis}: of {_said(whole)}, {each}; {_said(rest)} does not add up."


def _said(part: Part) -> str:
    known = part.found.low is not None
    bounds = f" {interval(part.found.low, part.found.high)}" if known else ""
    return f"{num(part.found.difference)}{bounds}"


def parts_picture(parts: Sequence[Part]) -> Picture | None:
    """Each part of each effect with its interval; None without any."""
    shown = [one for one in parts if one.found.difference is not None]
    if not shown:
        return None
    several = len({one.hypothesis.id for one in shown}) > 1
    names = [f"{one.hypothesis.id}, {one.of}" if several else one.of for one in shown]
    alt = "; ".join(f"{name}: {_said(one)}" for name, one in zip(names, shown, strict=True))

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.7 + 0.5 * len(shown))
        for row, one in enumerate(reversed(shown)):
            value, color = one.found.difference or 0.0, look.color(1 if one.cut else 0)
            axes.barh(row, value, height=0.5, color=color, alpha=0.35)
            if one.found.low is not None and one.found.high is not None:
                axes.plot([one.found.low, one.found.high], [row, row], color=color, linewidth=2)
            axes.plot([value], [row], "D", color=color, markersize=6)
        axes.axvline(0, color=look.faint, linewidth=1, zorder=0)
        axes.set_yticks(range(len(shown)), [broken(name, 26) for name in reversed(names)])
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xlabel("points of the score")
        return figure

    return picture("channels", "The effect by channel, with 95% intervals", alt, draw)


def channel_table(parts: Iterable[Part]) -> pd.DataFrame:
    """One row a part."""
    columns = ["hypothesis", "of", "cut", "estimate", "low", "high", "p", "share", "n", "reason"]
    rows = [
        {
            "hypothesis": one.hypothesis.id,
            "of": one.of,
            "cut": one.cut,
            "estimate": one.found.difference,
            "low": one.found.low,
            "high": one.found.high,
            "p": one.found.p,
            "share": one.share,
            "n": one.found.n.get("clients", 0),
            "reason": one.found.reason,
        }
        for one in parts
    ]
    return pd.DataFrame(rows, columns=columns)
