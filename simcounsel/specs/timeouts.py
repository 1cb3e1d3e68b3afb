"""How long one request to a server may take."""

from typing import Annotated

from pydantic import Field

from simcounsel.specs.load import Spec

Seconds = Annotated[float, Field(gt=0, le=1_000_000)]


class Timeouts(Spec):
    """For one attempt. The defaults let slow local models and models that think finish."""

    connect_s: Seconds = 10.0
    """Until the connection stands."""
    read_s: Seconds = 600.0
    """From then until the whole answer is there."""

    @property
    def total_s(self) -> float:
        """For all of it."""
        return self.connect_s + self.read_s


TIMEOUTS = Timeouts()
