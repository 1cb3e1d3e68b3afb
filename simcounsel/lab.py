"""An experiment becomes runs: in parallel processes or on a Ray cluster, resumable, nothing lived twice.

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
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from simcounsel.errors import RunError, SimcounselError
from simcounsel.llm.prices import Prices
from simcounsel.runs import Run
from simcounsel.specs.experiment import Cell, Experiment, differences

REQUESTS_A_DAY, CHARACTERS_A_DAY, REPLY_TOKENS = 79.0, 247_000.0, 60.0
"""Of a resident and simulated day with all phases, as tests/benchmarks/engine.py measures them (W3): what
a plan's estimate rests on. Replies are mostly short JSON."""
CHARACTERS_A_TOKEN = 4.0
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


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a sweep would take, judged by what the engine's benchmark measured. cost_usd: None when a price is unknown."""

    runs: int
    resident_days: float
    requests: int
    cost_usd: float | None


def estimate(cells: tuple[Cell, ...], prices: Prices) -> Estimate:
    """Requests and cost of all runs; a forked run counts from its fork on."""
    days = requests = 0.0
    cost: float | None = 0.0
    for cell in cells:
        ticks = cell.ticks - (cell.at_tick or 0)
        own = len(cell.world.present()) * ticks * cell.world.tick_minutes / 1440
        days += own
        requests += own * REQUESTS_A_DAY
        tokens_in, tokens_out = own * CHARACTERS_A_DAY / CHARACTERS_A_TOKEN, own * REQUESTS_A_DAY * REPLY_TOKENS
        spent = prices.cost_usd(cell.world.models.reason, int(tokens_in), int(tokens_out))
        cost = None if cost is None or spent is None else cost + spent
    return Estimate(runs=len(cells), resident_days=days, requests=round(requests), cost_usd=cost)


def plan_lines(experiment: Experiment, cells: tuple[Cell, ...], prices: Prices, out: Path) -> Iterator[str]:
    """The plan in words, what it would take, and in which keys the conditions differ."""
    told = estimate(cells, prices)
    cost = "price unknown" if told.cost_usd is None else f"{told.cost_usd:.2f} USD"
    yield f"experiment   {experiment.name}"
    yield f"clients      {', '.join(sorted({cell.client for cell in cells}))}"
    yield f"conditions   {', '.join(arm.name for arm in experiment.conditions)}"
    yield f"seeds        {', '.join(map(str, experiment.all_seeds))}"
    if experiment.paired_at is not None:
        yield f"paired       each client's first {experiment.paired_at} ticks are lived once, then forked into every condition"
    yield f"runs         {told.runs}, in {out}"
    yield f"estimate     {told.requests} requests, {cost}, for {told.resident_days:.1f} resident-days"
    for one in experiment.hypotheses:
        yield f"planned      {one.id}: {one.test} of {one.instrument}.{one.score}, {' against '.join(one.contrast)}, {one.direction}"
    yield "the conditions differ in"
    yield from (f"  {line}" for line in differences(cells))


def write_plan(experiment: Experiment, cells: tuple[Cell, ...], out: Path) -> None:
    """Begin, or go on with, a sweep in `out`. RunError when another experiment lives there."""
    plan = {
        "name": experiment.name, "about": experiment.about,
        "arms": [{"name": arm.name, "about": arm.about, "changes": arm.set} for arm in experiment.conditions],
        "clients": sorted({cell.client for cell in cells}), "seeds": list(experiment.all_seeds), "paired_at": experiment.paired_at,
        "hypotheses": [hypothesis.model_dump(mode="json") for hypothesis in experiment.hypotheses],
        "runs": [{"run": cell.name, "arm": cell.arm, "client": cell.client, "seed": cell.seed, "pair": cell.pair} for cell in cells],
    }
    file = out / "experiment.json"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            there = json.loads(file.read_text(encoding="utf-8")).get("name")
            if there != experiment.name:
                raise RunError(f"{out}: holds the sweep {there!r} already; choose another --out for {experiment.name!r}")
        part = file.with_suffix(".part")
        part.write_text(json.dumps(plan, indent=1, ensure_ascii=False), encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error.strerror}); choose another --out") from None


