"""Figures of what judges and people said of corpora; each names who gave the numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.corpora.pictures import in_words, legend
from analysis.corpora.scores import dimensions, limits, who_rated
from analysis.page import records
from analysis.style import (
    MARKERS,
    Look,
    Picture,
    broken,
    mean_with_interval,
    picture,
    small_multiples,
)
from simcounsel.specs.scale import Scale

MOST_DOTS = 150
MOST_PANELS = 6
MOST_SCORES = 12
"""Of an instrument with more scores only these are drawn; all are in the tables."""


def quality(
    id: str,
    scale: Scale,
    judge: str,
    dialogues: pd.DataFrame,
    summary: pd.DataFrame,
    names: Sequence[str],
) -> Picture:
    """Each score by group: dialogues as dots, the mean and its 95% interval. A score that nobody
    got is left out.
    """
    cells = {(row["corpus"], row["dimension"]): row for row in records(summary)}
    known = {id for (_, id), row in cells.items() if row["value"] is not None}
    every = dimensions(scale)
    scores = ([one for one in every if one[0] in known] or every)[:MOST_SCORES]
    alt = "; ".join(
        f"{words}: "
        + ", ".join(f"{name} {in_words(cells[name, dimension]['value'])}" for name in names)
        for dimension, words in scores
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(scores), 3, 0.55 + 0.42 * len(names), sharey=True
        )
        for axes, (dimension, words) in zip(panels, scores, strict=True):
            for place, name in enumerate(reversed(names)):
                own = (
                    dialogues[
                        (dialogues["corpus"] == name) & (dialogues["dimension"] == dimension)
                    ]["value"]
                    .dropna()
                    .to_numpy()[:MOST_DOTS]
                )
                _row(axes, look, place, own, cells[name, dimension], len(names) - 1 - place)
            axes.set_title(broken(words, 30))
            _ruled(axes, "x", limits(scale, dimension))
            axes.set_ylim(-0.6, len(names) - 0.4)
            axes.set_yticks(range(len(names)), [broken(name, 20) for name in reversed(names)])
        return figure

    return picture(id, who_rated(scale, judge), alt, draw)


def _ruled(axes: Axes, which: Literal["x", "y"], ends: tuple[float, float] | None) -> None:
    """An axis from the least to the greatest that a score can be, where that is known."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    if ends is None:
        axis.set_major_locator(mpl.ticker.MaxNLocator(4))
        return
    low, high = ends
    spare = 0.035 * (high - low)
    (axes.set_xlim if which == "x" else axes.set_ylim)(low - spare, high + spare)
    whole = next((parts for parts in (3, 4, 5, 2) if (high - low) % parts == 0), None)
    axis.set_major_locator(
        mpl.ticker.FixedLocator(np.linspace(low, high, whole + 1).tolist())
        if whole
        else mpl.ticker.MaxNLocator(4)
    )


def _row(
    axes: Axes,
    look: Look,
    at: float,
    values: "np.ndarray[Any, Any]",
    cell: Mapping[str, Any],
    index: int,
) -> None:
    """One group of one panel."""
    color, value = look.color(index), cell["value"]
    offsets = np.linspace(0.0, 0.26, len(values)) if len(values) > 1 else np.zeros(len(values))
    axes.scatter(values, at + offsets, s=9, color=color, alpha=0.4, linewidths=0, zorder=2)
    if value is None:
        return
    ends = None if cell["low"] is None else (cell["low"], cell["high"])
    mean_with_interval(axes, look, at - 0.2, value, ends, index)


def differences(scale: Scale, judge: str, contrasts: pd.DataFrame) -> Picture | None:
    """Groups against each other: the mean difference in points and its 95% interval, a panel a
    pair; at most six panels.
    """
    scores = dimensions(scale)[:MOST_SCORES]
    pairs = list(dict.fromkeys(zip(contrasts["first"], contrasts["second"], strict=True)))[
        :MOST_PANELS
    ]
    known = contrasts.dropna(subset=["difference"])
    pairs = [
        pair
        for pair in pairs
        if len(known[(known["first"] == pair[0]) & (known["second"] == pair[1])])
    ]
    if not pairs:
        return None
    rows = {(row["first"], row["second"], row["dimension"]): row for row in records(known)}
    alt = "; ".join(
        f"{first} minus {second}: "
        + ", ".join(
            f"{dimension} {in_words(rows[first, second, dimension]['difference'])}"
            for dimension, _ in scores
            if (first, second, dimension) in rows
        )
        for first, second in pairs
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(pairs), 3, 0.9 + 0.2 * len(scores), sharex=True, sharey=True
        )
        for axes, (first, second) in zip(panels, pairs, strict=True):
            axes.axvline(0, color=look.faint, linewidth=1, zorder=1)
            for place, (dimension, _) in enumerate(reversed(scores)):
                row = rows.get((first, second, dimension))
                if row is None:
                    continue
                if row["low"] is not None:
                    axes.plot(
                        [row["low"], row["high"]],
                        [place, place],
                        color=look.color(0),
                        linewidth=2,
                        solid_capstyle="butt",
                    )
                axes.plot([row["difference"]], [place], "D", color=look.color(0), markersize=5.5)
            axes.set_title(f"{broken(first, 26)}\nminus {broken(second, 26)}")
            axes.set_ylim(-0.6, len(scores) - 0.4)
            axes.set_yticks(range(len(scores)), [name for name, _ in reversed(scores)])
            axes.tick_params(labelbottom=True)
        return figure

    title = f"{who_rated(scale, judge)}: differences in points, with their 95% intervals"
    return picture(f"differences_{scale.id}", title, alt, draw)


def agreement(
    scale: Scale, judge: str, pairs: pd.DataFrame, names: Sequence[str]
) -> Picture | None:
    """Judge against people, a dot a dialogue."""
    if not len(pairs):
        return None
    scores = dimensions(scale)[:MOST_SCORES]
    alt = "; ".join(
        f"{words}: {(pairs['dimension'] == dimension).sum()} dialogues"
        for dimension, words in scores
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(scores), 3, 2.5)
        for axes, (dimension, words) in zip(panels, scores, strict=True):
            ends = limits(scale, dimension)
            if ends is not None:
                axes.plot(ends, ends, color=look.faint, linewidth=1, zorder=1)
            for index, name in enumerate(names):
                own = pairs[(pairs["dimension"] == dimension) & (pairs["corpus"] == name)]
                style: Any = {
                    "marker": MARKERS[index % 6],
                    "color": look.color(index),
                    "label": name,
                }
                axes.scatter(own["people"], own["judge"], s=14, alpha=0.65, linewidths=0, **style)
            axes.set_title(broken(words, 30))
            _ruled(axes, "x", ends)
            _ruled(axes, "y", ends)
            axes.set_xlabel("people")
            axes.set_ylabel("judge")
        if len(names) > 1:
            legend(figure, panels[0], look)
        return figure

    return picture(
        f"agreement_{scale.id}",
        f"{who_rated(scale, judge)}, and people on the same dialogues; on the line both say the"
        " same",
        alt,
        draw,
    )
