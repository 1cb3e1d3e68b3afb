"""What a sweep looks like while it goes on: one table in a terminal, plain lines elsewhere."""

import time
from typing import TYPE_CHECKING

from simcounsel.cli.many_display import ManyDisplay
from simcounsel.runs.spending import cost_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console, RenderableType

    from simcounsel.lab.sweep import Progress, Sweep

ENDED = ("done", "failed", "stopped", "given up")


class SweepDisplay(ManyDisplay["Progress"]):
    """One table of all runs of a sweep in a terminal; elsewhere a line for each run that ends."""

    def __init__(self, console: "Console", sweep: "Sweep", plain: bool) -> None:
        self.sweep = sweep
        kinds = (one.cell.kind for one in sweep.progress.values())
        self._unit = f"{next(kinds).unit}s"
        super().__init__(console, plain, ENDED)

    def _progress(self) -> "Mapping[str, Progress]":
        return self.sweep.progress

    def _line(self, name: str, one: "Progress") -> str:
        done = sum(p.state == "done" for p in self.sweep.progress.values())
        cause = f": {one.cause}" if one.cause else ""
        how_far = f"{one.tick} of {one.cell.ticks} {self._unit}"
        return (
            f"{one.state:8s} {name}  {how_far}{cause}  ({done} of {len(self.sweep.progress)} done)"
        )

    def _draw(self) -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        every = list(self.sweep.progress.values())
        counts = {
            state: sum(p.state == state for p in every) for state in ("lives", "waiting", *ENDED)
        }
        calls, usd = self.sweep.spent()
        title = (
            ", ".join(f"{n} {state}" for state, n in counts.items() if n)
            + f"; {calls} calls, {cost_text(usd, 0)}"
        )
        title += f"; stopping: {self.sweep.stopping}" if self.sweep.stopping else ""
        table = Table(box=None, padding=(0, 2), show_edge=False, title_justify="left", title=title)
        for name in ("run", "", self._unit, "calls", "time left"):
            table.add_column(name, no_wrap=True)
        for progress in [p for p in every if p.state == "lives"][:20]:
            table.add_row(
                Text(progress.cell.name),
                ProgressBar(total=progress.cell.ticks, completed=progress.tick, width=24),
                f"{progress.tick} of {progress.cell.ticks}",
                str(progress.calls),
                self._left(progress),
            )
        return table

    def _left(self, progress: "Progress") -> str:
        lived = progress.tick - progress.first_tick
        if lived < 2:
            return "..."
        seconds = (
            (time.monotonic() - progress.began) / lived * (progress.cell.ticks - progress.tick)
        )
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
