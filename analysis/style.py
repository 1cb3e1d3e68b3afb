"""One restrained style for all charts: dots for runs, a diamond and a line for the mean and its 95%
interval.

Every chart is drawn for wide and narrow pages, light and dark, as SVG; colours are Okabe and Ito's
(2008), told apart by shape as well.
"""

import io
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.statistics import Spread

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
ON_DARK = ("#56B4E9", "#F08A4B", "#2FBF96", "#E3A3C6", "#F0C04A", "#9CD3F5")
FONTS = b"'DejaVu Sans', Verdana, Arial, sans-serif"
"""Of charts as SVG, whose text stays text: DejaVu is what they are measured with."""
JOURNAL_MM = (85.0, 180.0)
"""Widths of one and of two columns of a journal."""
PNG_DPI = 200
MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True, kw_only=True)
class Look:
    """Of one variant: for a wide page or a narrow one, on a light or a dark ground. width in
    inches.
    """

    wide: bool = True
    dark: bool = False
    mm: float | None = None
    """Of a printed column; None on a screen."""

    @property
    def width(self) -> float:
        """Inches."""
        if self.mm is not None:
            return self.mm / 25.4
        return 8.6 if self.wide else 4.0

    @property
    def ink(self) -> str:
        """Of text and axes."""
        return "#e6e3dc" if self.dark else "#23272b"

    @property
    def faint(self) -> str:
        """Of lines that only guide the eye."""
        return "#4a5057" if self.dark else "#d5d2ca"

    @property
    def ground(self) -> str:
        """Of what is hollow: the page's own colour."""
        return "#1c2024" if self.dark else "#ffffff"

    def color(self, index: int) -> str:
        """The index-th of the palette."""
        return (ON_DARK if self.dark else OKABE_ITO)[index % len(OKABE_ITO)]


class Picture:
    """A chart: id (also the file's name), what it shows, the same in words for those who do not see
    it, and its four variants, which are drawn when they are first asked for.
    """

    def __init__(
        self,
        *,
        id: str,
        title: str,
        alt: str,
        draw: Callable[[Look], Figure] | None = None,
        svg: Mapping[Look, bytes] | None = None,
        with_png: bool = False,
    ) -> None:
        """draw: the chart on a light ground. svg: in place of it, what was drawn before; such a one
        has no PNG and no PDF.
        """
        assert draw is not None or svg is not None
        self.id, self.title, self.alt = id, title, alt
        self._draw, self._svg, self._with_png = draw, svg, with_png

    @cached_property
    def svg(self) -> Mapping[Look, bytes]:
        """By look. A dark one has other colours and is else the same."""
        if self._svg is not None:
            return self._svg
        assert self._draw is not None
        light = {look: _drawn(self._draw, look, self.id, "svg") for look in LOOKS if not look.dark}
        dark = {Look(wide=look.wide, dark=True): in_the_dark(svg) for look, svg in light.items()}
        return {look: (light | dark)[look] for look in LOOKS}

    @cached_property
    def png(self) -> bytes | None:
        """The wide light one on white, for slides and documents that take no SVG; None where none
        was asked for.
        """
        if not self._with_png or self._draw is None:
            return None
        return self.as_png()

    def as_png(self) -> bytes:
        """The wide light one on white, whether or not it was asked for."""
        assert self._draw is not None
        return _drawn(self._draw, Look(), self.id, "png")

    def pdf(self, mm: float) -> bytes:
        """For a column of that width, in 7 point, with text as text."""
        assert self._draw is not None
        return _drawn(self._draw, Look(wide=mm > 120, mm=mm), self.id, "pdf")


LOOKS = tuple(Look(wide=wide, dark=dark) for wide in (True, False) for dark in (False, True))


def picture(
    id: str, title: str, alt: str, draw: Callable[[Look], Figure], *, png: bool = False
) -> Picture:
    """A chart that is drawn for a light ground, in two widths."""
    return Picture(id=id, title=title, alt=alt, draw=draw, with_png=png)


