"""A run of a world: a record (see `runs.record`) in which people live.

memory/         beside the record's files: the memories with their vectors, in Chroma; made by the
                first search by meaning
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simcounsel.record_kinds import WORLD
from simcounsel.runs.manifest import RunManifest
from simcounsel.runs.record import Record
from simcounsel.specs.timeouts import Timeouts
from simcounsel.specs.world import World

if TYPE_CHECKING:  # pandas is of the extra `analysis`, and slow to import
    from pandas import DataFrame


class Run(Record[RunManifest]):
    """A run's folder. `create` begins one, `open` goes on with it."""

    kind = WORLD
    manifest_class = RunManifest

    @property
    def world(self) -> World:
        """As it was when the run began."""
        return self.manifest.world

    about = world

    @property
    def length(self) -> int:
        """How many ticks there will be."""
        return self.world.ticks

    @property
    def timeouts(self) -> Mapping[str, Timeouts]:
        """How long models are waited for, by model or provider."""
        return self.world.models.timeouts

    def next_tick(self, tick: int) -> int:
        """The first tick that is run, from `tick` on."""
        return self.world.next_tick(tick)

    def code_names(self) -> Sequence[str]:
        """The code that its world names."""
        return self.world.code_names()

    # tables

    def lines(self) -> "DataFrame":
        """Each line that was said, as a pandas frame. RunError where pandas is missing."""
        return self._frame("lines")

    def days(self) -> "DataFrame":
        """Each resident's days, likewise."""
        return self._frame("days")

    def measurements(self) -> "DataFrame":
        """Each score that was measured, as the run went on and afterwards, likewise."""
        return self._frame("measurements")

    def recalls(self) -> "DataFrame":
        """Each memory that came to mind, with its score and the terms of it, likewise."""
        return self._frame("recalls")

    def shifts(self) -> "DataFrame":
        """Where a client stood with each of its lines, and the words that moved it, likewise."""
        return self._frame("shifts")

    def beliefs(self) -> "DataFrame":
        """Each step in how strongly a client holds a belief, likewise."""
        return self._frame("beliefs")

    def _frame(self, name: str) -> "DataFrame":
        from simcounsel.runs.frames import frame_of

        return frame_of(self, name)


def load_run(folder: str | Path) -> Run:
    """A run from its folder. RunError says what is wrong with it."""
    return Run.open(folder)
