"""What a model says about its requests on the wire, while they are made, to whoever counts.

    meter = metering.meter()
    await meter.sends(max_tokens)      # before each request; waits, or ends the tick
    meter.billed(tokens_in, tokens_out)    # or refused(), unsent(), lost()

A model that says nothing is counted by its Completion: as so many requests as its `tries`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Meter(Protocol):
    """Counts the requests of one question."""

    async def sends(self, tokens_out: int) -> None:
        """A request is about to be sent; at most so many tokens come back. BudgetSpent when it must
        not be.
        """
        ...

    def billed(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """It was answered; None: the server does not tell."""
        ...

    def refused(self) -> None:
        """It was answered with a no, which costs nothing."""
        ...

    def unsent(self) -> None:
        """No connection was had; nothing was sent."""
        ...

    def lost(self) -> None:
        """It was sent and no answer came; it may be billed."""
        ...


class _Nobody:
    """Counts nothing, where a model is asked outside of a Switchboard."""

    async def sends(self, tokens_out: int) -> None: ...
    def billed(self, tokens_in: int | None, tokens_out: int | None) -> None: ...
    def refused(self) -> None: ...
    def unsent(self) -> None: ...
    def lost(self) -> None: ...


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


def meter() -> Meter:
    """Who counts what is asked now."""
    return _METER.get() or _Nobody()


@contextmanager
def counting(who: Meter) -> Iterator[None]:
    """Meanwhile requests of this task are counted by `who`."""
    token = _METER.set(who)
    try:
        yield
    finally:
        _METER.reset(token)