def in_the_dark(svg: bytes) -> bytes:
    """A chart for a light ground with the colours of a dark one; every colour in it is one that
    Look gives.
    """
    light, dark = Look(), Look(dark=True)
    others = {
        light.ink: dark.ink,
        light.faint: dark.faint,
        light.ground: dark.ground,
        **dict(zip(OKABE_ITO, ON_DARK, strict=True)),
    }
    dark_of = {one.lower().encode(): other.lower().encode() for one, other in others.items()}
    return re.sub(rb"#[0-9a-f]{6}\b", lambda found: dark_of.get(found[0], found[0]), svg)


def _drawn(
    draw: Callable[[Look], Figure], look: Look, id: str, form: Literal["svg", "png", "pdf"]
) -> bytes:
    """The same chart gives the same bytes."""
    style: Any = {
        "svg.hashsalt": id,
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "font.family": "DejaVu Sans",
        "font.size": 9 if look.mm is None else 7,
        "axes.titlesize": 9.5 if look.mm is None else 7.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "text.color": look.ink,
        "axes.labelcolor": look.ink,
        "axes.edgecolor": look.faint,
        "xtick.color": look.ink,
        "ytick.color": look.ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.spines.left": False,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "ytick.left": False,
        "xtick.major.size": 3,
        "axes.titlepad": 6,
        "grid.color": look.faint,
        "axes.formatter.useoffset": False,
    }
    out = io.BytesIO()
    with mpl.rc_context(style):
        figure = draw(look)
        if form == "png":
            figure.savefig(
                out, format="png", dpi=PNG_DPI, metadata={"Software": None}, facecolor="white"
            )
        elif form == "pdf":
            figure.savefig(out, format="pdf", metadata={"CreationDate": None, "Creator": None})
        else:
            figure.savefig(
                out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True
            )
            return out.getvalue().replace(b"'DejaVu Sans'", FONTS)
    return out.getvalue()


def small_multiples(
    look: Look, count: int, across: int, height: float, **kind: Any
) -> tuple[Figure, list[Axes]]:
    """Small multiples: `across` in a row on wide pages, one on narrow ones; height of a panel in
    inches.
    """
    across = min(across, count) if look.wide else 1
    down = -(-count // across)
    figure = Figure(figsize=(look.width, height * down + 0.3), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False, **kind)
    axes = list(grid.flat)
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def broken(name: str, width: int = 22) -> str:
    """A name that is broken into at most three lines."""
    lines = textwrap.wrap(name.replace("_", " "), width) or [""]
    return "\n".join([*lines[:2], lines[2][: width - 1] + "…"] if len(lines) > 3 else lines[:3])


def dots_and_mean(
    axes: Axes,
    look: Look,
    at: float,
    values: Sequence[float],
    whole: Spread,
    index: int,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> None:
    """Runs as dots in the order they came, spread a little so that none hides another; mean and
    interval below them, cut off at the limits of what the value can be.
    """
    color = look.color(index)
    offsets = np.linspace(-0.16, 0.16, len(values)) if len(values) > 1 else np.zeros(len(values))
    axes.scatter(values, at + offsets + 0.12, s=11, color=color, alpha=0.55, linewidths=0, zorder=2)
    if whole.mean is None:
        return
    ends: list[float] | None = None
    if whole.low is not None and whole.high is not None:
        ends = np.clip([whole.low, whole.high], *limits).tolist()
    mean_with_interval(axes, look, at - 0.2, whole.mean, ends, index)


def mean_with_interval(
    axes: Axes, look: Look, at: float, mean: float, ends: Sequence[float] | None, index: int
) -> None:
    """A group's mean as its marker, and its interval as a bar behind; ends: None for no bar."""
    color = look.color(index)
    if ends is not None:
        axes.plot(ends, [at] * 2, color=color, linewidth=2, solid_capstyle="butt", zorder=3)
    axes.plot([mean], [at], MARKERS[index % len(MARKERS)], color=color, markersize=6, zorder=4)
