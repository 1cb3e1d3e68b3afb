"""The figures of talk: how far each measure is from real sessions, the course of sessions, and how
soon clients yield.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from analysis.style import MARKERS, Look, Picture, broken, picture, small_multiples
from analysis.validity.talk.counting import Codes, TalkMeasure, feelings
from analysis.validity.talk.distances import Distance
from analysis.validity.talk.moves import MOVES, Move
from analysis.validity.talk.sessions import TalkSession
from analysis.validity.talk.waiting import YIELDING, curve, first, horizon_of

PARTS = 5
"""Of a session, in its course."""
COURSES: tuple[Move, ...] = ("discloses", "change", "resists")
SIDES = ("real", "simulated")
Sides = Mapping[str, Sequence[TalkSession]]


def distances_picture(
    counted: Sequence[TalkMeasure], found: Mapping[str, Distance], margin: float
) -> Picture:
    """Each measure's difference with its interval, and the band of what counts as alike."""
    shown = [one for one in counted if found[one.id].difference is not None]

    def draw(look: Look) -> Figure:
        figure = Figure(figsize=(look.width, 0.34 * len(shown) + 0.9), layout="constrained")
        axes = figure.subplots()
        axes.axvspan(-margin, margin, color=look.faint, alpha=0.45, linewidth=0)
        axes.axvline(0, color=look.ink, linewidth=0.8)
        for at, one in enumerate(reversed(shown)):
            far = found[one.id]
            assert far.difference is not None
            index = 1 if far.verdict == "different" else 0
            if far.low is not None and far.high is not None:
                axes.plot([far.low, far.high], [at, at], color=look.color(index), linewidth=2)
            axes.plot([far.difference], [at], MARKERS[index], color=look.color(index), markersize=6)
        axes.set_yticks(range(len(shown)))
        width = 46 if look.wide else 24
        axes.set_yticklabels([broken(one.name, width) for one in reversed(shown)])
        axes.set_xlabel("simulated − real, standard deviations of the real")
        axes.margins(y=0.02)
        return figure

    alike = sum(found[one.id].verdict == "alike" for one in shown)
    different = sum(found[one.id].verdict == "different" for one in shown)
    return picture(
        "talk_distances",
        "How far simulated sessions are from real ones",
        f"{len(shown)} measures: {alike} alike, {different} different (square); bars are 95%"
        f" intervals, the band is within {margin:g} standard deviations",
        draw,
    )


def courses_picture(sides: Sides, codes: Codes) -> Picture:
    """Disclosure, change talk, resistance and sentiment by fifths of the session."""
    names = [*(f"the client {MOVES[move]}" for move in COURSES), "sentiment of the client's lines"]
    rows = {
        side: [
            *(
                _course([[float(move in one) for one in codes(session)] for session in sessions])
                for move in COURSES
            ),
            _course([found for session in sessions if (found := feelings(session)) is not None]),
        ]
        for side, sessions in sides.items()
    }
    return _curves(
        "talk_courses",
        "The course of sessions",
        f"Mean by {PARTS} equal parts of a session, with 95% over sessions",
        names,
        rows,
        np.arange(1, PARTS + 1),
        "part of the session",
    )


def waiting_picture(sides: Sides, codes: Codes) -> Picture:
    """The share of sessions in which clients have yielded, by line."""
    horizon = horizon_of(*(sides[side] for side in SIDES))
    rows = {
        side: [_bare(1 - curve(first(sessions, move, codes), horizon)) for move in YIELDING]
        for side, sessions in sides.items()
    }
    return _curves(
        "talk_waiting",
        "How soon clients yield",
        f"Share of sessions in which it has come, over the client's first {horizon} lines; sessions"
        " that ended before are taken out as they end (Kaplan and Meier)",
        [f"the client {MOVES[move]}" for move in YIELDING],
        rows,
        np.arange(horizon + 1),
        "client's lines",
    )


def _curves(
    id: str,
    title: str,
    alt: str,
    names: Sequence[str],
    rows: Mapping[str, Sequence[NDArray[np.float64]]],
    x: NDArray[np.int_],
    below: str,
) -> Picture:
    """Small multiples: a panel a name, a line a side; rows of mean, low and high."""

    def draw(look: Look) -> Figure:
        figure, axes = small_multiples(look, len(names), 2, 1.9, sharex=True)
        for panel, name in enumerate(names):
            for index, side in enumerate(SIDES):
                mean, low, high = rows[side][panel]
                color = look.color(index)
                axes[panel].fill_between(x, low, high, color=color, alpha=0.18, linewidth=0)
                axes[panel].plot(
                    x,
                    mean,
                    color=color,
                    label=side,
                    markersize=4,
                    linestyle=("-", "--")[index],
                    marker=MARKERS[index],
                )
            axes[panel].set_title(broken(name, 40))
            axes[panel].set_xlabel(below)
            axes[panel].xaxis.set_major_locator(MaxNLocator(integer=True))
        axes[0].legend(frameon=False)
        return figure

    return picture(id, title, alt, draw)


def _course(values: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Mean of each part and its 95% over sessions: three rows; NaN without sessions."""
    if not values:
        return np.full((3, PARTS), np.nan)
    parts = np.array([[np.mean(some) for some in np.array_split(one, PARTS)] for one in values])
    mean = parts.mean(axis=0)
    half = 1.96 * parts.std(axis=0, ddof=1) / np.sqrt(len(parts)) if len(parts) > 1 else 0 * mean
    return np.array([mean, mean - half, mean + half])


def _bare(line: NDArray[np.float64]) -> NDArray[np.float64]:
    """A line without a band."""
    return np.array([line, line, line])
