"""What a synthesis looks like while it goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simcounsel.corpus.synthesis.events import (
    Disclosed,
    Drafted,
    Extracted,
    Revised,
    SessionEnded,
    own,
)
from simcounsel.corpus.synthesis.settings import Synthesis
from simcounsel.terminal import counting_bar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simcounsel.corpus.synthesis.workshop import Workshop


class _Counting:
    """Counts what comes; both displays tell it."""

    def __init__(self, settings: Synthesis) -> None:
        self.settings = settings
        self.workshop: Workshop | None = None
        self.sessions = self.lines = self.revised = 0

    def begin(self, workshop: "Workshop") -> None:
        """It begins, or goes on."""
        self.workshop = workshop
        for entry in workshop.record.entries(until_tick=workshop.wave):
            self.count(own(entry.event))

    def count(self, event: object) -> None:
        """Take in an event."""
        self.sessions += isinstance(event, SessionEnded)
        self.lines += isinstance(event, Disclosed | Drafted)
        self.revised += isinstance(event, Revised)

    def numbers(self) -> str:
        """What the numbers say, calls and cost included."""
        usage = self.workshop.models.usage if self.workshop else None
        cost = "" if usage is None else (f", {usage.calls} calls, {usage.cost}")
        learned = len(self.workshop.strategies.carried()) if self.workshop else 0
        return f"{self.lines} lines, {self.revised} revised, {learned} strategies{cost}"


class Plain(_Counting):
    """A line for each session that begins or ends and each wave."""

    def __init__(self, settings: Synthesis, console: "Console") -> None:
        super().__init__(settings)
        self._console = console

    def on_line(self, event: object) -> None:
        """Tell that a session begins or ends."""
        self.count(event)
        if isinstance(event, Extracted):
            self._print(f"{event.session}  begins: {event.theme}, situation {event.situation}")
        if isinstance(event, SessionEnded):
            self._print(
                f"{event.session}  ended ({event.cause}): {event.messages} lines, {event.revised}"
                " revised"
            )

    def on_wave(self, waves: int) -> None:
        """Tell how far it is."""
        how_far = f"{self.sessions} of {self.settings.count} sessions, {self.numbers()}"
        self._print(f"-- wave {waves - 1} is written, {waves} of {self.settings.waves}: {how_far}")

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class Bar(_Counting):
    """A bar of sessions with time left, and what is being written."""

    def __init__(self, settings: Synthesis, bar: "Progress", task: "TaskID") -> None:
        super().__init__(settings)
        self._bar, self._task = bar, task

    def begin(self, workshop: "Workshop") -> None:
        """It begins, or goes on."""
        super().begin(workshop)
        self._bar.update(self._task, completed=self.sessions)

    def on_line(self, event: object) -> None:
        """Move the bar."""
        self.count(event)
        self._bar.update(self._task, completed=self.sessions, numbers=self.numbers())

    def on_wave(self, waves: int) -> None:
        """Show the strategies of the next wave."""
        self._bar.update(self._task, numbers=self.numbers())


@contextmanager
def progress(console: "Console", settings: Synthesis, plain: bool) -> Iterator[Plain | Bar]:
    """A display that fits the terminal; plain lines in a pipe."""
    if plain:
        yield Plain(settings, console)
        return
    with counting_bar(console, "numbers") as bar:
        yield Bar(settings, bar, bar.add_task("sessions", total=settings.count, numbers=""))
