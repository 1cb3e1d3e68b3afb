"""What a run looks like while it goes on: a live display in a terminal, plain lines elsewhere."""

import time
from collections import deque
from typing import TYPE_CHECKING, Any

from simcounsel.agents.emotion import ADJECTIVE
from simcounsel.clock import date_text
from simcounsel.events import Entry, TickEnded
from simcounsel.runs.event_text import describe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from simcounsel.engine.simulation import Simulation

GLYPH = {
    "joy": "☺",
    "trust": "♥",
    "fear": "!",
    "surprise": "○",
    "sadness": "▽",
    "disgust": "✕",
    "anger": "▲",
    "anticipation": "➜",
    "neutral": "·",
}
LINES = 14


class PlainDisplay:
    """One line for each thing worth telling, and one for each simulated hour."""

    def __init__(self, console: "Console", ticks: int) -> None:
        """ticks: after so many in all it ends."""
        self.console = console
        self.simulation: Simulation | None = None
        self._ticks = ticks

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, simulation: "Simulation") -> None:
        """Follow a simulation."""
        self.simulation = simulation

    def on_event(self, entry: Entry) -> None:
        """Tell an event that was written."""
        line = describe(entry)
        if line:
            self.console.print(line, markup=False, highlight=False, soft_wrap=True)
        if isinstance(entry.event, TickEnded) and self.simulation and entry.minute % 60 == 0:
            sim = self.simulation
            usage = sim.models.usage
            self.console.print(
                f"-- {date_text(entry.minute, sim.world.start)}  tick {entry.tick}"
                f" ({entry.tick + 1} of {self._ticks})  {usage.calls} calls  {usage.cost}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


class LiveDisplay:
    """The clock, each resident's place, activity and emotion, the talk, calls and cost, time
    left.
    """

    def __init__(self, console: "Console", ticks: int) -> None:
        from rich.live import Live

        self.console = console
        self.simulation: Simulation | None = None
        self._ticks = ticks
        self._lines: deque[str] = deque(maxlen=LINES)
        self._began = time.monotonic()
        self._first_tick = 0
        self._live = Live(
            get_renderable=self.now,
            console=console,
            refresh_per_second=4,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> "LiveDisplay":
        self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._live.__exit__(*error)

    def watch(self, simulation: "Simulation") -> None:
        """Follow a simulation."""
        self.simulation = simulation
        self._began, self._first_tick = time.monotonic(), simulation.tick

    def on_event(self, entry: Entry) -> None:
        """Tell an event that was written."""
        line = describe(entry)
        if line:
            self._lines.append(line)

    def now(self) -> "RenderableType":
        """What it shows at this moment."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        if self.simulation is None:
            return Text("opening the models ...")
        talk = Text("\n".join(self._lines) or "nothing said yet", overflow="fold")
        waiting = self.simulation.models.waiting
        return Group(
            self._progress(self.simulation),
            *([Text(str(waiting), style="bold red")] if waiting else []),
            self._residents(self.simulation),
            Panel(talk, title="what happens", title_align="left"),
        )

    def _progress(self, sim: "Simulation") -> "RenderableType":
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        usage = sim.models.usage
        grid = Table.grid(padding=(0, 2))
        grid.add_row(
            Text(date_text(sim.minute, sim.world.start), style="bold"),
            ProgressBar(total=self._ticks, completed=sim.tick, width=24),
            Text(f"{sim.tick} of {self._ticks} ticks run, {self._left(sim)}"),
            Text(f"{usage.calls} calls, {usage.tokens_in + usage.tokens_out} tokens, {usage.cost}"),
        )
        return grid

    def _left(self, sim: "Simulation") -> str:
        lived = sim.tick - self._first_tick
        if lived < 2:
            return "time left: ..."
        seconds = (time.monotonic() - self._began) / lived * (self._ticks - sim.tick)
        return f"about {int(seconds // 60)} min {int(seconds % 60):02d} s left"

    def _residents(self, sim: "Simulation") -> "RenderableType":
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 2), show_edge=False)
        for title in ("who", "feels", "where", "does"):
            table.add_column(title, overflow="ellipsis", no_wrap=title != "does")
        try:
            residents = sim.residents()
        except RuntimeError:
            residents = ()
        for r in residents:
            table.add_row(
                Text(r.name),
                Text(f"{GLYPH[r.emotion]} {ADJECTIVE[r.emotion]} {r.intensity}/10"),
                Text(r.place),
                Text(r.activity),
            )
        return table
