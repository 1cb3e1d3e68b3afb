"""One budget for all runs of a sweep, in whatever process they are run."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from simcounsel.lab.cell_runs import found_cell
from simcounsel.llm.budget import Budget, spent_in
from simcounsel.llm.ledger import FILE, Amount, Ledger
from simcounsel.llm.prices import Prices
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Budget as Wanted


class Shared(Protocol):
    """What the process of a run is given."""

    def opened(self, owner: str) -> Budget:
        """The budget, for the run of that name."""
        ...


@dataclass(frozen=True, kw_only=True)
class InFile:
    """For processes of one machine."""

    usd: float | None
    calls: int | None
    file: Path

    def opened(self, owner: str) -> Budget:
        """The budget, for the run of that name."""
        return Budget(usd=self.usd, calls=self.calls, ledger=Ledger(self.file, owner))


class SharedBudget:
    """A sweep's own side of it. Every run claims from the same ledger, OUT/budget.sqlite3."""

    def __init__(self, wanted: Wanted, cells: Iterable[Cell], out: Path, prices: Prices) -> None:
        """ModelError for an unknown price, before anything is made."""
        self.wanted = wanted
        self.limited = wanted.usd is not None or wanted.calls is not None
        self._cells, self._out, self._prices = tuple(cells), out, prices
        self._ledger: Ledger | None = None
        names = {name for cell in self._cells for name in cell.about.model_names().values()}
        Budget(usd=wanted.usd, calls=wanted.calls).check_prices(sorted(names), prices)

    @property
    def file(self) -> Path:
        """Where the ledger lies."""
        return self._out / FILE

    def begin(self) -> None:
        """Count what the runs took at earlier starts; no other process runs this sweep."""
        if not self.limited:
            return
        spent = Amount()
        for cell in self._cells:
            if record := found_cell(cell, self._out):
                spent += spent_in(record.calls(), self._prices)
        self._ledger = Ledger(self.file)
        self._ledger.begin(spent)

    def ended(self, name: str) -> None:
        """The process of that run has ended: what it had in flight stays counted."""
        if self._ledger is not None:
            self._ledger.lose(name)

    def free(self, cell: Cell) -> bool:
        """Whether a run may begin though the budget is used up: in USD, where it costs nothing."""
        names = cell.about.model_names().values()
        return self.wanted.calls is None and all(
            self._prices.cost_usd(name, 1, 1) == 0 for name in names
        )

    def end(self) -> None:
        """Let go of the ledger."""
        if self._ledger is not None:
            self._ledger.end()
