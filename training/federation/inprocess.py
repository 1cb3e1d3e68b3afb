"""Simulated sites in one process: trained one after another, or by a pool of workers that the
caller hands in.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from training.errors import SiteRefused, TrainingError
from training.federation.fixedpoint import Residues
from training.federation.replies import Failed, Summed
from training.federation.site import SiteSide
from training.federation.site_ledger import SiteLedger
from training.federation.terms import Terms
from training.federation.updates import Learned, Learner, Weights

T = TypeVar("T")
logger = logging.getLogger(__name__)


class TimedLearner:
    """A learner, and the seconds that it took."""

    def __init__(self, learner: Learner) -> None:
        self.learner, self.seconds = learner, 0.0

    def learn(self, site: str, weights: Weights, round: int, shift: Weights | None) -> Learned:
        began = time.perf_counter()
        try:
            return self.learner.learn(site, weights, round, shift)
        finally:
            self.seconds += time.perf_counter() - began


class InProcess:
    """Asks sites that share one learner. One of these serves all rounds of a federation. ledgers:
    by site, of those that keep one.

    workers: a pool, of which each worker sets its own threads (one for torch); with processes,
    learner and terms must pickle. Without: one after another. A call that outlives `timeout_s`
    cannot be ended; its answer is dropped, and as the learner may be in use still, the next site
    waits for it as long again, and then counts as failed.
    """

    def __init__(
        self,
        learner: Learner,
        terms: Terms,
        seed: int,
        workers: Executor | None = None,
        ledgers: Mapping[str, SiteLedger] = MappingProxyType({}),
    ) -> None:
        self.timed, self.terms, self.seed, self.workers = (
            TimedLearner(learner),
            terms,
            seed,
            workers,
        )
        self.ledgers = ledgers
        self._busy: tuple[str, threading.Thread] | None = None

    @property
    def learning_s(self) -> float | None:
        """Seconds spent learning, over all rounds so far; None with workers, whose time is their
        own.
        """
        return None if self.workers else self.timed.seconds

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> dict[str, bytes | Failed]:
        """Bytes for bytes."""
        return self._all(
            {site: partial(self._side(site, frozen).answer, data) for site, data in tasks.items()}
        )

    def ask_sum(self, tasks: Mapping[str, bytes], frozen: Weights, size: int) -> Summed:
        """The secure sum, with all its steps. Only this needs the extra `federated`."""
        from training.federation.summing import sum_of

        return sum_of(self.ask_parts(tasks, frozen), least=self.terms.needed)

    def ask_parts(
        self, tasks: Mapping[str, bytes], frozen: Weights
    ) -> dict[str, Residues | Failed]:
        """For a secure sum, each site's vector before it is masked; it never leaves the site's
        side.
        """
        return self._all(
            {
                site: partial(self._side(site, frozen).masked_part, data)
                for site, data in tasks.items()
            }
        )

    def _side(self, site: str, frozen: Weights) -> SiteSide:
        learner = self.timed.learner if self.workers else self.timed
        return SiteSide(
            name=site,
            learner=learner,
            terms=self.terms,
            seed=self.seed,
            frozen=frozen,
            ledger=self.ledgers.get(site),
        )

    def _all(self, calls: Mapping[str, Callable[[], T]]) -> dict[str, T | Failed]:
        if self.workers is None:
            return {site: self._alone(site, call) for site, call in sorted(calls.items())}
        futures = {site: self.workers.submit(call) for site, call in sorted(calls.items())}
        found: dict[str, T | Failed] = {}
        for site, future in futures.items():
            try:
                found[site] = future.result(self.terms.timeout_s)
            except TimeoutError:
                future.cancel()
                found[site] = self._late()
            except (Exception, CancelledError) as error:
                found[site] = self._failed(site, error)
        return found

    def _alone(self, site: str, call: Callable[[], T]) -> T | Failed:
        if self._busy is not None:
            self._busy[1].join(self.terms.timeout_s)
            if self._busy[1].is_alive():
                return Failed(
                    f"not begun: the learner is still busy with {self._busy[0]!r}, which did not"
                    " answer in time"
                )
            self._busy = None
        box: list[T | Failed] = []
        thread = threading.Thread(
            target=self._boxed, args=(site, call, box), name=f"site {site}", daemon=True
        )
        thread.start()
        thread.join(self.terms.timeout_s)
        if thread.is_alive():
            self._busy = (site, thread)
            return self._late()
        return box[0]

    def _boxed(self, site: str, call: Callable[[], T], box: list[T | Failed]) -> None:
        try:
            box.append(call())
        except BaseException as error:
            box.append(self._failed(site, error))

    def _late(self) -> Failed:
        return Failed(f"no answer within {self.terms.timeout_s:g} s")

    def _failed(self, site: str, error: BaseException) -> Failed:
        """With privacy only the kind of error is told, as its words may hold what the data hold;
        the site's own log has the rest.
        """
        logger.warning("site %s failed", site, exc_info=error)
        if not self.terms.tells_loss and not isinstance(error, SiteRefused):
            return Failed(f"failed there ({type(error).__name__}); the site's own log says why")
        return Failed(
            str(error) if isinstance(error, TrainingError) else f"{type(error).__name__}: {error}"
        )
