"""Charts of what clients do: shares of the time before and after, what follows what, and why so
many clusters.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.clustering import AGREED, elbow
from analysis.patterns import ActivityPatterns, shares, transitions
from analysis.statistics import spread
from analysis.style import MARKERS, Look, Picture, broken, picture, small_multiples


def activity_shares(
    patterns: ActivityPatterns, arm_of: Mapping[str, str], arms: Sequence[str]
) -> Picture:
    """Like SimCounsel's Figure 5: for each arm and cluster the share before (hollow) and after
    (filled), mean over clients.
    """
    table = shares(patterns)
    table["arm"] = table["run"].astype(str).map(arm_of)
    keys = ["arm", "client", "cluster", "period"]
    table = table.groupby(keys, observed=True)["share"].mean().reset_index()
    names = [f"C{c.number} {c.name}" for c in patterns.clusters]
    means = table.groupby(["arm", "cluster", "period"], observed=True)["share"].agg(list)
    alt = "; ".join(
        f"{arm}, {names[c]}: {_percent(means, arm, c, 'before')} before,"
        f" {_percent(means, arm, c, 'after')} after"
        for arm in arms
        for c in range(len(names))
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(arms), 3, 0.75 + 0.4 * len(names), sharex=True, sharey=look.wide
        )
        for axes, (index, arm) in zip(panels, enumerate(arms), strict=True):
            clients = table[table["arm"] == arm]["client"].nunique()
            for cluster in range(len(names)):
                _before_after(axes, look, len(names) - 1 - cluster, means, arm, cluster, index)
            axes.set_title(f"{broken(arm, 24)} (n={clients})")
            axes.set_ylim(-0.6, len(names) - 0.4)
            axes.set_yticks(range(len(names)), [broken(name, 26) for name in reversed(names)])
            axes.set_xlabel("share of the time" if look.wide is False or index == 0 else "")
            axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
            axes.locator_params(axis="x", nbins=4)
            axes.tick_params(labelbottom=True)
        return figure

    return picture(
        "activities",
        "Activity clusters before (hollow) and after (filled), mean over clients; bars: 95%"
        " interval after",
        alt,
        draw,
    )


def _percent(means: "pd.Series[Any]", arm: str, cluster: int, period: str) -> str:
    values = means.get((arm, cluster, period))
    return "none" if values is None else f"{100 * float(np.mean(values)):.0f}%"


def _before_after(
    axes: Axes, look: Look, at: float, means: "pd.Series[Any]", arm: str, cluster: int, index: int
) -> None:
    before, after = (means.get((arm, cluster, period)) for period in ("before", "after"))
    color, marker = look.color(index), MARKERS[index % len(MARKERS)]
    if before is not None and after is not None:
        axes.plot(
            [float(np.mean(before)), float(np.mean(after))],
            [at, at],
            color=look.faint,
            linewidth=2,
            zorder=1,
        )
    if after is not None:
        whole = spread(arm, after)
        if whole.low is not None and whole.high is not None:
            axes.plot(
                np.clip([whole.low, whole.high], 0, 1),
                [at - 0.2] * 2,
                color=color,
                linewidth=1.4,
                alpha=0.7,
                zorder=2,
            )
        axes.plot([float(np.mean(after))], [at], marker, color=color, markersize=6.5, zorder=4)
    if before is not None:
        axes.plot(
            [float(np.mean(before))],
            [at],
            marker,
            markerfacecolor=look.ground,
            markeredgecolor=color,
            markersize=6.5,
            zorder=3,
        )


def followed(patterns: ActivityPatterns, arm_of: Mapping[str, str], arms: Sequence[str]) -> Picture:
    """What follows what, before and after: of all ticks in a cluster (row) the share whose next
    tick lies in another one (column), or the same. Mean over clients.
    """
    table = transitions(patterns)
    table["arm"] = table["run"].astype(str).map(arm_of)
    counted = table.groupby(["arm", "client", "period", "cluster", "then"], observed=True)["count"]
    counts = counted.sum().reset_index()
    own = counts.groupby(["arm", "client", "period", "cluster"], observed=True)["count"]
    counts["share"] = counts["count"] / own.transform("sum")
    shown = [(arm, period) for arm in arms for period in ("before", "after")]
    grids = {one: _grid(counts, one, len(patterns.clusters)) for one in shown}
    names = [f"C{c.number} {c.name}" for c in patterns.clusters]
    alt = "; ".join(
        f"{arm}, {period}, {names[i]} then {names[j]}: {100 * grids[arm, period][i, j]:.0f}%"
        for arm, period in shown
        for i in range(len(names))
        for j in range(len(names))
        if grids[arm, period][i, j] >= 0.1
    )

    def draw(look: Look) -> Figure:
        size = 0.9 + 0.3 * len(names)
        figure, panels = small_multiples(look, len(shown), 2, size)
        for axes, one in zip(panels, shown, strict=True):
            _matrix(axes, look, grids[one], names)
            axes.set_title(f"{broken(one[0], 24)}, {one[1]}")
        return figure

    return picture(
        "transitions",
        "What follows what: of the time in a cluster (row), the share that goes on in each"
        " (column), percent, mean over clients",
        alt,
        draw,
    )


def _grid(counts: pd.DataFrame, one: tuple[str, str], size: int) -> "np.ndarray[Any, Any]":
    """Shares from (row) to (column); missing where nobody was there."""
    here = counts[(counts["arm"] == one[0]) & (counts["period"] == one[1])]
    grid = np.full((size, size), np.nan)
    for cluster in range(size):
        rows = here[here["cluster"] == cluster]
        if len(rows):
            there = max(1, rows["client"].nunique())
            sums = rows.groupby("then")["share"].sum() / there
            grid[cluster] = [float(sums.get(then, 0.0)) for then in range(size)]
    return grid


def _matrix(axes: Axes, look: Look, grid: "np.ndarray[Any, Any]", names: Sequence[str]) -> None:
    """Cells as squares whose area is the share, with the number where it is 10% or more: to be
    read without color.
    """
    size = len(names)
    for i in range(size):
        for j in range(size):
            share = grid[i, j]
            if not share > 0:
                continue
            side = 0.92 * float(np.sqrt(share))
            corner = (j - side / 2, size - 1 - i - side / 2)
            axes.add_patch(
                mpl.patches.Rectangle(
                    corner, side, side, facecolor=look.color(0), alpha=0.45, linewidth=0
                )
            )
            if share >= 0.1:
                axes.text(
                    j, size - 1 - i, f"{100 * share:.0f}", ha="center", va="center", fontsize=7
                )
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(-0.5, size - 0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(size), [f"C{k}" for k in range(size)])
    axes.set_yticks(range(size), [broken(name, 22) for name in reversed(names)])
    axes.tick_params(labelsize=7)


def how_many(patterns: ActivityPatterns) -> Picture:
    """Why this number of clusters: agreement of half samples, silhouettes beside it."""
    fits = patterns.fits
    bend = elbow([fit.inertia for fit in fits])
    alt = f"{patterns.k} clusters; the elbow would be at {bend}; " + "; ".join(
        f"k {f.k}: inertia {f.inertia:.1f}"
        + (f", agreement {f.agreement:.2f}" if f.agreement is not None else "")
        + (f", silhouette {f.silhouette:.2f}" if f.silhouette is not None else "")
        for f in fits
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, 2, 2, 1.9)
        for at, (axes, name) in enumerate(zip(panels, ("agreement", "silhouette"), strict=True)):
            drawn = [(fit.k, getattr(fit, name)) for fit in fits if getattr(fit, name) is not None]
            axes.plot(
                [k for k, _ in drawn],
                [value for _, value in drawn],
                "os"[at] + "-",
                color=look.color(at),
                markersize=4,
                linewidth=1.4,
            )
            axes.axvline(patterns.k or 0, color=look.faint, linewidth=1, zorder=0)
            axes.set_title(("agreement of half samples", "mean silhouette")[at])
            axes.set_xlabel(f"number of clusters (chosen: {patterns.k})")
            axes.set_xticks([fit.k for fit in fits][:: 1 if len(fits) < 9 else 2])
        panels[0].axhline(AGREED, color=look.faint, linewidth=1, linestyle="--", zorder=0)
        return figure

    return picture(
        "clusters",
        "How many clusters: how far groupings of half samples agree, and how far clusters lie"
        f" apart (the elbow of the inertia: {bend})",
        alt,
        draw,
    )
