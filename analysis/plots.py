"""Charts in one restrained style: dots for runs, a diamond and a line for the mean and its 95%
interval, n in words.

Every chart is drawn for wide and narrow pages, light and dark, as SVG; colours are Okabe and Ito's
(2008), told apart by shape as well. Nothing here computes more than means that the tables show too.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.exploring import Explored
from analysis.patterns import Patterns, shares
from analysis.planned import Tested
from analysis.statistics import Spread, spread

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
ON_DARK = ("#56B4E9", "#F08A4B", "#2FBF96", "#E3A3C6", "#F0C04A", "#9CD3F5")
ROLES = ("client", "counselor", "layperson")
PNG_DPI = 200
MARKERS = ("o", "s", "^", "D", "v", "P")


@dataclass(frozen=True, kw_only=True)
class Look:
    """Of one variant: for a wide page or a narrow one, on a light or a dark ground. width in
    inches.
    """

    wide: bool = True
    dark: bool = False

    @property
    def width(self) -> float:
        """Inches."""
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


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A chart: id (also the file's name), what it shows, the same in words for those who do not see
    it, and its four variants.
    """

    id: str
    title: str
    alt: str
    svg: Mapping[Look, bytes]
    png: bytes | None = None
    """The wide light one on white, for slides and documents that take no SVG; None where none was
    asked for.
    """


LOOKS = tuple(Look(wide=wide, dark=dark) for wide in (True, False) for dark in (False, True))


def picture(
    id: str, title: str, alt: str, draw: Callable[[Look], Figure], *, png: bool = False
) -> Picture:
    """Draw all variants, for a light ground; a dark one has other colours and is else the same."""
    drawn = {look: _drawn(draw, look, id, "svg") for look in LOOKS if not look.dark}
    dark = {Look(wide=look.wide, dark=True): in_the_dark(svg) for look, svg in drawn.items()}
    svg = {look: (drawn | dark)[look] for look in LOOKS}
    return Picture(
        id=id, title=title, alt=alt, svg=svg, png=_drawn(draw, Look(), id, "png") if png else None
    )


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
    told = {one.lower().encode(): other.lower().encode() for one, other in others.items()}
    return re.sub(rb"#[0-9a-f]{6}\b", lambda found: told.get(found[0], found[0]), svg)


