"""How far a long computation is, on a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """A bar that moves."""

    def show(self, what: str, done: int, of: int | None) -> None:
        """What is done now, and how far it is; of: None where that is not known."""
        ...

    def say(self, line: str) -> None:
        """A line above the bar, which stays."""
        ...


@contextmanager
def bar(*, stderr: bool = False) -> Iterator[Bar]:
    """A bar that goes when it is done; in a pipe only what it says is seen."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    class Shown:
        def show(self, what: str, done: int, of: int | None) -> None:
            moving.update(task, description=what, completed=done, total=of)

        def say(self, line: str) -> None:
            moving.console.print(line, highlight=False)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, transient=True, console=Console(stderr=stderr)) as moving:
        task = moving.add_task("reading", total=None)
        yield Shown()
