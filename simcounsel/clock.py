"""Simulated time: whole minutes since 00:00 of the day on which a world starts (day 0).

Nothing here reads the computer's clock.
"""

from datetime import datetime, timedelta
from functools import lru_cache

MINUTES_PER_DAY = 24 * 60
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
WEEKDAYS_ZH = ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日")


@lru_cache(maxsize=1440)
def minutes_of_day(text: str) -> int:
    """Minutes after midnight of a time like '07:15'; '24:00' is 1440. ValueError otherwise."""
    hours, colon, minutes = text.partition(":")
    if not (colon and hours.isdigit() and minutes.isdigit() and len(minutes) == 2):
        raise ValueError(f"{text!r} is not a time of day like '07:15'")
    total = int(hours) * 60 + int(minutes)
    if int(minutes) > 59 or total > MINUTES_PER_DAY:
        raise ValueError(f"{text!r} is not a time of day between 00:00 and 24:00")
    return total


def time_text(minute: int) -> str:
    """The time of day of a minute since day 0, as '07:15'."""
    of_day = minute % MINUTES_PER_DAY
    return f"{of_day // 60:02d}:{of_day % 60:02d}"


def since(minute: int) -> str:
    """A pattern of the times of day from a minute on, to the day's end."""
    hour, (tens, ones) = minute % MINUTES_PER_DAY // 60, divmod(minute % 60, 10)
    rest = f"{tens}[{ones}-9]" + (f"|[{tens + 1}-5][0-9]" if tens < 5 else "")
    later = "|".join(f"{one:02d}" for one in range(hour + 1, 24))
    return f"^({hour:02d}:({rest})" + (f"|({later}):[0-5][0-9]" if later else "") + ")$"


def day_of(minute: int) -> int:
    """Which day a minute falls on; the first day is 0."""
    return minute // MINUTES_PER_DAY


def weekday_of(minute: int, start: datetime, language: str = "en") -> str:
    """The weekday's name of a minute since day 0 of a world that starts at `start`."""
    names = WEEKDAYS_ZH if language == "zh" else WEEKDAYS
    return names[(start.weekday() + day_of(minute)) % 7]


def date_text(minute: int, start: datetime, language: str = "en") -> str:
    """A minute since day 0 as people write it: 'Monday 3 March, 07:15', or '3月3日星期一 07:15'."""
    date = start.date() + timedelta(days=day_of(minute))
    if language == "zh":
        weekday = WEEKDAYS_ZH[date.weekday()]
        return f"{date.month}月{date.day}日{weekday} {time_text(minute)}"
    return f"{WEEKDAYS[date.weekday()]} {date.day} {date:%B}, {time_text(minute)}"


def day_text(minute: int, start: datetime, language: str = "en") -> str:
    """The day alone: 'Monday 3 March', or '3月3日星期一'."""
    return date_text(minute, start, language).rpartition(" ")[0].rstrip(",")


def minute_of_tick(tick: int, start: datetime, tick_minutes: int) -> int:
    """The minute at which a tick begins; tick 0 begins at the world's start time."""
    return start.hour * 60 + start.minute + tick * tick_minutes
