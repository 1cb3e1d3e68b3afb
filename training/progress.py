"""How far a long computation is, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from simcounsel.terminal import console, counting_bar


class MovingBar(Protocol):
    """A bar that moves."""

    def show(self, what: str, done: int, of: int | None) -> None:
        """What is done now, and how far it is; of: None where that is not known."""
        ...

    def say(self, line: str) -> None:
        """A line above the bar, which stays."""
        ...


class _Silent:
    """In a pipe: no bar, not even the empty line that one leaves."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say

    def show(self, what: str, done: int, of: int | None) -> None:
        pass


@contextmanager
def bar(*, stderr: bool = False) -> Iterator[MovingBar]:
    """A bar that goes when it is done; in a pipe only what it says is seen."""

    class Shown:
        def show(self, what: str, done: int, of: int | None) -> None:
            moving.update(task, description=what, completed=done, total=of)

        def say(self, line: str) -> None:
            moving.console.print(line)

    where = console(stderr=stderr)
    if not where.is_terminal:
        yield _Silent(where.print)
        return
    with counting_bar(where) as moving:
        task = moving.add_task("reading", total=None)
        yield Shown()
