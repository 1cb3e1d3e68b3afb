"""What all events have in common, and those that any run can have."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """Part of an event: frozen, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answered(Data):
    """An event that came from what a model answered."""

    calls: tuple[str, ...] = ()
    """Keys of the calls that it came from: lines of calls.jsonl. () where it came from none, and in
    runs of log version 1, which did not record it.
    """
    fallback: bool = False
    """Whether a call gave nothing of use, so that the declared fallback was taken."""


class Warned(Data):
    """A model's answer could not be used; the declared fallback was taken."""

    kind: Literal["warned"] = "warned"
    who: str
    purpose: str
    cause: str


class Forked(Data):
    """From here on the world differs from the run this one was forked from."""

    kind: Literal["forked"] = "forked"
    changes: tuple[tuple[str, str], ...]


class TickEnded(Data):
    """The tick is complete; all its events are above."""

    kind: Literal["tick_ended"] = "tick_ended"
