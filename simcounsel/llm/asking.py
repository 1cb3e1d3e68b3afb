"""How patiently models are asked, for all that is opened within `asked`, as `decimal.localcontext`
is for numbers: how long one that does not answer is waited for, how long a request may take.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from simcounsel.specs.timeouts import Timeouts

WAIT_S = 60.0
"""How long to wait for a model if nobody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What a command line says of it."""

    wait_s: float = WAIT_S
    """Seconds to wait for a model that does not answer; `inf`: for ever."""
    timeouts: Timeouts | None = None
    """For every model that is behind a server; None: as the world says, or the defaults."""


_NOW: ContextVar[Asking] = ContextVar("asking")


def current() -> Asking:
    """How models are asked here."""
    return _NOW.get(Asking())


@contextmanager
def asked(asking: Asking) -> Iterator[None]:
    """Models that are opened within are asked so."""
    token = _NOW.set(asking)
    try:
        yield
    finally:
        _NOW.reset(token)
