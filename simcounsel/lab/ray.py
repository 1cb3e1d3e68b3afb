"""The same sweep on a Ray cluster: each run is a task, and its folder comes back when it has
ended.
"""

import contextlib
import io
import logging
import os
import signal
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from simcounsel import hosts, named_code
from simcounsel.errors import SimcounselError
from simcounsel.lab.crew import LISTEN_S, Report, Workers, until_ended
from simcounsel.lab.processes import how_ended, live
from simcounsel.lab.shared_budget import Shared
from simcounsel.lab.sweep import Sweep
from simcounsel.llm.asking import Asking
from simcounsel.llm.budget import Budget
from simcounsel.llm.ledger import Amount, Ledger, Standing
from simcounsel.llm.prices import Prices
from simcounsel.record_kinds import WORLD, kind_of, other_kinds
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment

ENDED = ("end", "cause", "used_up")
GROWN = ("events.jsonl", "calls.jsonl")
"""What makes a run, beside its manifest; the memory on disk follows from these."""


class RaySweep(Sweep):
    """A Sweep whose runs go on a cluster. The nodes need simcounsel of the same version, and keys
    in their environment.

    A run lives in a folder of its node and is collected when its task ends; stopped or failed runs
    come back as far as they got, so that the next start goes on with them. All nodes claim
    from one ledger, on the machine of the sweep.
    """

    def __init__(
        self,
        experiment: Experiment,
        cells: tuple[Cell, ...],
        out: Path,
        *,
        address: str,
        in_flight: int = 64,
        prices_file: Path | None = None,
    ) -> None:
        """address: of the cluster's head, `auto` for the one this machine belongs to, `local` to
        start one here.
        """
        try:
            import ray
        except ModuleNotFoundError:
            raise SimcounselError("--ray needs Ray: pip install 'simcounsel[ray]'") from None
        self._ray: Any = ray
        heard = signal.getsignal(signal.SIGTERM)
        try:
            if not ray.is_initialized():
                ray.init(
                    address=None if address == "local" else address,
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise SimcounselError(
                f"--ray {address}: no cluster there ({str(error).splitlines()[0]}); start one with"
                " `ray start --head`"
            ) from None
        with contextlib.suppress(ValueError, TypeError):  # Ray's own would end us without a word
            signal.signal(signal.SIGTERM, heard)
        cores = int(self._ray.cluster_resources().get("CPU", 1))
        super().__init__(
            experiment, cells, out, processes=cores, in_flight=in_flight, prices_file=prices_file
        )
        self._prices = Prices.load(prices_file)
        self._keeper: Any = None
        self._task = ray.remote(num_cpus=1, max_retries=0, max_calls=1)(_live_there)

    @cached_property
    def workers(self) -> Workers:
        """The tasks of the cluster."""
        return _Tasks(self._ray, self._task, self.out)

    def _job(self, cell: Cell) -> Any:
        packed = {name: _pack(self.out / name) for name in (cell.name, cell.past) if name}
        limits = self.in_flight, self._prices, self.asking, self._shared()
        return (cell, packed, *limits, (hosts.named(), named_code.named()))

    def _shared(self) -> Shared | None:
        """The ledger lies on this machine: an actor here keeps it for all nodes."""
        usd, calls = self.experiment.budget.usd, self.experiment.budget.calls
        if not self.budget.limited:
            return None
        if self._keeper is None:
            here = self._ray.get_runtime_context().get_node_id()
            affinity = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
            self._keeper = (
                self._ray.remote(num_cpus=0)(_Keeper)
                .options(scheduling_strategy=affinity(here, soft=False))
                .remote(self.budget.file.resolve())
            )
        return WithKeeper(usd=usd, calls=calls, keeper=self._keeper)


class _Tasks:
    """Workers that are tasks of a cluster."""

    def __init__(self, ray: Any, task: Any, out: Path) -> None:
        self._ray, self._task, self._out = ray, task, out
        self._tasks: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, name: str, job: Any) -> None:
        """As `Workers.begin`."""
        self._tasks[name] = self._task.remote(*job)

    def listen(self) -> Iterator[tuple[str, Report]]:
        """As `Workers.listen`: wait a little for tasks that end, whose runs come back then."""
        waiting = {task: name for name, task in self._tasks.items()}
        if not waiting:
            time.sleep(LISTEN_S)
            return
        ended, _ = self._ray.wait(list(waiting), num_returns=1, timeout=0.5)
        for task in ended:
            name = waiting[task]
            del self._tasks[name]
            try:
                report, packed = self._ray.get(task)
            except Exception as error:  # the node died, or the task was cancelled
                cause = f"its node was lost ({type(error).__name__})"
                yield name, {"end": "failed", "cause": cause, "lost": True}
                continue
            _unpack(packed, self._out / name)
            if report.get("tick"):
                yield name, {key: report[key] for key in ("tick", "calls", "cost_usd")}
            yield name, {key: report.get(key) for key in ENDED}

    def stop(self) -> Iterator[tuple[str, Report]]:
        """As `Workers.stop`."""
        yield from until_ended(self, self._cancel, partial(self._cancel, force=True))

    def kill(self) -> None:
        """As `Workers.kill`."""
        self._cancel(force=True)
        self._tasks.clear()

    def _cancel(self, force: bool = False) -> None:
        for task in self._tasks.values():
            self._ray.cancel(task, force=force)


