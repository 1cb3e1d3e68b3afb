"""Plain days and nights of a client of whom only the theme is known: stand-ins to be completed."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from simcounsel.clock import MINUTES_PER_DAY, minutes_of_day
from simcounsel.packaged import packaged


@cache
def _tables() -> dict[str, Any]:
    found: dict[str, Any] = packaged("simcounsel.specs", "plain_days.yaml")
    return found


def plain_day(theme: str) -> list[dict[str, str]]:
    """The day's strokes, some of them the theme's."""
    days = _tables()["days"]
    other = {stroke["at"]: stroke for stroke in days.get(theme, ())}
    return [other.get(stroke["at"], stroke) for stroke in days["all"]]


def plain_routines(theme: str) -> list[dict[str, str]]:
    """The hours of a day: the theme's routines, and everybody's where the theme has none."""
    given = _tables()["routines"]
    own = given.get(theme, ())
    taken = {minute for routine in own for minute in _minutes(routine)}
    return [*(one for one in given["all"] if not taken & _minutes(one)), *own]


def _minutes(routine: Mapping[str, str]) -> set[int]:
    since, until = minutes_of_day(routine["since"]), minutes_of_day(routine["until"])
    end = until if until > since else until + MINUTES_PER_DAY
    return {minute % MINUTES_PER_DAY for minute in range(since, end, 15)}
