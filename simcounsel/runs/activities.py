"""What each person did in each tick, and how it felt: a fold over plain fields, since it reads much
of a large log.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from simcounsel.runs.lives import Feeling

KINDS = ("acted", "appraised", "said", "tick_ended")
"""Kinds of events that it is made of."""


@dataclass(frozen=True, kw_only=True)
class Activity:
    """What somebody did in a tick."""

    tick: int
    minute: int
    who: str
    activity: str
    kind: str
    place: str
    feeling: Feeling | None
    """In which the tick ended, and since when; None while nothing was felt yet."""


def activities_in(entries: Iterable[dict[str, Any]]) -> Iterator[Activity]:
    """The activities of complete ticks in order. An activity waits for its tick's end, so that what
    it felt like is known.
    """
    feeling: dict[str, Feeling] = {}
    waiting: list[dict[str, Any]] = []
    for fields in entries:
        match fields["kind"]:
            case "tick_ended":
                yield from (_ended(acted, feeling.get(acted["who"])) for acted in waiting)
                waiting = []
            case "acted":
                waiting.append(fields)
            case _:
                felt = Feeling(fields["tick"], fields["emotion"], fields["intensity"])
                feeling[fields["who"]] = felt


def _ended(acted: dict[str, Any], feeling: Feeling | None) -> Activity:
    return Activity(
        tick=acted["tick"],
        minute=acted["minute"],
        who=acted["who"],
        activity=acted["activity"],
        kind=acted["activity_kind"],
        place=acted["place"],
        feeling=feeling,
    )
