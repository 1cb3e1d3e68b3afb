"""Many runs measured with one instrument: in parallel, each in a process; gone on with after
whatever ended it, so that nothing is asked twice.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from simcounsel import interrupts
from simcounsel.errors import RunError
from simcounsel.lab.crew import Crew, Report, Workers
from simcounsel.lab.rating_jobs import Job, Wanted, measure_run
from simcounsel.lab.shared_budget import InFile
from simcounsel.llm.budget import Budget, spent_in
from simcounsel.llm.ledger import FILE, Amount, Ledger
from simcounsel.llm.prices import Prices
from simcounsel.locks import taken
from simcounsel.runs.measurements import rating_calls

State = Literal["waiting", "rates", "done", "nothing", "failed", "stopped", "given up"]
"""`nothing`: there was nothing to measure, such as no conversation of a client who lives alone."""
ENDED: tuple[State, ...] = ("done", "nothing", "failed", "stopped", "given up")
LOCK = "ratings.lock"


@dataclass(kw_only=True)
class Progress:
    """How far one run is."""

    folder: Path
    """The run's."""
    state: State = "waiting"
    measured: int = 0
    """Measurements of it that are complete, those of earlier starts too."""
    targets: int | None = None
    """How many there will be; None: not known yet."""
    calls: int = 0
    """Requests of this start."""
    cost_usd: float | None = 0.0
    """Of these; None when a price is unknown."""
    cause: str | None = None
    """Why it failed or was given up."""
    began: float = field(default_factory=time.monotonic)
    """When its process was begun, in seconds."""


class Ratings:
    """All runs of some places measured, so many at once. `progress` is what a screen shows.

    A run that has as many finished ratings of this kind as are wanted is done; one that was broken
    off goes on after its last answer.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        wanted: Wanted,
        *,
        processes: int,
        in_flight: int = 64,
        prices_file: Path | None = None,
        budget: Budget | None = None,
        kept_in: Path | None = None,
    ) -> None:
        """processes: runs at once. in_flight: requests at once, shared among them. budget: of all
        together, kept in the folder `kept_in`. ModelError for a price that it would have to know.
        """
        self.wanted = wanted
        self.progress = {str(folder): Progress(folder=folder) for folder in folders}
        self.interrupted = False
        self.stopping: str | None = None
        self.processes = max(1, min(processes, len(folders)))
        self._in_flight = max(1, in_flight // self.processes)
        self._prices_file = prices_file
        self._prices = Prices.load(prices_file)
        self._budget = budget or Budget()
        self._budget.check_prices(wanted.models(folders).values(), self._prices)
        self._kept_in = kept_in
        self._used_up: str | None = None

    def run(self, on_change: Callable[[], None] = lambda: None) -> bool:
        """Measure until each is done, failed or given up, or until it is stopped; whether all are
        done.
        """
        busy = "another process measures these runs; wait for it, or stop it first"
        limited = self._limited
        lock = taken(self._file.parent / LOCK, busy, RunError) if limited else None
        try:
            if limited:
                self._ledger = Ledger(self._file)
                self._ledger.begin(self._spent_before())
            self._run(Crew(measure_run), on_change)
        finally:
            if limited:
                self._ledger.end()
                self._budget.end()
            if lock is not None:
                lock.release()
        return all(one.state in ("done", "nothing") for one in self.progress.values())

    def spent(self) -> tuple[int, float | None]:
        """Calls and USD of this start."""
        costs = [one.cost_usd for one in self.progress.values()]
        known = [cost for cost in costs if cost is not None]
        calls = sum(one.calls for one in self.progress.values())
        return calls, sum(known) if len(known) == len(costs) else None

    def _run(self, crew: Workers, on_change: Callable[[], None]) -> None:
        try:
            while self._start_some(crew) or len(crew):
                self._take_all(crew.listen())
                on_change()
            self.stopping = self.stopping or self._used_up
        except KeyboardInterrupt:
            self.interrupted = True
            self.stopping = f"stopped by {interrupts.cause()}"
            self._take_all(crew.stop())
        finally:  # also when a second Ctrl-C comes, or the screen cannot be written
            crew.kill()
        for one in self.progress.values():
            one.state = "stopped" if one.state == "rates" else one.state
        on_change()

    def _start_some(self, crew: Workers) -> bool:
        """Start what may start; whether anything waits still."""
        for name, one in self.progress.items():
            if len(crew) >= self.processes or self._used_up:
                break
            if one.state == "waiting":
                crew.begin(name, self._job(one.folder))
                one.state, one.began = "rates", time.monotonic()
        return not self._used_up and any(one.state == "waiting" for one in self.progress.values())

    def _job(self, folder: Path) -> Job:
        shared = (
            InFile(usd=self._budget.usd, calls=self._budget.calls, file=self._file)
            if self._limited
            else None
        )
        return Job(
            folder=folder,
            wanted=self.wanted,
            in_flight=self._in_flight,
            prices_file=self._prices_file,
            budget=shared,
        )

    def _take_all(self, told: Iterator[tuple[str, Report]]) -> None:
        for name, report in told:
            one = self.progress[name]
            if "end" not in report:
                one.measured, one.targets = report["measured"], report["targets"]
                one.calls, one.cost_usd = report["calls"], report["cost_usd"]
                continue
            one.state, one.cause = report["end"], report["cause"]
            if self.stopping and report.get("lost"):  # told to stop before it had begun
                one.state, one.cause = "stopped", None
            self._used_up = self._used_up or report.get("used_up")
            if self._limited:
                self._ledger.lose(name)

    @property
    def _limited(self) -> bool:
        return self._budget.limited and self._kept_in is not None

    @property
    def _file(self) -> Path:
        """Where the account of the budget lies."""
        assert self._kept_in is not None
        return self._kept_in / FILE

    def _spent_before(self) -> Amount:
        spent = Amount()
        for one in self.progress.values():
            spent += spent_in(rating_calls(one.folder), self._prices)
        return spent
