"""The specification curve, and the shares of the choices."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.page import percent
from analysis.style import Look, Picture, broken, picture
from analysis.validity.multiverse.effects import EffectTable, Specification
from analysis.validity.multiverse.shares import VarianceShare

MOST_LEVELS = 12
"""Of a choice with more, such as many seeds, none is drawn in the matrix."""
LEAST_SHARE = 0.01
"""Of two choices together, to be drawn; single choices always are."""


def curve_picture(found: EffectTable, contrast: Sequence[str]) -> Picture:
    """Estimates with 95%, sorted, and below them what was chosen for each."""
    ordered = sorted(found.estimated, key=lambda one: one.estimate or 0.0)
    rows = _rows(found.estimated, found.chosen)
    clear = sum(one.significant for one in ordered)

    def draw(look: Look) -> Figure:
        high, step = 2.4, 0.19
        figure = Figure(
            figsize=(look.width, high + 0.5 + step * (len(rows) + 1)), layout="constrained"
        )
        if not rows:
            _estimates(figure.subplots(), look, ordered, found.unit, contrast)
            return figure
        above, below = figure.subplots(
            2, 1, sharex=True, height_ratios=[high, step * (len(rows) + 1)]
        )
        _estimates(above, look, ordered, found.unit, contrast)
        _matrix(below, look, ordered, rows)
        return figure

    values = [one.estimate for one in ordered if one.estimate is not None]
    return picture(
        "multiverse_curve",
        "The effect in every specification, and what was chosen in each",
        f"{len(ordered)} effects from {values[0]:.3g} to {values[-1]:.3g} {found.unit}, median"
        f" {np.median(values):.3g}; {clear} with p < .05 (filled); bars are 95% intervals",
        draw,
    )


def shares_picture(found: Sequence[VarianceShare]) -> Picture | None:
    """Of each choice, and of two together where it is much; None where the effect does not vary."""
    known = [
        one
        for one in found
        if one.share is not None and (not one.together or one.share >= LEAST_SHARE)
    ]
    if not known:
        return None
    largest = sorted(known, key=lambda one: -(one.share or 0.0))

    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 0.3 * len(largest) + 0.7), layout="constrained")
        axes = figure.subplots()
        for at, one in enumerate(reversed(largest)):
            axes.barh([at], [one.share or 0.0], height=0.62, color=look.faint)
            if one.beyond is not None:
                axes.barh([at], [one.beyond], height=0.62, color=look.color(0))
        width = 44 if look.wide else 22
        axes.set_yticks(range(len(largest)), [broken(one.of, width) for one in reversed(largest)])
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of the effect's variance")
        return figure

    words = ", ".join(f"{one.of} {percent(one.share)}" for one in largest)
    return picture(
        "multiverse_shares",
        "Whose choice moves the effect",
        f"{words}; the coloured part is what is left without what noise alone would give",
        draw,
    )


def _estimates(
    axes: Axes, look: Look, ordered: Sequence[Specification], unit: str, contrast: Sequence[str]
) -> None:
    size = 18 if len(ordered) <= 60 else 8
    for at, one in enumerate(ordered):
        if one.low is not None and one.high is not None:
            axes.plot([at, at], [one.low, one.high], color=look.faint, linewidth=1.2, zorder=1)
    for clear in (False, True):
        some = [
            (at, one.estimate)
            for at, one in enumerate(ordered)
            if one.significant is clear and one.estimate is not None
        ]
        if some:
            color = look.color(0)
            axes.scatter(
                [at for at, _ in some],
                [value for _, value in some],
                s=size,
                color=color if clear else look.ground,
                edgecolors=color,
                linewidths=0.8,
                zorder=2,
                label="p < .05" if clear else "no, or not tested",
            )
    axes.axhline(0, color=look.ink, linewidth=0.8)
    median = float(np.median([one.estimate for one in ordered if one.estimate is not None]))
    axes.axhline(median, color=look.color(1), linewidth=1, linestyle="--", label="median")
    axes.set_ylabel(broken(f"{' − '.join(contrast)}, {unit}", 30 if look.wide else 26))
    axes.legend(
        frameon=False,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        borderaxespad=0.2,
        columnspacing=1.2,
        handletextpad=0.3,
    )
    axes.set_xticks([])


def _rows(found: Sequence[Specification], chosen: Sequence[str]) -> list[tuple[str, str]]:
    """Choice and level, a row each, from the top, in the order in which they were named."""
    rows: list[tuple[str, str]] = []
    for choice in chosen:
        levels = list(dict.fromkeys(one.levels[choice] for one in found))
        if len(levels) <= MOST_LEVELS:
            rows += [(choice, level) for level in levels]
    return rows


def _matrix(
    axes: Axes, look: Look, ordered: Sequence[Specification], rows: Sequence[tuple[str, str]]
) -> None:
    choices = list(dict.fromkeys(choice for choice, _ in rows))
    for at, (choice, level) in enumerate(rows):
        where = [x for x, one in enumerate(ordered) if one.levels[choice] == level]
        color = look.color(2 * (choices.index(choice) % 2))
        axes.scatter(where, [-at] * len(where), s=7, marker="s", color=color, linewidths=0)
        if at and rows[at - 1][0] != choice:
            axes.axhline(-at + 0.5, color=look.faint, linewidth=0.6)
    width = 44 if look.wide else 24
    axes.set_yticks(
        [-at for at in range(len(rows))],
        [broken(f"{choice}: {level}", width) for choice, level in rows],
        fontsize="small",
    )
    axes.set_ylim(-len(rows) + 0.4, 0.6)
    axes.set_xlabel(f"{len(ordered)} specifications, by their effect")
