"""A person's days as a chart, as the viewer draws them: what was done, and what was felt."""

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simcounsel.runs.history import Activity, History
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run

GROUPS = {
    "sleep": ("#3c497f", ("sleep",)),
    "awake at night, or worry": ("#9d84f2", ("sleepless", "worry")),
    "meals and care": ("#e1ab58", ("meal", "care")),
    "work and chores": ("#6e787e", ("work", "chore", "errand")),
    "rest and leisure": ("#93d5b0", ("rest", "leisure", "exercise")),
    "with others": ("#e97c83", ("social",)),
    "counseling": ("#4887b3", ("counseling",)),
}
"""The viewer's colors (`palette.js`), by kinds of activity."""
COLOR = {kind: color for color, kinds in GROUPS.values() for kind in kinds}
GOOD, BAD = ("joy", "trust", "anticipation"), ("fear", "sadness", "disgust", "anger")
MOST, BAND, DAY = 10, -14, 24 * 60


def day_chart(run: Run, who: str) -> Figure:
    """One row a day, the hours across: a band of what was done by kind, and above it the feeling
    from -10 to 10. KeyError where nobody of that name did anything.
    """
    log = Log(run.folder)
    log.refresh()
    acts = [one for one in History(log).activities() if one.who == who]
    if not acts:
        raise KeyError(f"{who}: nobody of that name did anything in {run.folder.name}")
    days = sorted({one.minute // DAY for one in acts})
    figure, panels = plt.subplots(
        len(days), 1, figsize=(8, 1.5 * len(days) + 0.8), sharex=True, squeeze=False
    )
    for day, axes in zip(days, panels[:, 0], strict=True):
        own = [one for one in acts if one.minute // DAY == day]
        _row(axes, own, day, run.world.tick_minutes / 60)
    panels[-1, 0].set_xlabel("hour")
    shown = [Patch(color=color, label=name) for name, (color, _) in GROUPS.items()]
    figure.legend(handles=shown, loc="lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(f"{who}: what was done, and what was felt", x=0.02, ha="left")
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    return figure


def _row(axes: Axes, acts: list[Activity], day: int, tick: float) -> None:
    """One day. tick: in hours."""
    hours = [one.minute / 60 - day * 24 for one in acts]
    felt = [float(_sign(one) * one.feeling.intensity) if one.feeling else 0.0 for one in acts]
    for hour, one in zip(hours, acts, strict=True):
        axes.barh(BAND, tick, left=hour, height=5, color=COLOR.get(one.kind, "#c8c8c8"))
    axes.step([*hours, hours[-1] + tick], [*felt, felt[-1]], where="post", color="#1f2328")
    axes.axhline(0, color="#bbbbbb", linewidth=0.8)
    axes.set(xlim=(0, 24), ylim=(BAND - 3, MOST), xticks=range(0, 25, 3), yticks=(-MOST, 0, MOST))
    axes.set_title(f"day {day + 1}", loc="left", fontsize=9)


def _sign(one: Activity) -> int:
    """Whether it feels good (1), bad (-1) or neither (0)."""
    emotion = one.feeling.emotion if one.feeling else ""
    return (emotion in GOOD) - (emotion in BAD)
