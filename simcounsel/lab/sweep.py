"""An experiment becomes runs: in parallel processes or on a Ray cluster, resumable, nothing run
twice.

OUT/experiment.json   the plan: arms, clients, seeds, hypotheses, which run is which; rewritten
                      at each start
OUT/NAME/             one folder a run, named after client, seed and condition
OUT/sweep.jsonl       what became of each run, as it came: done or failed, with the cause
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from simcounsel import interrupts, notebook
from simcounsel.errors import RunError, SimcounselError
from simcounsel.lab.cell_runs import spent_on, ticks_of
from simcounsel.lab.crew import Crew, Report, Workers
from simcounsel.lab.processes import CellJob, live_cell
from simcounsel.lab.shared_budget import InFile, Shared, SharedBudget
from simcounsel.llm.asking import current
from simcounsel.llm.catalog import roles_for
from simcounsel.llm.prices import Prices
from simcounsel.locks import taken
from simcounsel.runs.frames import html_table
from simcounsel.runs.jsonl import append_line
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.sweep_plan import write_plan

State = Literal["waiting", "running", "done", "failed", "stopped", "given up"]


@dataclass(kw_only=True)
class Progress:
    """How far one run is."""

    cell: Cell
    state: State = "waiting"
    tick: int = 0
    first_tick: int = 0
    calls: int = 0
    cost_usd: float | None = 0.0
    """None when a price is unknown."""
    cause: str | None = None
    began: float = field(default_factory=time.monotonic)


class Sweep:
    """All runs of an experiment, so many at once. `progress` is what a screen shows."""

    def __init__(
        self,
        experiment: Experiment,
        cells: tuple[Cell, ...],
        out: Path,
        *,
        processes: int | None = None,
        in_flight: int = 64,
        prices_file: Path | None = None,
    ) -> None:
        """processes: runs at once, the number of cores if None. in_flight: requests at once, shared
        among them.
        """
        self.experiment = experiment
        self.out = out
        self.progress = {cell.name: Progress(cell=cell) for cell in cells}
        self.interrupted = False
        self.stopping: str | None = None
        self.processes = max(1, min(processes or os.cpu_count() or 1, len(cells) or 1))
        self.in_flight = max(1, in_flight // self.processes)
        self.asking = current()
        self._prices_file = prices_file
        self.budget = SharedBudget(experiment.budget, cells, out, Prices.load(prices_file))
        self._used_up: str | None = None
        self._before: dict[str, tuple[int, float | None]] = {}

    @classmethod
    def of(
        cls,
        experiment: str | Path,
        out: str | Path | None = None,
        *,
        model: str | None = None,
        processes: int | None = None,
    ) -> "Sweep":
        """A sweep of an experiment's file, or of one that is included, by its name.

        out: its folder, `sweeps/NAME` if None; an earlier one of the same experiment goes on.
        model: for all roles but `embed`, in place of the file's. SpecError says what is wrong.
        """
        path = Path(experiment)
        loaded, cells = load_experiment(path, roles_for(model) if model else None)
        folder = Path(out) if out is not None else Path("sweeps") / path.stem
        return cls(loaded, cells, folder, processes=processes)

    def _repr_html_(self) -> str:
        """How a notebook shows it: each run, how far it is, what it cost."""
        rows = [
            (one.cell.name, f"{one.state}, {one.tick} of {one.cell.ticks} ticks")
            for one in self.progress.values()
        ]
        return html_table(f"{self.experiment.name}: {self.out}", rows)

    def run(self, on_change: Callable[[], None] = lambda: None) -> bool:
        """Live until each is done, failed or given up, or until it is stopped; whether all are
        done.
        """
        write_plan(self.experiment, tuple(p.cell for p in self.progress.values()), self.out)
        busy = "another process runs this sweep; wait for it, or stop it first"
        lock = taken(self.out / "sweep.lock", busy, RunError, "choose another --out")
        try:
            self._look_at_what_is_there()
            self.budget.begin()
            told = notebook.line()

            def changed() -> None:
                on_change()
                done = sum(one.state == "done" for one in self.progress.values())
                told(f"{done} of {len(self.progress)} runs done")

            self._run(changed)
        finally:
            self.budget.end()
            lock.release()
        return all(p.state == "done" for p in self.progress.values())

    def _look_at_what_is_there(self) -> None:
        for progress in self.progress.values():
            try:
                progress.tick = progress.first_tick = ticks_of(progress.cell, self.out)
                progress.calls, progress.cost_usd = spent_on(progress.cell, self.out)
            except SimcounselError as error:
                self._end(progress.cell.name, "failed", str(error))
                continue
            self._before[progress.cell.name] = progress.calls, progress.cost_usd
            if progress.tick >= progress.cell.ticks:
                progress.state = "done"

    def _run(self, on_change: Callable[[], None]) -> None:
        try:
            while self._start_some() or len(self.workers):
                self._take_all(self.workers.listen(), on_change)
            self.stopping = self.stopping or self._used_up
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopping = self.stopping or f"stopped by {interrupts.cause()}"
            self._take_all(self.workers.stop(), on_change)
        finally:  # also when a second Ctrl-C comes, or the screen cannot be written
            self.workers.kill()
        on_change()

    def _take_all(self, told: Iterator[tuple[str, Report]], on_change: Callable[[], None]) -> None:
        for name, report in told:
            self._take(name, report)
        on_change()

    def _start_some(self) -> bool:
        """Start what may start; whether anything waits still."""
        for progress in self._ready():
            if len(self.workers) >= self.processes or self.stopping:
                break
            self.workers.begin(progress.cell.name, self._job(progress.cell))
            progress.state, progress.began = "running", time.monotonic()
        return not self.stopping and any(self._ready())

    @cached_property
    def workers(self) -> Workers:
        """What runs the cells."""
        return Crew(live_cell)

    def _job(self, cell: Cell) -> Any:
        """What they need to know of a run."""
        return CellJob(
            cell=cell,
            out=self.out,
            in_flight=self.in_flight,
            prices_file=self._prices_file,
            budget=self._shared(),
        )

    def _shared(self) -> Shared | None:
        """What a process needs to keep to the budget."""
        usd, calls = self.experiment.budget.usd, self.experiment.budget.calls
        return InFile(usd=usd, calls=calls, file=self.budget.file) if self.budget.limited else None

    def _ready(self) -> Iterator[Progress]:
        """Those that wait, and whose past is run. A past that failed takes its forks with it."""
        for progress in list(self.progress.values()):
            if progress.state != "waiting":
                continue
            past = self.progress.get(progress.cell.past or "")
            if past is not None and past.state == "failed":
                self._end(
                    progress.cell.name,
                    "failed",
                    f"the past that it forks, {past.cell.name}, failed",
                )
            elif self._used_up and not self.budget.free(progress.cell):
                continue
            elif past is None or past.state == "done":
                yield progress

    def _take(self, name: str, report: Report) -> None:
        progress = self.progress[name]
        if "end" in report:
            self._used_up = self._used_up or report.get("used_up")
            if self.stopping and report.get("lost"):  # it was told to stop before it had begun
                self._end(name, "stopped", None, begun=True)
            else:
                self._end(name, report["end"], report["cause"], begun=True)
        else:
            calls, usd = self._before.get(name, (0, 0.0))
            progress.tick, progress.calls = report["tick"], calls + report["calls"]
            progress.cost_usd = (
                None if usd is None or report["cost_usd"] is None else usd + report["cost_usd"]
            )

    def _end(self, name: str, state: State, cause: str | None, begun: bool = False) -> None:
        """begun: whether it was under way."""
        progress = self.progress[name]
        progress.state, progress.cause = state, cause
        if begun:
            self.budget.ended(name)
            progress.calls, progress.cost_usd = spent_on(progress.cell, self.out)
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        line = {
            "run": name,
            "state": state,
            "cause": cause,
            "tick": progress.tick,
            "calls": progress.calls,
            "at": at,
        }
        append_line(self.out / "sweep.jsonl", line)

    def spent(self) -> tuple[int, float | None]:
        """Calls and USD of the whole sweep, earlier starts included."""
        costs = [p.cost_usd for p in self.progress.values()]
        return sum(p.calls for p in self.progress.values()), (
            None if None in costs else sum(c for c in costs if c is not None)
        )
