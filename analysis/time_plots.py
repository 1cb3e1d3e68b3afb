"""Outcomes over time: every measurement of a scale, for each client and arm."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.page import records
from analysis.statistics import spread
from analysis.style import MARKERS, Look, Picture, broken, picture, small_multiples

MOST_PICTURES = 6
MOST_CLIENTS = 36
DAY = 24 * 60
DODGE = 0.04
"""Days by which arms are beside each other, so that none hides another."""


def over_time(measurements: pd.DataFrame, arms: Sequence[str]) -> Iterator[Picture]:
    """A picture for each score that was measured more than once (the total, where a scale has one),
    by whoever answered: all clients together, then each. measurements: with the column `arm`.
    """
    known = measurements.dropna(subset=["value"])
    if not len(known):
        return
    total = known["score"].astype(str) == "total"
    whole = known["instrument"].astype(str).isin(set(known[total]["instrument"].astype(str)))
    shown = known[total | ~whole]
    drawn = 0
    keys = ["instrument", "score", "respondent"]
    for (instrument, score, respondent), rows in shown.groupby(keys, observed=True, sort=True):
        if rows["point"].astype(str).nunique() < 2 or drawn >= MOST_PICTURES:
            continue
        drawn += 1
        name = str(instrument) if score == "total" else f"{instrument}_{score}"
        yield _picture(name, str(respondent), rows, arms)


def shown_steps(means: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The scores of `steps.step_means` that are drawn, as (instrument, score, respondent): the
    total where a scale has one; at most six.
    """
    known = means.dropna(subset=["mean"]).astype({"instrument": str, "score": str})
    whole = set(known[known["score"] == "total"]["instrument"])
    kept = known[(known["score"] == "total") | ~known["instrument"].isin(whole)]
    found = kept[["instrument", "score", "respondent"]].astype(str).drop_duplicates()
    return [tuple(row) for row in found.itertuples(index=False, name=None)][:MOST_PICTURES]


