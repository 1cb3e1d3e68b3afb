"""An experiment becomes runs: in parallel processes or on a Ray cluster, resumable, nothing lived
twice.

OUT/experiment.json   the plan: arms, clients, seeds, hypotheses, which run is which; rewritten
                      at each start
OUT/NAME/             one folder a run, named after client, seed and condition
OUT/sweep.jsonl       what became of each run, as it came: done or failed, with the cause
"""

import os
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

from simcounsel import interrupts
from simcounsel.errors import RunError, SimcounselError
from simcounsel.lab.cell_runs import spent_on, ticks_of
from simcounsel.lab.plan import write_plan
from simcounsel.lab.processes import interrupt_held_back, live_in_process, process_context
from simcounsel.lab.shared_budget import InFile, Shared, SharedBudget
from simcounsel.llm.asking import current
from simcounsel.llm.prices import Prices
from simcounsel.locks import taken
from simcounsel.runs.jsonl import append_line
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment

NUDGE_S, KILL_S = 1.0, 2.0
"""After Ctrl-C: a run that still lives its tick is told again, which stops it at once; then killed.
"""
END_S = 1.0
"""A run that has told its end may take so long to leave; then its process is killed."""
State = Literal["waiting", "lives", "done", "failed", "stopped", "given up"]


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
        self.stopping: str | None = None
        self.processes = max(1, min(processes or os.cpu_count() or 1, len(cells) or 1))
        self.in_flight = max(1, in_flight // self.processes)
        self.asking = current()
        self._prices_file = prices_file
        self.budget = SharedBudget(experiment.budget, cells, out, Prices.load(prices_file))
        self._used_up: str | None = None
        self._children: dict[str, Any] = {}
        self._pipes: dict[str, Connection] = {}
        """What each of them tells, until it has told all."""
        self._before: dict[str, tuple[int, float | None]] = {}

    def run(self, on_change: Callable[[], None] = lambda: None) -> bool:
        """Live until each is done, failed or given up, or until it is stopped; whether all are
        done.
        """
        write_plan(self.experiment, tuple(p.cell for p in self.progress.values()), self.out)
        busy = "another process lives this sweep; wait for it, or stop it first"
        lock = taken(self.out / "sweep.lock", busy, RunError, "choose another --out")
        try:
            self._look_at_what_is_there()
            self.budget.begin()
            self._run(on_change)
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
            while self._start_some() or self._children:
                self._listen()
                on_change()
            self.stopping = self.stopping or self._used_up
        except KeyboardInterrupt:
            self._stop(f"stopped by {interrupts.cause()}")
            self._let_end(on_change)
        finally:  # also when a second Ctrl-C comes, or the screen cannot be written
            self._kill_all()
        on_change()

    def _let_end(self, on_change: Callable[[], None]) -> None:
        """Wait until all that were told to stop have ended: of themselves after their tick, or
        after NUDGE_S at once, or after KILL_S killed; what was lived is on disk.
        """
        began, nudged = time.monotonic(), False
        while self._children:
            passed = time.monotonic() - began
            if passed >= KILL_S:
                for child in self._children.values():
                    self._kill(child)
            elif passed >= NUDGE_S and not nudged:
                nudged = True
                for child in self._children.values():
                    self._interrupt(child)
            self._listen()
            on_change()

    def _kill_all(self) -> None:
        """End whoever is left, whatever becomes of us."""
        with interrupt_held_back():
            for child in self._children.values():
                self._kill(child)
            for child in self._children.values():
                self._join(child)

    def _start_some(self) -> bool:
        """Start what may start; whether anything waits still."""
        for progress in self._ready():
            if len(self._children) >= self.processes or self.stopping:
                break
            with interrupt_held_back():  # so that whoever was begun is known, and told to stop
                self._children[progress.cell.name] = self._begin(progress)
                progress.state, progress.began = "lives", time.monotonic()
        return not self.stopping and any(self._ready())

    def _begin(self, progress: Progress) -> Any:
        heard, told = self._context.Pipe(duplex=False)
        arguments = (
            progress.cell,
            self.out,
            self.in_flight,
            self._prices_file,
            dict(os.environ),
            self.asking,
            self._shared(),
            told,
        )
        child = self._context.Process(
            target=live_in_process, args=arguments, name=progress.cell.name, daemon=False
        )
        child.start()
        told.close()  # the child has its own: its end is then heard here
        self._pipes[progress.cell.name] = heard
        return child

    def _shared(self) -> Shared | None:
        """What a process needs to keep to the budget."""
        usd, calls = self.experiment.budget.usd, self.experiment.budget.calls
        return InFile(usd=usd, calls=calls, file=self.budget.file) if self.budget.limited else None

    @cached_property
    def _context(self) -> Any:
        return process_context()

    def _interrupt(self, child: Any) -> None:
        if child.is_alive():
            child.terminate()

    def _kill(self, child: Any) -> None:
        child.kill()

    def _join(self, child: Any) -> None:
        child.join(END_S)
        if child.is_alive():  # it said that it had ended, or was killed while a call was under way
            child.kill()
            child.join()

    def _ready(self) -> Iterator[Progress]:
        """Those that wait, and whose past is lived. A past that failed takes its forks with it."""
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

    def _listen(self) -> None:
        """Take in what the processes tell; a process that died without a word has failed."""
        if self._pipes:
            wait(self._pipes.values(), timeout=0.2)
        else:
            time.sleep(0.2)
        for name in list(self._pipes):
            self._hear(name)
        for name, child in list(self._children.items()):
            if child.is_alive():
                continue
            self._hear(name)
            if name in self._children:
                if self.stopping:  # it was told to stop before it had begun
                    self._end(name, "stopped", None)
                else:
                    self._end(name, "failed", f"its process ended with {child.exitcode}")

    def _hear(self, name: str) -> None:
        """All that a process has told by now."""
        while (pipe := self._pipes.get(name)) is not None:
            try:
                if not pipe.poll():
                    return
                report = pipe.recv()
            except (EOFError, OSError, pickle.UnpicklingError):  # it ended, perhaps within a word
                self._pipes.pop(name).close()
                return
            self._take(report)

    def _take(self, report: dict[str, Any]) -> None:
        progress = self.progress[report["run"]]
        if "end" in report:
            self._used_up = self._used_up or report.get("used_up")
            self._end(report["run"], report["end"], report["cause"])
        else:
            calls, usd = self._before.get(report["run"], (0, 0.0))
            progress.tick, progress.calls = report["tick"], calls + report["calls"]
            progress.cost_usd = (
                None if usd is None or report["cost_usd"] is None else usd + report["cost_usd"]
            )

    def _end(self, name: str, state: State, cause: str | None) -> None:
        progress = self.progress[name]
        progress.state, progress.cause = state, cause
        child = self._children.pop(name, None)
        pipe = self._pipes.pop(name, None)
        if pipe is not None:
            pipe.close()
        if child is not None:
            self._join(child)
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

    def _stop(self, why: str) -> None:
        if self.stopping is None:
            self.stopping = why
            for child in self._children.values():
                self._interrupt(child)
