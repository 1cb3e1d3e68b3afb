"""What is measured while a world is run, of whom and when."""

import re
from typing import Annotated, Any

from pydantic import Field, field_validator

from simcounsel.clock import day_of, minutes_of_day, time_text
from simcounsel.specs.load import Spec
from simcounsel.specs.scale import Scale

AFTER_TALK = "after every conversation"
WHEN = (
    "`start`, `end`, `every day at HH:MM`, `after every session`, `after every conversation`, or"
    " `tick N`"
)
_WORDS = ("start", "end", "after every session", AFTER_TALK)
_DAILY = re.compile(r"every day at (\d{1,2}:\d{2})")
_TICK = re.compile(r"tick (\d+)")


class MeasurementSpec(Spec):
    """One line of a world's `measurements:`. It is done at the end of a tick."""

    instrument: Annotated[str, Field(min_length=1, max_length=400)]
    """A shipped scale's name, `talk_measures`, or the path of a scale's file."""
    when: str
    """`start` is the end of the first tick, `end` of the world's last; `every day at 21:00` of the
    tick that 21:00 falls in; `after every session` of a tick in which the person had an appointment
    with a counselor; `after every conversation` of one in which the person talked with anybody,
    about each of these conversations, also with a friend or by chance; `tick 40` of that tick (the
    first is 0).
    """
    who: tuple[str, ...] = ()
    """Residents; all clients that live in the world if not given."""
    scale: Scale | None = None
    """What the instrument's file says, where a file is named."""

    @field_validator("who", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("when")
    @classmethod
    def _is_when(cls, value: str) -> str:
        daily = _DAILY.fullmatch(value)
        if daily:
            minutes_of_day(daily.group(1))
        elif value not in _WORDS and not _TICK.fullmatch(value):
            raise ValueError(f"{value!r} is not a time to measure; write {WHEN}")
        return value

    @property
    def after_each_talk(self) -> bool:
        """Whether it is due once for each conversation, whose moments `point` does not know."""
        return self.when == AFTER_TALK

    @property
    def tick(self) -> int | None:
        """N of `tick N`; None otherwise."""
        found = _TICK.fullmatch(self.when)
        return int(found.group(1)) if found else None

    def point(
        self, tick: int, minute: int, *, last_tick: int, tick_minutes: int, sessions: int | None
    ) -> str | None:
        """What the measurement at the end of this tick is called; None when it is not due, or due
        by conversation (see `after_each_talk`).

        minute: when the tick begins. sessions: how many sessions the person has had, if one was in
        this tick; else None.
        """
        daily = _DAILY.fullmatch(self.when)
        if daily:
            of_day = minutes_of_day(daily.group(1)) % 1440
            at = day_of(minute) * 1440 + of_day
            at += 1440 if at < minute else 0
            return f"day {day_of(at)}, {time_text(at)}" if at < minute + tick_minutes else None
        match self.when:
            case "start":
                return "baseline" if tick == 0 else None
            case "end":
                return "end" if tick == last_tick else None
            case "after every session":
                return f"after session {sessions}" if sessions else None
        return self.when if tick == self.tick else None
