"""How long one request to a server may take."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, kw_only=True)
class Timeouts:
    """For one attempt. The defaults let slow local models and models that think finish."""

    connect_s: float = 10.0
    """Until the connection stands."""
    read_s: float = 600.0
    """From then until the whole answer is there."""

    @property
    def total_s(self) -> float:
        """For all of it."""
        return self.connect_s + self.read_s


TIMEOUTS = Timeouts()


@runtime_checkable
class Timed(Protocol):
    """A model that waits for a server. Its timeouts may be changed before its first request."""

    timeouts: Timeouts
