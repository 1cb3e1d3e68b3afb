"""What a sweep looks like while it goes on: one table in a terminal, plain lines elsewhere."""

import time
from typing import TYPE_CHECKING, Any

from simcounsel.runs.spending import cost_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from simcounsel.lab.sweep import Progress, Sweep

ENDED = ("done", "failed", "stopped", "given up")


class SweepDisplay:
    """One table of all runs of a sweep in a terminal; elsewhere a line for each run that ends."""

    def __init__(self, console: "Console", sweep: "Sweep", plain: bool) -> None:
        from rich.live import Live

        self.console = console
        self.sweep = sweep
        self._reported: set[str] = set()
        self._unit = "ticks" if sweep.experiment.worlds else "waves"
        self._live = (
            None
            if plain
            else Live(
                get_renderable=self._draw,
                console=console,
                refresh_per_second=4,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
        )

    def __enter__(self) -> "SweepDisplay":
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live:
            self._live.__exit__(*error)

    def on_change(self) -> None:
        """Say which runs have ended since."""
        for name, progress in self.sweep.progress.items():
            if progress.state in ENDED and name not in self._reported:
                self._reported.add(name)
                self.console.print(
                    self._line(name, progress), markup=False, highlight=False, soft_wrap=True
                )

    def _line(self, name: str, progress: "Progress") -> str:
        done = sum(p.state == "done" for p in self.sweep.progress.values())
        cause = f": {progress.cause}" if progress.cause else ""
        how_far = f"{progress.tick} of {progress.cell.ticks} {self._unit}"
        return (
            f"{progress.state:8s} {name}  {how_far}{cause}  ({done} of {len(self.sweep.progress)}"
            " done)"
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
