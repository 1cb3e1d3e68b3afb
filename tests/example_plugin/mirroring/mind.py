"""A client's mind that counts the hours it was awake; the count is an event, so that it survives."""

from dataclasses import replace
from typing import Literal

from simcounsel import Ask, Data, Effects, Person, Resident, Scene


class HoursCounted(Data):
    """How often this mind has appraised something, since the world began."""

    kind: Literal["mirroring.hours_counted"] = "mirroring.hours_counted"
    who: str
    times: int


class HourCounter(Person):
    """A person whose state beyond that of persons is folded from its own events."""

    def __init__(self, resident: Resident) -> None:
        super().__init__(resident)

    @property
    def times(self) -> int:
        """The count so far."""
        written = self.resident.written(HoursCounted)
        return written[-1].times if written else 0

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """As a person does, and count."""
        effects = yield from super().appraise(scene)
        counted = HoursCounted(who=self.resident.name, times=self.times + 1)
        return replace(effects, events=(*effects.events, counted))