def _drawn(
    draw: Callable[[Look], Figure], look: Look, id: str, form: Literal["svg", "png"]
) -> bytes:
    """The same chart gives the same bytes."""
    style: Any = {
        "svg.hashsalt": id,
        "svg.fonttype": "path",
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.titlesize": 9.5,
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
        else:
            figure.savefig(
                out, format="svg", metadata={"Date": None, "Creator": None}, transparent=True
            )
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
    import textwrap

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
    if whole.low is not None and whole.high is not None:
        axes.plot(
            np.clip([whole.low, whole.high], *limits),
            [at - 0.2] * 2,
            color=color,
            linewidth=2,
            solid_capstyle="butt",
            zorder=3,
        )
    axes.plot(
        [whole.mean], [at - 0.2], MARKERS[index % len(MARKERS)], color=color, markersize=6, zorder=4
    )


def changes(explored: Sequence[Explored]) -> Picture:
    """Each outcome by arm: every run's value, the mean and its 95% interval."""
    chosen = list(explored)
    alt = "; ".join(f"{one.title}: {', '.join(_told(s) for s in one.spreads)}" for one in chosen)

    def draw(look: Look) -> Figure:
        arms = len(chosen[0].spreads)
        figure, panels = small_multiples(look, len(chosen), 2, 0.5 + 0.46 * arms)
        for axes, one in zip(panels, chosen, strict=True):
            for index, whole in enumerate(one.spreads):
                dots_and_mean(axes, look, arms - 1 - index, one.values[whole.name], whole, index)
            axes.set_title(broken(one.title, 44))
            axes.set_yticks(
                range(arms), [f"{broken(s.name, 18)} (n={s.n})" for s in reversed(one.spreads)]
            )
            axes.set_ylim(-0.6, arms - 0.4)
            if one.kind == "change":
                axes.axvline(0, color=look.faint, linewidth=1, zorder=1)
            axes.set_xlabel(
                "level"
                if one.kind == "level"
                else (
                    "after minus before"
                    if one.instrument == "log"
                    else "change from the first point"
                )
            )
            axes.locator_params(axis="x", nbins=5)
        return figure

    return picture("changes", "Outcomes by arm: each run, the mean and its 95% interval", alt, draw)


def _told(s: Spread) -> str:
    if s.mean is None:
        return f"{s.name} none"
    return (
        f"{s.name} {s.mean:.3g}"
        + (f" ({s.low:.3g} to {s.high:.3g})" if s.low is not None else "")
        + f", n {s.n}"
    )


def effects(tested: Sequence[Tested]) -> Picture | None:
    """Planned contrasts as Hedges' g with their intervals; None when there is none to draw."""
    shown = [one for one in tested if one.effect is not None and one.effect_name == "g"]
    if not shown:
        return None
    alt = "; ".join(f"{one.hypothesis.id}: g {one.effect:.2f}" for one in shown)

    def draw(look: Look) -> Figure:
        figure, (axes,) = small_multiples(look, 1, 1, 0.7 + 0.5 * len(shown))
        for row, one in enumerate(reversed(shown)):
            if one.effect_low is not None and one.effect_high is not None:
                axes.plot(
                    [one.effect_low, one.effect_high],
                    [row, row],
                    color=look.color(0),
                    linewidth=2,
                    solid_capstyle="butt",
                )
            axes.plot([one.effect or 0.0], [row], "D", color=look.color(0), markersize=6)
        axes.axvline(0, color=look.faint, linewidth=1, zorder=0)
        labels = [
            f"{broken(one.hypothesis.id, 26)}\n{', '.join(f'{k} {v}' for k, v in one.n.items())}"
            for one in reversed(shown)
        ]
        axes.set_yticks(
            range(len(shown)),
            labels if look.wide else [broken(one.hypothesis.id, 16) for one in reversed(shown)],
        )
        axes.set_ylim(-0.6, len(shown) - 0.4)
        axes.set_xlabel("Hedges' g, first arm minus second")
        return figure

    return picture("planned", "Planned contrasts: Hedges' g with bootstrap intervals", alt, draw)


def activity_shares(patterns: Patterns, arm_of: Mapping[str, str], arms: Sequence[str]) -> Picture:
    """Like SimCounsel's Figure 5: for each arm and cluster the share before (hollow) and after
    (filled), mean over runs.
    """
    table = shares(patterns)
    table["arm"] = table["run"].astype(str).map(arm_of)
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
            runs = table[table["arm"] == arm]["run"].nunique()
            for cluster in range(len(names)):
                _before_after(axes, look, len(names) - 1 - cluster, means, arm, cluster, index)
            axes.set_title(f"{broken(arm, 24)} (n={runs})")
            axes.set_ylim(-0.6, len(names) - 0.4)
            axes.set_yticks(range(len(names)), [broken(name, 26) for name in reversed(names)])
            axes.set_xlabel(
                "share of 15-minute activities" if look.wide is False or index == 0 else ""
            )
            axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
            axes.locator_params(axis="x", nbins=4)
            axes.tick_params(labelbottom=True)
        return figure

    return picture(
        "activities",
        "Activity clusters before (hollow) and after (filled), mean over runs; bars: 95% interval"
        " after",
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


def elbow(patterns: Patterns) -> Picture:
    """Why there are so many clusters: inertia with its chord, silhouettes beside it."""
    fits = patterns.fits
    alt = f"{patterns.k} clusters; " + "; ".join(
        f"k {f.k}: inertia {f.inertia:.1f}"
        + (f", silhouette {f.silhouette:.2f}" if f.silhouette is not None else "")
        for f in fits
    )

    def draw(look: Look) -> Figure:
        figure, (left, right) = small_multiples(look, 2, 2, 1.9)
        ks = [fit.k for fit in fits]
        left.plot(
            [ks[0], ks[-1]], [fits[0].inertia, fits[-1].inertia], color=look.faint, linewidth=1.5
        )
        left.plot(
            ks,
            [fit.inertia for fit in fits],
            "o-",
            color=look.color(0),
            markersize=4,
            linewidth=1.4,
        )
        with_one = [fit for fit in fits if fit.silhouette is not None]
        heights = [fit.silhouette for fit in with_one if fit.silhouette is not None]
        right.plot(
            [fit.k for fit in with_one],
            heights,
            "s-",
            color=look.color(1),
            markersize=4,
            linewidth=1.4,
        )
        for axes, title in ((left, "inertia and its chord"), (right, "mean silhouette")):
            axes.axvline(patterns.k or 0, color=look.faint, linewidth=1, zorder=0)
            axes.set_title(title)
            axes.set_xlabel(f"number of clusters (chosen: {patterns.k})")
            axes.set_xticks(ks[:: 1 if len(ks) < 9 else 2])
        return figure

    return picture("elbow", "How many clusters: the elbow, and silhouettes beside it", alt, draw)


TALKED = (
    ("characters_per_message", "characters a message", (0.0, np.inf)),
    ("questions_per_message", "question marks a message", (0.0, np.inf)),
    ("sentiment", "sentiment (lexicon), −1 to 1", (-1.0, 1.0)),
)


def talked(speakers: pd.DataFrame, arms: Sequence[str]) -> Picture | None:
    """Lengths, questions and sentiment by role and arm, one dot a run and speaker; `speakers` with
    a column `arm`.
    """
    shown = speakers[speakers["messages"] > 0]
    pairs = [
        (arm, role)
        for arm in arms
        for role in ROLES
        if len(shown[(shown["arm"] == arm) & (shown["role"] == role)])
    ]
    if not pairs:
        return None
    grouped = {
        (arm, role, column): (
            shown[(shown["arm"] == arm) & (shown["role"] == role)][column].astype(float).tolist()
        )
        for arm, role in pairs
        for column, _, _ in TALKED
    }
    alt = "; ".join(
        f"{arm}, {role}, {words}: {_told(spread('mean', grouped[arm, role, column]))}"
        for arm, role in pairs
        for column, words, _ in TALKED
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, len(TALKED), 3, 0.6 + 0.46 * len(pairs), sharey=look.wide
        )
        for axes, (column, words, limits) in zip(panels, TALKED, strict=True):
            for row, (arm, role) in enumerate(reversed(pairs)):
                values = grouped[arm, role, column]
                dots_and_mean(
                    axes, look, row, values, spread(arm, values), ROLES.index(role), limits
                )
            axes.set_title(words)
            axes.set_ylim(-0.6, len(pairs) - 0.4)
            labels = [
                f"{role} (n={len(grouped[arm, role, column])})\nin {broken(arm, 20)}"
                for arm, role in reversed(pairs)
            ]
            axes.set_yticks(range(len(pairs)), labels)
            axes.locator_params(axis="x", nbins=4)
        return figure

    return picture(
        "talk",
        "How they talked: each run's mean, the mean over runs and its 95% interval",
        alt,
        draw,
    )
