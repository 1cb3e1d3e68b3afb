"""An experiment becomes runs: in parallel processes or on a Ray cluster, resumable, nothing lived
twice.

OUT/experiment.json   the plan: arms, clients, seeds, hypotheses, and which run is which; rewritten at each start
OUT/NAME/             one folder a run, named after client, seed and condition
OUT/sweep.jsonl       what became of each run, as it came: done or failed, with the cause
"""

import contextlib
import json
import multiprocessing
import os
import queue
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from simcounsel.errors import RunError, SimcounselError
from simcounsel.lab.plan import write_plan
from simcounsel.llm.prices import Prices
from simcounsel.runs.folder import complete_ticks
from simcounsel.runs.run import Run
from simcounsel.specs.experiment import Cell, Experiment
from simcounsel.specs.synthesis import Synthesis
from simcounsel.specs.world import World

State = Literal["waiting", "lives", "done", "failed", "stopped"]


@dataclass(kw_only=True)
class Progress:
    """How far one run is. cost_usd: None when a price is unknown."""

    cell: Cell
    state: State = "waiting"
    tick: int = 0
    first_tick: int = 0
    calls: int = 0
    cost_usd: float | None = 0.0
    cause: str | None = None
    began: float = field(default_factory=time.monotonic)


def opened(cell: Cell, out: Path) -> Run:
    """The cell's run: as far as it was lived, or new. What a crash at the very beginning left,
    without a manifest or its past, is made anew.
    """
    from simcounsel.engine.forking import fork
    from simcounsel.engine.opening import begin_run

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
    from simcounsel.engine.opening import placed_nowhere, with_digests

    parent = run.manifest.parent
    past = (parent.run, parent.at_tick) if parent else (None, None)
    same = placed_nowhere(run.about) == placed_nowhere(with_digests(cell.about))
    if not same or past != (cell.past, cell.at_tick):
        how = (
            "lived in another world"
            if isinstance(cell.about, World)
            else "written with other settings"
        )
        raise RunError(
            f"{run.folder}: was {how} than the experiment says now; remove it, or choose another"
            " --out"
        )


def ticks_of(cell: Cell, out: Path) -> int:
    """How many ticks of this cell are behind it, skipped ones included. RunError when its folder
    holds something else.
    """
    folder = out / cell.name
    if not (folder / "manifest.json").is_file():
        return 0
    _check_same(cell, Run.open(folder))
    return _behind(cell, complete_ticks(folder))


def _behind(cell: Cell, done: int) -> int:
    """Of a cell's ticks, how many are over when so many of its log are complete: those that are
    skipped next count too.
    """
    return (
        min(cell.about.next_tick(done), cell.ticks)
        if done and isinstance(cell.about, World)
        else done
    )


def spent_on(cell: Cell, out: Path) -> tuple[int, float | None]:
    """Calls and USD of a run so far, without what a fork took over from its past. None: a price is
    unknown.
    """
    folder = out / cell.name
    if not (folder / "manifest.json").is_file():
        return 0, 0.0
    own = [
        call
        for call in Run.open(folder).calls()
        if call.get("verb") != "embed" and not call.get("copied")
    ]
    costs = [call.get("cost_usd") for call in own]
    return len(own), None if None in costs else sum(cost for cost in costs if cost is not None)


def live(
    cell: Cell,
    out: Path,
    in_flight: int,
    prices: Prices | None,
    tell: Callable[[dict[str, Any]], None],
    stop_on: int = signal.SIGINT,
) -> None:
    """Live one run, or write one synthesis, to its end, in this process. tell: is told of each tick
    (or wave), and of the end.

    The signal `stop_on` stops it after the tick that is being lived; a second one at once.
    """
    from simcounsel.corpus.synthesis import Workshop
    from simcounsel.engine.opening import models_for
    from simcounsel.engine.simulation import Simulation
    from simcounsel.events import TickEnded

    run = opened(cell, out)
    models = models_for(run, in_flight=in_flight, prices=prices)

    def told(ticks: int) -> None:
        tell(
            {
                "run": cell.name,
                "tick": ticks,
                "calls": models.usage.calls,
                "cost_usd": models.usage.cost_usd,
            }
        )

    def on_event(entry: Any) -> None:
        if isinstance(entry.event, TickEnded):
            told(_behind(cell, entry.tick + 1))

    going: Simulation | Workshop
    if isinstance(cell.about, Synthesis):
        going = Workshop(run, models=models, on_wave=told)
        left = None
    else:
        going = Simulation(run.world, run=run, models=models, on_event=on_event)
        left = cell.ticks - going.tick

    def stop(*_: object) -> None:
        if going.stopped_because:
            raise KeyboardInterrupt
        going.stopped_because = "stopped"

    with contextlib.suppress(
        ValueError
    ):  # outside a main thread: whoever runs this stops it otherwise
        signal.signal(stop_on, stop)
    going.run(left)


