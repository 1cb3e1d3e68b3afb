"""A run of a sweep in a process of its own, since Mesa never frees a model."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from simcounsel.engine.opening import models_for
from simcounsel.engine.simulation import Simulation
from simcounsel.errors import BudgetSpent, GivenUp, SimcounselError
from simcounsel.events import Entry, TickEnded
from simcounsel.lab.cell_runs import open_cell, ticks_behind, ticks_of
from simcounsel.lab.shared_budget import Shared
from simcounsel.llm import tracing
from simcounsel.llm.asking import Asking, asked, current
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.runs.run import Run
from simcounsel.specs.cells import Cell


def simulation(
    cell: Cell, run: Run, models: Switchboard, report: Callable[[int], None]
) -> tuple[Simulation, int]:
    """What runs a world, and how many ticks are left. report: is told how many are
    complete.
    """

    def on_event(entry: Entry) -> None:
        if isinstance(entry.event, TickEnded):
            report(entry.tick + 1)

    going = Simulation(run.world, run=run, models=models, on_event=on_event)
    return going, cell.ticks - going.tick


def live(
    cell: Cell,
    out: Path,
    in_flight: int,
    prices: Prices | None,
    tell: Callable[[dict[str, Any]], None],
    asking: Asking,
    budget: Shared | None,
    stop_on: int = signal.SIGINT,
) -> None:
    """Live one run to its end, in this process. tell: is told of each tick, and of the
    end. asking: how patiently models are asked. budget: the sweep's; None: without one.

    The signal `stop_on` stops it after the tick that is running; a second one at once.
    """
    run = open_cell(cell, out)
    with asked(asking):
        models = models_for(run, in_flight=in_flight, prices=prices)
    if budget is not None:
        models.limit(budget.opened(cell.name), None)

    def report(done: int) -> None:
        tell(
            {
                "run": cell.name,
                "tick": ticks_behind(cell, run, done),
                "calls": models.usage.requests,
                "cost_usd": models.usage.cost_usd,
            }
        )

    going, left = cell.kind.part("going")(cell, run, models, report)

    def stop(*_: object) -> None:
        if going.stopped_because:
            raise KeyboardInterrupt
        going.stopped_because = "stopped"

    # outside a main thread whoever runs this stops it otherwise
    with contextlib.suppress(ValueError):
        signal.signal(stop_on, stop)
    going.run(left)


def process_context() -> Any:
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


@dataclass(frozen=True, kw_only=True)
class CellJob:
    """One run of a sweep, for its process."""

    cell: Cell
    """Which run."""
    out: Path
    """The sweep's folder."""
    in_flight: int
    """Requests at once."""
    prices_file: Path | None
    """Prices of one's own."""
    budget: Shared | None
    """The sweep's; None: without one."""


def live_cell(job: CellJob, tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Live a run, in a process of its own, since Mesa never frees a model; how it ended, and why.
    tell: is told of each tick.
    """
    try:
        prices = Prices.load(job.prices_file)
        limits = tell, current(), job.budget, signal.SIGTERM
        with tracing.exported():
            live(job.cell, job.out, job.in_flight, prices, *limits)
        return how_ended(job.cell, job.out)
    except BaseException as error:
        return how_ended(job.cell, job.out, error)
    finally:  # it ends anyhow
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def how_ended(cell: Cell, out: Path, error: BaseException | None = None) -> dict[str, Any]:
    """How a run ended, and why: what its process tells of its end."""
    end, cause = "stopped", None
    match error:
        case None:
            end = "done" if ticks_of(cell, out) >= cell.ticks else "stopped"
        case KeyboardInterrupt():
            pass
        case GivenUp():
            end, cause = "given up", str(error)
        case SimcounselError():
            end, cause = "failed", str(error)
        case Exception():
            end, cause = "failed", f"{type(error).__name__}: {error}"
        case _:
            raise error
    used_up = cause if isinstance(error, BudgetSpent) else None
    return {"end": end, "cause": cause, "used_up": used_up}


def die_with_parent() -> None:
    """Wait until whoever began this process is gone, however it ended, then end too: nobody would
    hear of what happens here, and a model may cost money. All of it is on disk.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "this runs in processes that another began"
    wait([parent.sentinel])
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


@contextlib.contextmanager
def interrupt_held_back() -> Iterator[None]:
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
