"""Figures 6 and 7 of SimCounsel: the published mean, and ours with its interval."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from analysis.page import num
from analysis.replication.tables import Cell, Table
from analysis.style import Look, Picture, broken, mean_with_interval, picture

LEAST, MOST = 1.0, 5.0
"""Of the scale."""


def figure_6(table: Table) -> Picture:
    """How true to their parts client and counselor are, by area."""
    cells = [(row.label, row.cells[0]) for row in table.rows]
    return _beside("figure_6", table.title, cells)


def figure_7(table: Table) -> Picture:
    """How a persona changed, by arm; the middle is no change."""
    cells = list(zip(table.columns, table.rows[0].cells, strict=True))
    return _beside("figure_7", "Figure 7: change of the persona, rated by people", cells, middle=3)


def _beside(
    id: str, title: str, cells: Sequence[tuple[str, Cell]], middle: float | None = None
) -> Picture:
    alt = "; ".join(
        f"{label}: published {num(cell.published)}, here {num(cell.ours)}" for label, cell in cells
    )

    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 0.9 + 0.5 * len(cells)), layout="constrained")
        axes = figure.subplots()
        if middle is not None:
            axes.axvline(middle, color=look.faint, linewidth=1, zorder=1)
        for at, (_, cell) in enumerate(reversed(cells)):
            if cell.published is not None:
                axes.plot(
                    [cell.published], [at + 0.14], "o",
                    markerfacecolor=look.ground, markeredgecolor=look.ink, markersize=6,
                )  # fmt: skip
            if cell.ours is not None:
                known = cell.low is not None and cell.high is not None
                ends = [max(LEAST, cell.low or 0.0), min(MOST, cell.high or 0.0)] if known else None
                mean_with_interval(axes, look, at - 0.14, cell.ours, ends, 0)
        names = [broken(label.replace("_", " "), 26) for label, _ in reversed(cells)]
        axes.set_yticks(range(len(cells)), names)
        axes.set_ylim(-0.6, len(cells) - 0.4)
        axes.set_xlim(LEAST, MOST)
        axes.set_xlabel("published (hollow),\nhere (filled) with its 95% interval")
        return figure

    return picture(id, title, alt, draw)
