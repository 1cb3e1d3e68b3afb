"""How a run shows itself: as tables, in a notebook, in the viewer."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcounsel.runs import frames
from simcounsel.runs.history import History

if TYPE_CHECKING:  # pandas is of the extra `analysis`, and slow to import
    from pandas import DataFrame

    from simcounsel.runs.manifest import Manifest


class Shown:
    """What a run can be asked by whoever looks at it."""

    folder: Path
    damaged: bool
    manifest: Manifest
    length: Any
    name: Any
    about: Any

    def ticks_done(self) -> int:
        """How many ticks are complete in the log, which is not checked."""
        raise NotImplementedError

    def lines(self) -> DataFrame:
        """Each line that was said, as a pandas frame. RunError where pandas is missing."""
        return frames.frame_of(self, frames.lines, frames.LINES)

    def days(self) -> DataFrame:
        """Each resident's days, likewise."""
        return frames.frame_of(self, frames.days, frames.DAYS)

    def measurements(self) -> DataFrame:
        """Each score that was measured, as the run went on and afterwards, likewise."""
        return frames.frame_of(self, frames.measurements, frames.MEASUREMENTS)

    def recalls(self) -> DataFrame:
        """Each memory that came to mind, with its score and the terms of it, likewise."""
        return frames.frame_of(self, frames.recalls, frames.RECALLS)

    def shifts(self) -> DataFrame:
        """Where a client stood with each of its lines, and the words that moved it, likewise."""
        return frames.frame_of(self, frames.shifts, frames.SHIFTS)

    def beliefs(self) -> DataFrame:
        """Each step in how strongly a client holds a belief, likewise."""
        return frames.frame_of(self, frames.beliefs, frames.BELIEFS)

    def view(self, height: int = 760) -> Any:
        """The viewer inside a notebook: show what it gives back. Outside of one its address is
        printed. It is served on this machine until `close()`, or the end of the process.

        height: in pixels. What is given back is a `simcounsel.viewer.frame.Frame`, which is looked
        up when it is wanted: runs know nothing of the viewer.
        """
        return importlib.import_module("simcounsel.viewer.frame").Frame(self.folder, height)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        rows = {
            "folder": str(self.folder),
            "of": f"{self.about.name}, {self.about.condition}, seed {self.about.seed}",
            "lived": f"{self.ticks_done()} of {self.length}",
            "models": ", ".join(f"{role} {name}" for role, name in self.manifest.models.items()),
        }
        history = History.of(self)
        rows |= {"damaged": "; ".join(found)} if (found := history.log.all_damages()) else {}
        rows |= {kind.replace("_", " "): str(count) for kind, count in history.kinds().items()}
        return frames.html_table(self.name, rows.items())