class _Keeper:
    """An actor: the ledger of a sweep, for processes that do not see its folder."""

    def __init__(self, file: Path) -> None:
        self._ledger = Ledger(file)

    def do(self, owner: str, name: str, *given: Any) -> Any:
        """What a ledger does, for that run."""
        self._ledger.owner = owner
        return getattr(self._ledger, name)(*given)


class _Kept:
    """The ledger as a node sees it: asked for over the cluster."""

    shared = True

    def __init__(self, keeper: Any, owner: str) -> None:
        self._keeper, self._owner = keeper, owner

    def _do(self, name: str, *given: Any) -> Any:
        import ray

        return ray.get(self._keeper.do.remote(self._owner, name, *given))

    def begin(self, spent: Amount) -> None:
        """As `Ledger.begin`."""
        self._do("begin", spent)

    def claim(
        self, ticket: int | None, most: Amount, calls: int | None, usd: float | None
    ) -> int | Standing:
        """As `Ledger.claim`."""
        found: int | Standing = self._do("claim", ticket, most, calls, usd)
        return found

    def settle(self, ticket: int, real: Amount) -> None:
        """As `Ledger.settle`."""
        self._do("settle", ticket, real)

    def close(self, ticket: int) -> None:
        """As `Ledger.close`."""
        self._do("close", ticket)

    def end(self) -> None:
        """The keeper lives as long as the sweep."""


@dataclass(frozen=True, kw_only=True)
class WithKeeper:
    """The budget of a sweep, for nodes of a cluster."""

    usd: float | None
    calls: int | None
    keeper: Any
    """The handle of the actor that has the ledger."""

    def opened(self, owner: str) -> Budget:
        """The budget, for the run of that name."""
        return Budget(usd=self.usd, calls=self.calls, ledger=_Kept(self.keeper, owner))


def _live_there(
    cell: Cell,
    packed: dict[str, bytes],
    in_flight: int,
    prices: Prices,
    asking: Asking,
    budget: Shared | None,
    named: tuple[str, str],
) -> tuple[dict[str, Any], bytes]:
    """On a node: unpack what is there already, go on, pack it again. Never raises, so that what
    was done comes back. named: the hosts to which the node's key may be sent, and the code
    that may be run.
    """
    import tempfile

    os.environ[hosts.VARIABLE], os.environ[named_code.VARIABLE] = named
    report: dict[str, Any] = {"end": "failed", "cause": None}
    with tempfile.TemporaryDirectory(prefix="simcounsel-") as scratch:
        out = Path(scratch)
        for name, data in packed.items():
            _unpack(data, out / name)
        try:
            live(cell, out, in_flight, prices, report.update, asking, budget)
            report |= how_ended(cell, out)
        except BaseException as error:
            report |= how_ended(cell, out, error)
        return report, _pack(out / cell.name)


def _pack(folder: Path) -> bytes:
    """A run's folder as a compressed tar; empty when there is none."""
    manifest = kind_of(folder).manifest_in(folder)
    if not manifest.is_file():
        return b""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in (manifest.name, *GROWN):
            if (folder / name).is_file():
                archive.add(folder / name, arcname=name)
    return buffer.getvalue()


def _unpack(data: bytes, folder: Path) -> None:
    if not data:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        known = {*GROWN, *(kind.file for kind in (WORLD, *other_kinds()))}
        for name in sorted(
            known & set(archive.getnames())
        ):  # the log after the replies that it rests on
            if (file := archive.extractfile(name)) is not None:
                part = folder / f"{name}.part"
                part.write_bytes(file.read())
                part.replace(folder / name)