def step_by_step(means: pd.DataFrame, arms: Sequence[str]) -> Picture | None:
    """Of each score the mean change at each step with its 95% interval, and, apart, from the first
    measurement to the last; an arm a color.
    """
    scores = shown_steps(means)
    if not scores:
        return None
    tables = {score: _of_score(means, score) for score in scores}
    names = {score: _score_name(*score) for score in scores}
    alt = "; ".join(
        f"{names[score]}, {row.arm}: {row.mean:+.3g} from first to last"
        for score, table in tables.items()
        for row in table[table["step"] == "whole"].itertuples()
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(look, len(scores), 2, 2.4)
        for axes, score in zip(panels, scores, strict=True):
            _steps(axes, look, tables[score], arms)
            axes.set_title(broken(names[score], 40))
        panels[0].legend(frameon=False, fontsize=6.5, loc="best", handlelength=1.4)
        return figure

    title = "From one measurement to the next, and from the first to the last: mean change"
    return picture("steps", f"{title} over clients, 95% interval", alt, draw)


def _of_score(means: pd.DataFrame, score: tuple[str, str, str]) -> pd.DataFrame:
    here = pd.Series(True, index=means.index)
    for column, wanted in zip(("instrument", "score", "respondent"), score, strict=True):
        here &= means[column].astype(str) == wanted
    return means[here].dropna(subset=["mean"])


def _score_name(instrument: str, score: str, respondent: str) -> str:
    name = instrument if score == "total" else f"{instrument} {score}"
    return f"{name.replace('_', ' ')}, answered by {respondent}"


def _steps(axes: Axes, look: Look, table: pd.DataFrame, arms: Sequence[str]) -> None:
    most = int(table["number"].max())
    axes.axhline(0, color=look.faint, linewidth=1, zorder=1)
    for index, arm in enumerate(arms):
        own = [row for row in records(table) if row["arm"] == arm]
        shift = 0.12 * (index - (len(arms) - 1) / 2)
        near = [(row["number"] + shift, row) for row in own if row["step"] == "adjacent"]
        whole = [(most + 1.5 + shift, row) for row in own if row["step"] == "whole"]
        marker, label = MARKERS[index % len(MARKERS)], arm.replace("_", " ")
        for line, places, name in ((marker + "-", near, label), (marker, whole, None)):
            for at, row in places:
                if row["low"] is not None:
                    ends = [row["low"], row["high"]]
                    axes.plot([at] * 2, ends, color=look.color(index), linewidth=1.2)
            axes.plot(
                [at for at, _ in places],
                [row["mean"] for _, row in places],
                line,
                label=name,
                color=look.color(index),
                markersize=4,
            )
    axes.axvline(most + 0.75, color=look.faint, linewidth=0.6, linestyle=":")
    axes.set_xticks(
        [*range(1, most + 1), most + 1.5],
        [*(f"{at} to {at + 1}" for at in range(1, most + 1)), "first\nto last"],
    )


def by_point(rows: pd.DataFrame) -> pd.DataFrame:
    """One row an arm, client and point: the mean over runs, retests and judges, and the mean day;
    in the order of time.
    """
    texts = rows.assign(**{key: rows[key].astype(str) for key in ("arm", "client", "point")})
    found = texts.groupby(["arm", "client", "point"], observed=True).agg(
        minute=("minute", "mean"), value=("value", "mean")
    )
    return found.reset_index().sort_values("minute", kind="stable")


def _picture(instrument: str, respondent: str, rows: pd.DataFrame, arms: Sequence[str]) -> Picture:
    table = by_point(rows)
    clients = sorted(set(table["client"]))
    shown, left_out = clients[:MOST_CLIENTS], len(clients) - MOST_CLIENTS
    here = [arm for arm in arms if (table["arm"] == arm).any()]
    name = instrument.replace("_", " ")
    alt = "; ".join(
        f"{client}, {arm}: {', '.join(f'{v:.3g}' for v in own['value'])}"
        for client in shown
        for arm in here
        if len(own := table[(table["client"] == client) & (table["arm"] == arm)])
    )

    def draw(look: Look) -> Figure:
        figure, panels = small_multiples(
            look, 1 + len(shown), 4, 1.25, sharex=look.wide, sharey=look.wide
        )
        _all(panels[0], look, table, here, len(clients))
        for axes, client in zip(panels[1:], shown, strict=True):
            for index, arm in enumerate(here):
                own = table[(table["client"] == client) & (table["arm"] == arm)]
                _line(axes, look, own["minute"], own["value"], index)
            axes.set_title(broken(client, 24))
        for axes in panels:
            axes.locator_params(axis="both", nbins=4)
            axes.xaxis.set_major_formatter(_clock)
            axes.tick_params(labelbottom=True)
        for axes in panels[-1:] if not look.wide else panels[-4:]:
            axes.set_xlabel("day and hour")
        return figure

    more = f" ({left_out} more clients are in the table)" if left_out > 0 else ""
    return picture(
        f"time_{instrument}_{respondent}",
        f"{name}, answered by {respondent}: every measurement, mean over a client's runs{more}",
        alt,
        draw,
    )


def _all(axes: Axes, look: Look, table: pd.DataFrame, arms: Sequence[str], clients: int) -> None:
    """Each arm's mean over clients at each point, with its 95% interval, and the legend."""
    for index, arm in enumerate(arms):
        points = [
            (float(own["minute"].mean()), spread(arm, own["value"].tolist()))
            for _, own in table[table["arm"] == arm].groupby("point", sort=False)
        ]
        points.sort(key=lambda one: one[0])
        for minute, whole in points:
            if whole.low is not None and whole.high is not None:
                axes.plot(
                    [minute / DAY + DODGE * (index - 1)] * 2,
                    [whole.low, whole.high],
                    color=look.color(index),
                    linewidth=1.2,
                    alpha=0.6,
                )
        means = [one.mean for _, one in points]
        _line(axes, look, [minute for minute, _ in points], means, index, label=arm)
    axes.set_title(f"all {clients} clients" if clients > 1 else "mean")
    axes.legend(
        frameon=False, fontsize=6.5, loc="best", handlelength=1.4, labelspacing=0.2, borderpad=0.1
    )


def _clock(days: float, _position: float) -> str:
    """Where a day begins its number from 1, between them the hour: `2`, `06:00`."""
    minutes = round(days * DAY)
    if minutes % DAY == 0:
        return f"day {minutes // DAY + 1}"
    return f"{minutes % DAY // 60:02d}:{minutes % 60:02d}"


def _line(
    axes: Axes, look: Look, minutes: Any, values: Any, index: int, *, label: str | None = None
) -> None:
    axes.plot(
        np.asarray(minutes, dtype=float) / DAY + DODGE * (index - 1),
        np.asarray(values, dtype=float),
        MARKERS[index % len(MARKERS)] + "-",
        color=look.color(index),
        markersize=3.5,
        linewidth=1.2,
        label=label.replace("_", " ") if label else None,
    )