def opened(cell: Cell, out: Path) -> Run:
    """The cell's run: as far as it was lived, or new. A folder without a manifest, left by a crash at the very beginning, is made anew."""
    from simcounsel.engine.forking import fork
    from simcounsel.engine.opening import begin_run

    folder = out / cell.name
    if (folder / "manifest.json").is_file():
        run = Run.open(folder)
        if run.world.model_dump() != cell.world.model_copy(update={"ticks": run.world.ticks}).model_dump():
            raise RunError(f"{folder}: was lived in another world than the experiment says now; remove it, or choose another --out")
        if run.ticks_done() >= (cell.at_tick or 0):  # else a crash cut the copying of the past short
            return run
    shutil.rmtree(folder, ignore_errors=True)
    if cell.past is None or cell.at_tick is None:
        return begin_run(cell.world, out, name=cell.name)
    return fork(Run.open(out / cell.past), cell.at_tick, cell.changes, out, cell.name)


def ticks_of(cell: Cell, out: Path) -> int:
    """How many ticks of this cell are lived already."""
    folder = out / cell.name
    return Run.open(folder).ticks_done() if (folder / "manifest.json").is_file() else 0


def live(cell: Cell, out: Path, in_flight: int, prices: Prices | None, tell: Callable[[dict[str, Any]], None]) -> None:
    """Live one run to its end, in this process. tell: is told of each tick, and of the end.

    Ctrl-C (SIGINT) stops it after the tick that is being lived; a second one at once.
    """
    from simcounsel.engine.opening import models_for
    from simcounsel.engine.simulation import Simulation
    from simcounsel.events import TickEnded

    run = opened(cell, out)
    models = models_for(run.world, run, in_flight=in_flight, prices=prices)
    simulation = Simulation(run.world, run=run, models=models)

    def stop(*_: object) -> None:
        if simulation.stopped_because:
            raise KeyboardInterrupt
        simulation.stopped_because = "stopped"

    def on_event(entry: Any) -> None:
        if isinstance(entry.event, TickEnded):
            usage = simulation.models.usage
            tell({"run": cell.name, "tick": entry.tick + 1, "calls": usage.calls, "cost_usd": usage.cost_usd})

    with contextlib.suppress(ValueError):  # outside a main thread: whoever runs this stops it otherwise
        signal.signal(signal.SIGINT, stop)
    simulation.on_event = on_event
    simulation.run(cell.ticks - simulation.tick)


def _child(cell: Cell, out: Path, in_flight: int, prices_file: Path | None, told: "multiprocessing.Queue[dict[str, Any]]") -> None:
    """A process of its own for each run: Mesa never frees a model."""
    try:
        live(cell, out, in_flight, Prices.load(prices_file), told.put)
        done = ticks_of(cell, out) >= cell.ticks
        told.put({"run": cell.name, "end": "done" if done else "stopped", "cause": None})
    except KeyboardInterrupt:
        told.put({"run": cell.name, "end": "stopped", "cause": None})
    except SimcounselError as error:
        told.put({"run": cell.name, "end": "failed", "cause": str(error)})
    except Exception as error:
        told.put({"run": cell.name, "end": "failed", "cause": f"{type(error).__name__}: {error}"})


