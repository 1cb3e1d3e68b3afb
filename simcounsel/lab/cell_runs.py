"""A cell of a sweep is one run: opened, gone on with, and how far it is."""

import shutil
from pathlib import Path
from typing import Any

from simcounsel.engine.forking import fork
from simcounsel.engine.opening import begin_record, begin_run, placed_nowhere, with_digests
from simcounsel.errors import RunError
from simcounsel.runs.record import Record
from simcounsel.runs.run import Run
from simcounsel.runs.spending import Spending
from simcounsel.specs.cells import Cell
from simcounsel.specs.world import World


def found_cell(cell: Cell, out: Path) -> Record[Any] | None:
    """The cell's record as far as it was made; None where it was not begun."""
    folder = out / cell.name
    if not cell.kind.manifest_in(folder).is_file():
        return None
    record: Record[Any] = cell.kind.part("record").open(folder)
    return record


def open_cell(cell: Cell, out: Path) -> Record[Any]:
    """The cell's run: as far as it got, or new. What a crash at the very beginning left,
    without a manifest or its past, is made again.
    """
    record = found_cell(cell, out)
    if record is not None:
        _check_same(cell, record)
        if record.whole:
            return record
    shutil.rmtree(out / cell.name, ignore_errors=True)
    if not isinstance(cell.about, World):
        begun: Record[Any] = begin_record(cell.kind.part("record"), cell.about, out, name=cell.name)
        return begun
    if cell.past is None or cell.at_tick is None:
        return begin_run(cell.about, out, name=cell.name)
    return fork(Run.open(out / cell.past), cell.at_tick, cell.changes, out, cell.name, cell.about)


def _check_same(cell: Cell, record: Record[Any]) -> None:
    """RunError when the record is about something else, or from another past, than the cell
    says.
    """
    parent = record.manifest.parent
    past = (parent.run, parent.at_tick) if parent else (None, None)
    same = placed_nowhere(record.about) == placed_nowhere(with_digests(cell.about))
    if not same or past != (cell.past, cell.at_tick):
        raise RunError(
            f"{record.folder}: was {cell.kind.done} {cell.kind.otherwise} than the experiment says"
            " now; remove it, or choose another --out"
        )


def ticks_of(cell: Cell, out: Path) -> int:
    """How many ticks of this cell are behind it, skipped ones included. RunError when its folder
    holds something else.
    """
    record = found_cell(cell, out)
    if record is None:
        return 0
    _check_same(cell, record)
    return ticks_behind(cell, record, record.ticks_done())


def ticks_behind(cell: Cell, record: Record[Any], done: int) -> int:
    """Of a cell's ticks, how many are over when so many of its log are complete: those that are
    skipped next count too.
    """
    return min(record.next_tick(done), cell.ticks) if done else 0


def spent_on(cell: Cell, out: Path) -> tuple[int, float | None]:
    """Requests and USD of a run so far, without what a fork took over from its past. None: a price
    is unknown.
    """
    record = found_cell(cell, out)
    if record is None:
        return 0, 0.0
    spending = Spending.of(record.calls())
    return spending.requests, spending.cost_usd
