"""Figures of corpora in the style of all reports: wide and narrow, light and dark, told in words as
well.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.corpora.counted import SPREAD, Counted
from analysis.corpora.quality import dimensions
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
from simcounsel.corpus.disclosure import STEPS, Curve

MOST_DOTS = 150
MOST_LINES = 12
MOST_PANELS = 6
Table = pd.DataFrame


def quality(id: str, title: str, dialogues: Table, summary: Table, names: Sequence[str]) -> Picture:
    """Each dimension by group: dialogues as dots, the mean and its 95% interval."""
    cells = {(row["corpus"], row["dimension"]): row for row in records(summary)}
    alt = "; ".join(
        f"{words}: "
        + ", ".join(f"{name} {_number(cells[name, dimension]['value'])}" for name in names)
        for dimension, words in dimensions()
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, 5, 3, 0.55 + 0.42 * len(names), sharex=True, sharey=True
        )
        for axes, (dimension, words) in zip(panels, dimensions(), strict=True):
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
            axes.set_xlim(0.7, 10.3)
            axes.set_xticks([1, 4, 7, 10])
            axes.tick_params(labelbottom=True)
            axes.set_ylim(-0.6, len(names) - 0.4)
            axes.set_yticks(range(len(names)), [broken(name, 20) for name in reversed(names)])
        return figure

    return picture(id, title, alt, draw)


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


def differences(contrasts: Table) -> Picture | None:
    """Groups against each other: the mean difference in points and its 95% interval, a panel a
    pair; at most six panels.
    """
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
            f"{dimension} {_number(rows[first, second, dimension]['difference'])}"
            for dimension, _ in dimensions()
            if (first, second, dimension) in rows
        )
        for first, second in pairs
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(pairs), 3, 1.9, sharex=True, sharey=True)
        for axes, (first, second) in zip(panels, pairs, strict=True):
            axes.axvline(0, color=look.faint, linewidth=1, zorder=1)
            for place, (dimension, _) in enumerate(reversed(dimensions())):
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
            axes.set_ylim(-0.6, 4.6)
            axes.set_yticks(range(5), [name for name, _ in reversed(dimensions())])
            axes.tick_params(labelbottom=True)
        return figure

    return picture("differences", "Differences in points, with their 95% intervals", alt, draw)


def agreement(pairs: Table, names: Sequence[str]) -> Picture | None:
    """Judge against people, a dot a dialogue."""
    if not len(pairs):
        return None
    alt = "; ".join(
        f"{words}: {(pairs['dimension'] == dimension).sum()} dialogues"
        for dimension, words in dimensions()
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, 5, 3, 2.5, sharex=True, sharey=True)
        for axes, (dimension, words) in zip(panels, dimensions(), strict=True):
            axes.plot([1, 10], [1, 10], color=look.faint, linewidth=1, zorder=1)
            for index, name in enumerate(names):
                own = pairs[(pairs["dimension"] == dimension) & (pairs["corpus"] == name)]
                style: Any = {
                    "marker": MARKERS[index % 6],
                    "color": look.color(index),
                    "label": name,
                }
                axes.scatter(own["people"], own["judge"], s=14, alpha=0.65, linewidths=0, **style)
            axes.set_title(broken(words, 30))
            axes.set_xlim(0.6, 10.4)
            axes.set_ylim(0.6, 10.4)
            axes.set_xticks([1, 4, 7, 10])
            axes.set_yticks([1, 4, 7, 10])
            axes.tick_params(labelbottom=True, labelleft=True)
            axes.set_xlabel("people")
            axes.set_ylabel("judge")
        if len(names) > 1:
            _legend(figure, panels[0], look)
        return figure

    return picture(
        "agreement",
        "Judge and people on the same dialogues; on the line both say the same",
        alt,
        draw,
    )


def opening_up(curves: Mapping[str, Mapping[str, Curve]]) -> Picture | None:
    """How much clients have told by when: by words of their file, by stages."""
    kinds = [kind for kind in ("words", "stages") if any(kind in one for one in curves.values())]
    if not kinds:
        return None
    drawn = {name: one for name, one in list(curves.items())[:MOST_LINES] if one}
    titles = {"words": "words of the client's file", "stages": "stages of disclosure, of six"}
    alt = "; ".join(
        f"{titles[kind]}, {name}: {one[kind].first:.0%} in the first line,"
        f" {one[kind].shares[STEPS // 2]:.0%} by half, {one[kind].shares[-1]:.0%} at the end"
        for kind in kinds
        for name, one in drawn.items()
        if kind in one
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(kinds), 2, 2.6, sharey=True)
        steps = [step / STEPS for step in range(STEPS + 1)]
        for axes, kind in zip(panels, kinds, strict=True):
            for index, (name, one) in enumerate(drawn.items()):
                if kind in one:
                    axes.plot(
                        steps,
                        one[kind].shares,
                        "-" if index < 6 else "--",
                        marker=MARKERS[index % 6],
                        markersize=4,
                        linewidth=1.4,
                        color=look.color(index),
                        label=name,
                    )
            axes.set_title(titles[kind])
            axes.set_xlabel("share of the client's lines")
            axes.tick_params(labelleft=True)
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
        panels[0].set_ylim(
            0,
            1.05
            * max(max(one[kind].shares) for one in drawn.values() for kind in kinds if kind in one)
            or 1,
        )
        if len(drawn) > 1:
            _legend(figure, panels[0], look)
        return figure

    return picture(
        "opening_up", "How much clients have told by when, mean over dialogues", alt, draw
    )


def distributions(counted: Counted, names: Sequence[str]) -> Picture:
    """Lines and lengths over dialogues: range, quartiles and median."""
    cells = {(row["corpus"], row["measure"]): row for row in records(counted.distributions)}
    medians = [
        f"{words}, {name}: median {_number(cells[name, column]['median'])}"
        for column, words in SPREAD
        for name in names
        if cells[name, column]["n"]
    ]

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(SPREAD), 3, 0.7 + 0.36 * len(names), sharey=True)
        for axes, (column, words) in zip(panels, SPREAD, strict=True):
            for place, name in enumerate(reversed(names)):
                cell, color = cells[name, column], look.color(len(names) - 1 - place)
                if cell["n"]:
                    axes.plot(
                        [cell["least"], cell["greatest"]], [place] * 2, color=color, linewidth=1
                    )
                    axes.plot(
                        [cell["first"], cell["third"]],
                        [place] * 2,
                        color=color,
                        linewidth=6,
                        alpha=0.55,
                        solid_capstyle="butt",
                    )
                    axes.plot([cell["median"]], [place], "o", color=color, markersize=5.5)
            axes.set_title(broken(words, 32))
            axes.set_xlim(0, None)
            axes.set_ylim(-0.6, len(names) - 0.4)
            axes.set_yticks(range(len(names)), [broken(name, 20) for name in reversed(names)])
            axes.locator_params(axis="x", nbins=5)
        return figure

    return picture(
        "distributions", "Over dialogues: range, quartiles and median", "; ".join(medians), draw
    )


def _legend(figure: Figure, axes: Axes, look: Look) -> None:
    """One legend for all panels, below them."""
    handles, labels = axes.get_legend_handles_labels()
    columns = 3 if look.wide else 1
    figure.legend(
        handles,
        [broken(label, 30) for label in labels],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=8.5,
    )


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f}"
