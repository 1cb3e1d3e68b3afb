"""Which scales measure a course of a therapy, and their scores on one scale of 0 to 10."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from simcounsel.instruments.scale import find_scale
from simcounsel.instruments.scoring import bounds
from simcounsel.packaged import packaged
from simcounsel.specs.scores import TOTAL


class Frozen(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Frozen):
    """One of the paper's instruments, and what stands in for it."""

    paper: str
    scales: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ours; of several the mean counts."""
    score: str = TOTAL
    therapies: tuple[str, ...] = ()
    """For which it is; () for all."""
    published: float | None = None
    change: float | None = None
    """The published mean change from one session to the next."""
    lower: bool = False
    """Whether less is better."""

    def fits(self, therapy: str) -> bool:
        """Whether it is one of that therapy's."""
        return not self.therapies or therapy in self.therapies


class Battery(Frozen):
    """All columns, and the paper's numbers."""

    counselor: tuple[Column, ...]
    client: tuple[Column, ...]
    statistics: dict[str, tuple[float | None, ...]]
    plans: dict[str, tuple[float, ...]]
    differs: tuple[str, ...]
    """What is other here than in the paper, in sentences."""

    def of(self, therapy: str) -> tuple[Column, ...]:
        """Those of a therapy, the counselor's before the client's."""
        return tuple(one for one in (*self.counselor, *self.client) if one.fits(therapy))

    def scales(self, therapy: str) -> tuple[str, ...]:
        """The scales by name, each once."""
        return tuple(dict.fromkeys(scale for one in self.of(therapy) for scale in one.scales))


def kind_of(therapy: str) -> str:
    """Whose battery measures a therapy, by its id: the shipped one of which it is a variant, also
    by PsychEval's short names.
    """
    from simcounsel.therapies.specs.psycheval import SECTS

    therapy = SECTS.get(therapy.lower(), therapy)
    known = sorted(battery().statistics, key=len, reverse=True)
    return next((one for one in known if therapy.startswith(one)), therapy)


@cache
def battery() -> Battery:
    """The battery that comes with simcounsel."""
    return Battery.model_validate(packaged("analysis.courses", "battery.yaml"))


def ten(instrument: str, value: float, score: str = TOTAL) -> float | None:
    """A score on a scale from 0, the lowest that it can be, to 10, the highest; None where its
    answers set no limit.
    """
    limits = _bounds(instrument, score)
    return None if limits is None else 10 * (value - limits[0]) / (limits[1] - limits[0])


@cache
def _bounds(instrument: str, score: str) -> tuple[float, float] | None:
    return bounds(find_scale(instrument), score)


def measured(therapy: str) -> Iterator[dict[str, str]]:
    """A world's `measurements` for a course of that therapy: the whole battery after each
    session.
    """
    for scale in battery().scales(therapy):
        yield {"instrument": scale, "when": "after every session"}


SETS = {therapy: battery().scales(therapy) for therapy in battery().statistics}
"""The batteries as named sets: `simcounsel rate RUN --instrument cbt`."""
