"""Figures of what is counted in corpora, in the style of all reports: wide and narrow, light and
dark, told in words as well.
"""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.corpora.counted import SPREAD, CorporaCounts
from analysis.page import records
from analysis.style import MARKERS, Look, Picture, broken, picture, small_multiples
from simcounsel.corpus.disclosure import STEPS, Curve

MOST_LINES = 12


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
            legend(figure, panels[0], look)
        return figure

    return picture(
        "opening_up", "How much clients have told by when, mean over dialogues", alt, draw
    )


def distributions(counted: CorporaCounts, names: Sequence[str]) -> Picture:
    """Lines and lengths over dialogues: range, quartiles and median."""
    cells = {(row["corpus"], row["measure"]): row for row in records(counted.distributions)}
    medians = [
        f"{words}, {name}: median {in_words(cells[name, column]['median'])}"
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


def legend(figure: Figure, axes: Axes, look: Look) -> None:
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


def in_words(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f}"