def _processes() -> Any:
    """How processes are begun. On Linux each is a fork of one that has imported everything once,
    which saves seconds a run; elsewhere, and where that one cannot be had (its socket's path would
    be too long), each imports for itself.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["simcounsel.lab.preload"])
    try:
        with _same_imports():
            forkserver.ensure_running()
    except OSError:
        return multiprocessing.get_context("spawn")
    return context


@contextlib.contextmanager
def _same_imports() -> Iterator[None]:
    """A Python that is started meanwhile finds the modules that this one finds, and not first those
    that lie where it is started.
    """
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "PYTHONSAFEPATH")}
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(place or os.getcwd() for place in sys.path),
        "PYTHONSAFEPATH": "1",
    }
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _child(
    cell: Cell,
    out: Path,
    in_flight: int,
    prices_file: Path | None,
    environment: dict[str, str],
    told: "multiprocessing.Queue[dict[str, Any]]",
) -> None:
    """A process of its own for each run: Mesa never frees a model. environment: of whoever wants
    the run; what is imported already was imported with that of the first sweep in this process.
    """
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # a terminal's Ctrl-C reaches children too: they leave it to their parent
    os.environ.clear()
    os.environ.update(environment)
    try:
        live(cell, out, in_flight, Prices.load(prices_file), told.put, signal.SIGTERM)
        done = ticks_of(cell, out) >= cell.ticks
        told.put({"run": cell.name, "end": "done" if done else "stopped", "cause": None})
    except KeyboardInterrupt:
        told.put({"run": cell.name, "end": "stopped", "cause": None})
    except SimcounselError as error:
        told.put({"run": cell.name, "end": "failed", "cause": str(error)})
    except Exception as error:
        told.put({"run": cell.name, "end": "failed", "cause": f"{type(error).__name__}: {error}"})


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """A Ctrl-C that comes meanwhile is heard at the end. Processes that are started meanwhile never
    hear one: they leave it to their parent.
    """
    heard: list[int] = []
    try:
        before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    except ValueError:  # outside a main thread nothing is changed
        yield
        return
    masked = (
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        if hasattr(signal, "pthread_sigmask")
        else None
    )
    try:
        yield
    finally:
        if masked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)  # to whoever hears it otherwise


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
        self._prices_file = prices_file
        self._told: Any = multiprocessing.get_context("spawn").Queue()
        self._children: dict[str, Any] = {}
        self._before: dict[str, tuple[int, float | None]] = {}

    def run(self, on_change: Callable[[], None] = lambda: None) -> bool:
        """Live until all are done or failed, or until it is stopped; whether all are done."""
        write_plan(self.experiment, tuple(p.cell for p in self.progress.values()), self.out)
        lock = FileLock(str(self.out / "sweep.lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"{self.out}: another process lives this sweep; wait for it, or stop it first"
            ) from None
        try:
            self._look_at_what_is_there()
            self._run(on_change)
        finally:
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
            self._check_budget()
            while self._start_some() or self._children:
                self._listen()
                self._check_budget()
                on_change()
        except KeyboardInterrupt:
            self._stop("stopped by Ctrl-C")
            try:
                while self._children:
                    self._listen()
                    on_change()
            except KeyboardInterrupt:  # a second time: at once; what was lived is on disk
                for child in self._children.values():
                    self._kill(child)
                raise
        on_change()

    def _start_some(self) -> bool:
        """Start what may start; whether anything waits still."""
        for progress in self._ready():
            if len(self._children) >= self.processes or self.stopping:
                break
            with _held_back():  # so that whoever was begun is known, and told to stop
                self._children[progress.cell.name] = self._begin(progress)
                progress.state, progress.began = "lives", time.monotonic()
        return not self.stopping and any(self._ready())

    def _begin(self, progress: Progress) -> Any:
        arguments = (
            progress.cell,
            self.out,
            self.in_flight,
            self._prices_file,
            dict(os.environ),
            self._told,
        )
        child = self._context.Process(
            target=_child, args=arguments, name=progress.cell.name, daemon=False
        )
        child.start()
        return child

    @cached_property
    def _context(self) -> Any:
        return _processes()

    def _interrupt(self, child: Any) -> None:
        if child.is_alive():
            child.terminate()

    def _kill(self, child: Any) -> None:
        child.kill()

    def _join(self, child: Any) -> None:
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
            elif past is None or past.state == "done":
                yield progress

    def _listen(self) -> None:
        """Take in what the processes tell; a process that died without a word has failed."""
        try:
            told = self._told.get(timeout=0.2)
            while True:
                self._take(told)
                told = self._told.get_nowait()
        except queue.Empty:
            pass
        for name, child in list(self._children.items()):
            if not child.is_alive() and self._told.empty():
                if self.stopping:  # it was told to stop before it had begun
                    self._end(name, "stopped", None)
                else:
                    self._end(name, "failed", f"its process ended with {child.exitcode}")

    def _take(self, told: dict[str, Any]) -> None:
        progress = self.progress[told["run"]]
        if "end" in told:
            self._end(told["run"], told["end"], told["cause"])
        else:
            calls, usd = self._before.get(told["run"], (0, 0.0))
            progress.tick, progress.calls = told["tick"], calls + told["calls"]
            progress.cost_usd = (
                None if usd is None or told["cost_usd"] is None else usd + told["cost_usd"]
            )

    def _end(self, name: str, state: State, cause: str | None) -> None:
        progress = self.progress[name]
        progress.state, progress.cause = state, cause
        child = self._children.pop(name, None)
        if child is not None:
            self._join(child)
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        line = {
            "run": name,
            "state": state,
            "cause": cause,
            "tick": progress.tick,
            "calls": progress.calls,
            "at": at,
        }
        with (self.out / "sweep.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _check_budget(self) -> None:
        calls, usd = self.spent()
        budget = self.experiment.budget
        if budget.calls is not None and calls >= budget.calls:
            self._stop(f"the budget of {budget.calls} calls is used up")
        elif budget.usd is not None and usd is None:
            self._stop(
                f"a budget of {budget.usd:g} USD was set, but a model's price is unknown; give it"
                " with --prices"
            )
        elif budget.usd is not None and usd is not None and usd > 0 and usd >= budget.usd:
            self._stop(f"the budget of {budget.usd:g} USD is used up")

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
