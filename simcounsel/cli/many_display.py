"""What many runs at once look like while they go on: one table in a terminal, plain lines
elsewhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class Going(Protocol):
    """How far a run is."""

    @property
    def state(self) -> str:
        """A word for it."""


P = TypeVar("P", bound=Going)


class ManyDisplay(ABC, Generic[P]):
    """A table in a terminal; elsewhere a line for each run that ends. ended: the states in which a
    run's progress is at its end.
    """

    def __init__(self, console: "Console", plain: bool, ended: Collection[str]) -> None:
        from rich.live import Live

        self.console = console
        self._ended = ended
        self._reported: set[str] = set()
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

    def __enter__(self) -> Self:
        if self._live:
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live:
            self._live.__exit__(*error)

    def on_change(self) -> None:
        """Say which runs have ended since."""
        for name, one in self._progress().items():
            if one.state in self._ended and name not in self._reported:
                self._reported.add(name)
                line = self._line(name, one)
                self.console.print(line, markup=False, highlight=False, soft_wrap=True)

    @abstractmethod
    def _progress(self) -> Mapping[str, P]:
        """How far each run is, by name."""

    @abstractmethod
    def _line(self, name: str, one: P) -> str:
        """What is said of a run that has ended."""

    @abstractmethod
    def _draw(self) -> "RenderableType":
        """The table."""