class Sweep:
    """All runs of an experiment, so many at once. `progress` is what a screen shows."""

    def __init__(
        self, experiment: Experiment, cells: tuple[Cell, ...], out: Path, *, processes: int | None = None, in_flight: int = 64,
        prices_file: Path | None = None,
    ) -> None:
        """processes: runs at once, the number of cores if None. in_flight: requests at once, shared among them."""
        self.experiment = experiment
        self.out = out
        self.progress = {cell.name: Progress(cell=cell) for cell in cells}
        self.stopping: str | None = None
        self.processes = max(1, min(processes or os.cpu_count() or 1, len(cells) or 1))
        self.in_flight = max(1, in_flight // self.processes)
        self._prices_file = prices_file
        self._spawn = multiprocessing.get_context("spawn")
        self._told: Any = self._spawn.Queue()
        self._children: dict[str, Any] = {}

    def run(self, on_change: Callable[[], None] = lambda: None) -> bool:
        """Live until all are done or failed, or until it is stopped; whether all are done."""
        write_plan(self.experiment, tuple(p.cell for p in self.progress.values()), self.out)
        for progress in self.progress.values():
            progress.tick = progress.first_tick = ticks_of(progress.cell, self.out)
            if progress.tick >= progress.cell.ticks:
                progress.state = "done"
        try:
            while self._start_some() or self._children:
                self._listen()
                self._check_budget()
                on_change()
        except KeyboardInterrupt:
            self._stop("stopped by Ctrl-C")
            while self._children:
                self._listen()
                on_change()
        return all(p.state == "done" for p in self.progress.values())

    def _start_some(self) -> bool:
        """Start what may start; whether anything waits still."""
        for progress in self._ready():
            if len(self._children) >= self.processes or self.stopping:
                break
            self._children[progress.cell.name] = self._begin(progress)
            progress.state, progress.began = "lives", time.monotonic()
        return not self.stopping and any(self._ready())

    def _begin(self, progress: Progress) -> Any:
        arguments = (progress.cell, self.out, self.in_flight, self._prices_file, self._told)
        child = self._spawn.Process(target=_child, args=arguments, name=progress.cell.name, daemon=False)
        child.start()
        return child

    def _interrupt(self, child: Any) -> None:
        if child.pid is not None and child.is_alive():
            os.kill(child.pid, signal.SIGINT)

    def _join(self, child: Any) -> None:
        child.join()

    def _ready(self) -> Iterator[Progress]:
        """Those that wait, and whose past is lived. A past that failed takes its forks with it."""
        for progress in list(self.progress.values()):
            if progress.state != "waiting":
                continue
            past = self.progress.get(progress.cell.past or "")
            if past is not None and past.state == "failed":
                self._end(progress.cell.name, "failed", f"the past that it forks, {past.cell.name}, failed")
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
                self._end(name, "failed", f"its process ended with {child.exitcode}")

    def _take(self, told: dict[str, Any]) -> None:
        progress = self.progress[told["run"]]
        if "end" in told:
            self._end(told["run"], told["end"], told["cause"])
        else:
            progress.tick, progress.calls, progress.cost_usd = told["tick"], told["calls"], told["cost_usd"]

    def _end(self, name: str, state: State, cause: str | None) -> None:
        progress = self.progress[name]
        progress.state, progress.cause = state, cause
        child = self._children.pop(name, None)
        if child is not None:
            self._join(child)
        at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        line = {"run": name, "state": state, "cause": cause, "tick": progress.tick, "calls": progress.calls, "at": at}
        with (self.out / "sweep.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _check_budget(self) -> None:
        calls, usd = self.spent()
        budget = self.experiment.budget
        if budget.calls is not None and calls >= budget.calls:
            self._stop(f"the budget of {budget.calls} calls is used up")
        elif budget.usd is not None and usd is None:
            self._stop(f"a budget of {budget.usd:g} USD was set, but a model's price is unknown; give it with --prices")
        elif budget.usd is not None and usd is not None and usd >= budget.usd > 0:
            self._stop(f"the budget of {budget.usd:g} USD is used up")

    def spent(self) -> tuple[int, float | None]:
        """Calls and USD of this start of the sweep."""
        costs = [p.cost_usd for p in self.progress.values()]
        return sum(p.calls for p in self.progress.values()), None if None in costs else sum(c for c in costs if c is not None)

    def _stop(self, why: str) -> None:
        if self.stopping is None:
            self.stopping = why
            for child in self._children.values():
                self._interrupt(child)
