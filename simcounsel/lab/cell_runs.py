"""A cell of a sweep is one run: opened, gone on with, and how far it is."""

import shutil
from pathlib import Path

from simcounsel.engine.forking import fork
from simcounsel.engine.opening import begin_run, placed_nowhere, with_digests
from simcounsel.errors import RunError
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.run import Run
from simcounsel.runs.spending import Spending
from simcounsel.specs.cells import Cell
from simcounsel.specs.kinds import WORDS


def open_cell(cell: Cell, out: Path) -> Run:
    """The cell's run: as far as it was lived, or new. What a crash at the very beginning left,
    without a manifest or its past, is made anew.
    """
    folder = out / cell.name
    if (folder / "manifest.json").is_file():
        run = Run.open(folder)
        _check_same(cell, run)
        if run.whole:
            return run
    shutil.rmtree(folder, ignore_errors=True)
    if cell.past is None or cell.at_tick is None:
        return begin_run(cell.about, out, name=cell.name)
    return fork(Run.open(out / cell.past), cell.at_tick, cell.changes, out, cell.name, cell.about)


def _check_same(cell: Cell, run: Run) -> None:
    """RunError when the run was lived in another world, with other settings, or from another past,
    than the cell says.
    """
    parent = run.manifest.parent
    past = (parent.run, parent.at_tick) if parent else (None, None)
    same = placed_nowhere(run.about) == placed_nowhere(with_digests(cell.about))
    if not same or past != (cell.past, cell.at_tick):
        words = WORDS[cell.about.kind]
        raise RunError(
            f"{run.folder}: was {words.done} {words.otherwise} than the experiment says now; remove"
            " it, or choose another --out"
        )


def ticks_of(cell: Cell, out: Path) -> int:
    """How many ticks of this cell are behind it, skipped ones included. RunError when its folder
    holds something else.
    """
    folder = out / cell.name
    if not (folder / "manifest.json").is_file():
        return 0
    _check_same(cell, Run.open(folder))
    return ticks_behind(cell, complete_ticks(folder))


def ticks_behind(cell: Cell, done: int) -> int:
    """Of a cell's ticks, how many are over when so many of its log are complete: those that are
    skipped next count too.
    """
    return min(cell.about.next_tick(done), cell.ticks) if done else 0


def spent_on(cell: Cell, out: Path) -> tuple[int, float | None]:
    """Requests and USD of a run so far, without what a fork took over from its past. None: a price
    is unknown.
    """
    folder = out / cell.name
    if not (folder / "manifest.json").is_file():
        return 0, 0.0
    spending = Spending.of(Run.open(folder).calls())
    return spending.requests, spending.cost_usd
