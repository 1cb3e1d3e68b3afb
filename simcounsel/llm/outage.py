"""Nobody answers: asked again with growing pauses, as long as somebody is willing to wait.

One clock for all requests in flight: an outage begins with the first that reaches nobody and ends
with any answer.
"""

import asyncio
import itertools
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

from simcounsel.errors import ModelUnreachable
from simcounsel.llm.asking import current
from simcounsel.llm.models import Failure

T = TypeVar("T")
log = logging.getLogger(__name__)
TELL_AFTER_S = 2.0
"""A server that is busy for a moment is nothing to tell of."""
TELL_EVERY_S = 15.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long to wait for a model that does not answer, and how."""

    wait_s: float = field(default_factory=lambda: current().wait_s)
    """Seconds since the outage began; `inf`: for ever."""
    first_pause_s: float = 0.5
    """Before the second attempt; doubled with each one."""
    longest_pause_s: float = 10.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def pause_s(self, attempt: int) -> float:
        """How long to pause after so many attempts; chance spreads those that failed together."""
        grown = self.first_pause_s * 2.0 ** min(attempt - 1, 30)
        return min(self.longest_pause_s, grown) * random.uniform(1, 1.5)


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """That a model is waited for."""

    cause: str
    """Who does not answer, and what was heard of it last."""
    left_s: float
    """Seconds until it is given up; `inf`: never."""

    def __str__(self) -> str:
        left = "for ever" if self.left_s == inf else f"{self.left_s:.0f} s more"
        return f"{self.cause}; waiting {left}"


async def asked_again(send: Callable[[], Awaitable[T]]) -> T:
    """What `send` comes to, asked once more after an answer of which nothing can be used."""
    try:
        return await send()
    except Failure as failure:
        if failure.transport or failure.lasting:
            raise
    return await send()


class Outage:
    """Since when nobody has answered, if so."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self._since: float | None = None
        self._told = False
        self._told_at = -inf
        self._cause = ""

    @property
    def waiting(self) -> Waiting | None:
        """What is waited for at this moment; None while somebody answers."""
        since = self._since
        if since is None:
            return None
        left_s = max(0.0, since + self.patience.wait_s - self.patience.clock())
        return Waiting(cause=self._cause, left_s=left_s)

    async def reach(self, name: str, send: Callable[[], Awaitable[T]]) -> T:
        """What `send` comes to, sent again while it reaches nobody.

        name: the model's. ModelUnreachable when the time is over, or at once for what waiting
        cannot repair; a Failure of another kind, which is an answer, as it is.
        """
        for attempt in itertools.count(1):
            try:
                found = await send()
            except Failure as failure:
                if not failure.transport:
                    self._answered()
                    raise
                await self._wait(name, failure, attempt)
            else:
                self._answered()
                return found
        raise AssertionError("it is counted without end")

    def _answered(self) -> None:
        if self._since is not None and self._told:
            log.warning("answered again after %.0f s", self.patience.clock() - self._since)
        self._since, self._told = None, False

    async def _wait(self, name: str, failure: Failure, attempt: int) -> None:
        """Pause before the next attempt, never longer than there is time."""
        self._cause = f"no answer from {name} ({failure.cause})"
        if failure.lasting:
            hopeless = ModelUnreachable(
                f"{self._cause}; waiting does not help: see that the model's name, its"
                " address and the key are right" + (f"; {failure.remedy}" if failure.remedy else "")
            )
            hopeless.remedy = failure.remedy
            raise hopeless
        now = self.patience.clock()
        self._since = now if self._since is None else self._since
        left_s = self._since + self.patience.wait_s - now
        if left_s <= 0:
            raise ModelUnreachable(
                f"{self._cause}, waited {self.patience.wait_s:g} s (--wait-for-model); see that it"
                " is running, reachable and spelled right"
            )
        self._tell(now)
        pause_s = max(failure.wait_s, self.patience.pause_s(attempt))
        await self.patience.sleep(min(left_s, pause_s))

    def _tell(self, now: float) -> None:
        """A line now and then."""
        assert self._since is not None
        if now - self._since >= TELL_AFTER_S and now - self._told_at >= TELL_EVERY_S:
            self._told, self._told_at = True, now
            log.warning("%s", self.waiting)
