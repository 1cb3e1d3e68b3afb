"""What comes to mind, told with when it was, so that nothing past is told as if it were now."""

import re
from collections.abc import Iterable

from simcounsel.agents.mind import Scene
from simcounsel.agents.resident import Resident
from simcounsel.agents.views import done_today
from simcounsel.clock import date_text, day_of, time_text
from simcounsel.events import Hit, Memory
from simcounsel.prompts import phrase

TIMED = re.compile(r"\d\d:\d\d")
"""How a memory of a slot begins."""
DATED = re.compile(r"[A-Z][a-z]+day \d{1,2} [A-Z][a-z]+: |\d{1,2}月\d{1,2}日星期.：")
"""How a memory of a day that was told in short begins (`clock.day_text`)."""


def remembered(
    resident: Resident, hits: tuple[Hit, ...], scene: Scene, told: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What the recalled memories say, each once and with when it was, best first. told: activities
    of today that are in the prompt already; what one remembers of doing them is left out.
    """
    memory = resident.memory
    best = (memory.get(hit.id) for hit in sorted(hits, key=lambda hit: -hit.score))
    found: dict[str, str] = {}
    for one in best:
        when = memory.when(one.id)
        if not _stands(one, when, scene, told):
            found.setdefault(one.text, dated(one.text, when, scene))
    return tuple(found.values())


def with_dates(resident: Resident, memories: Iterable[Memory], scene: Scene) -> tuple[str, ...]:
    """What these memories say, each with when it was, in their order."""
    when = resident.memory.when
    return tuple(dated(one.text, when(one.id), scene) for one in memories)


def beside_the_day(resident: Resident, hits: tuple[Hit, ...], scene: Scene) -> tuple[str, ...]:
    """The same for a line, without what the day's list says already, which a counselor has not."""
    counsels = resident.spec.role == "counselor"
    told = () if counsels else tuple(activity for activity, _ in done_today(resident, scene))
    return remembered(resident, hits, scene, told)


def _stands(memory: Memory, when: int | None, scene: Scene, told: tuple[str, ...]) -> bool:
    """Whether it is an own act of today that is told already."""
    own = memory.origin == "own act" or memory.type == "slot"
    today = when is not None and day_of(when) == day_of(scene.minute)
    return own and today and any(activity in memory.text for activity in told)


def dated(text: str, when: int | None, scene: Scene) -> str:
    """A memory with when it was: 'Yesterday, 21:15: ...'. when: in minutes since day 0; None:
    before the first day. A text that begins with its time is given the day alone.
    """

    def worded(key: str, **slots: object) -> str:
        return phrase("lived", key, scene.language, **slots)

    if DATED.match(text):
        return text
    if when is None:
        return worded("before", text=text)
    days = day_of(scene.minute) - day_of(when)
    at, timed = time_text(when), TIMED.match(text) is not None
    if days in (0, 1):
        key = ("today", "yesterday")[days]
        return worded(f"{key}_timed" if timed else f"{key}_at", at=at, text=text)
    date = date_text(when, scene.start, scene.language)
    if timed:
        date = date.rpartition(" ")[0].rstrip(",")
    return worded("on", date=date, text=text)
