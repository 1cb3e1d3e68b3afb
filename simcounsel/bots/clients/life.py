"""A safety client's day, by rule: when she sleeps, works, meets somebody, and turns to the bot.

What she does follows from where she is (`course.Moved`): the more she relies on the bot, the more
often and the later she turns to it; the less contact she has, the seldomer she meets anybody.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from simcounsel.bots.clients.course import Moved, talks_a_day, turns_to_it
from simcounsel.chance import chance
from simcounsel.clock import MINUTES_PER_DAY, day_of, minutes_of_day
from simcounsel.events import Slot
from simcounsel.specs.vocabulary import ActivityKind, Language

TALK_AT = ("20:00", "23:30", "12:30")
"""When she turns to the bot: once a day, twice, three times."""
MEETS_AT = "17:30"
MEETING_MIN = 90
WAKES, TO_BED = "07:00", "23:00"
LATE_MIN = 30
"""So much later she sleeps for each point of reliance above `LEANS`, and each stage."""
LEANS = 4.0
DOING: dict[Language, dict[str, str]] = {
    "en": {
        "sleep": "sleeps",
        "awake": "lies awake",
        "home": "is at home",
        "work": "is at work",
        "bot": "writes to the bot",
        "meet": "meets {friend}",
    },
    "zh": {
        "sleep": "睡觉",
        "awake": "躺着睡不着",
        "home": "在家",
        "work": "在上班或上学",
        "bot": "给机器人写消息",
        "meet": "和{friend}见面",
    },
}


@dataclass(frozen=True, kw_only=True)
class Where:
    """The places of her days."""

    bed: str
    home: str
    work: str
    friend: str
    bot: str


def slots(
    now: Moved,
    where: Where,
    *,
    first: int,
    until: int,
    step: int,
    key: tuple[object, ...],
    language: Language,
    friend: str,
) -> Iterator[Slot]:
    """What she does from minute `first` to `until`, in steps. key: what chance depends on beside
    the day. friend: the name.
    """
    for minute in range(first, until, step):
        kind, doing, place = _at(now, where, minute, step, (*key, day_of(minute)))
        text = DOING[language][doing].format(friend=friend)
        yield Slot(minute=minute, activity=text, activity_kind=kind, place=place)


def meets(now: Moved, key: tuple[object, ...]) -> bool:
    """Whether she meets somebody on a day."""
    return chance(*key, "meets").random() < now.contact / 10


def turns(now: Moved, key: tuple[object, ...]) -> bool:
    """Whether she turns to the bot on the day that ends the key; on the first she does."""
    return key[-1] == 0 or chance(*key, "turns to it").random() < turns_to_it(now.reliance)


def asleep(now: Moved, minute: int) -> bool:
    """Whether she sleeps then: she goes to bed late where she leans on the bot or is unwell."""
    late = LATE_MIN * (max(0.0, now.reliance - LEANS) + max(0, now.stage))
    bed = minutes_of_day(TO_BED) + late
    of_day = minute % MINUTES_PER_DAY
    awake_from, night = minutes_of_day(WAKES), of_day + MINUTES_PER_DAY
    return bed <= (night if of_day < awake_from else of_day) < MINUTES_PER_DAY + awake_from


def _at(
    now: Moved, where: Where, minute: int, step: int, key: tuple[object, ...]
) -> tuple[ActivityKind, str, str]:
    of_day = minute % MINUTES_PER_DAY
    talks = TALK_AT[: talks_a_day(now.reliance)] if turns(now, key) else ()
    times = [minutes_of_day(one) for one in talks]
    if any(at <= of_day < at + step for at in times):
        return "social", "bot", where.bot
    if asleep(now, minute):
        return "sleep", "sleep", where.bed
    if of_day < minutes_of_day(WAKES) or of_day >= minutes_of_day(TO_BED):
        return "sleepless", "awake", where.bed
    meets_from = minutes_of_day(MEETS_AT)
    if meets_from <= of_day < meets_from + MEETING_MIN and meets(now, key):
        return "social", "meet", where.friend
    if minutes_of_day("09:00") <= of_day < minutes_of_day("17:00"):
        return "work", "work", where.work
    return "rest", "home", where.home
