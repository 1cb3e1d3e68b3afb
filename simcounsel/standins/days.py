"""What somebody did and means to do, in their own words: deeds, nights, plans, conversations up to
a moment.
"""

import re
from typing import Any

from simcounsel.clock import MINUTES_PER_DAY, day_of, minutes_of_day, weekday_of
from simcounsel.standins.firstperson import going_on, past, present, retell

HOURS = "twelve one two three four five six seven eight nine ten eleven".split()
COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()
NIGHT_FROM, NIGHT_UNTIL, NIGHT_IS_OVER = 21 * 60, 9 * 60, 4 * 60
AWAKE = ("sleepless", "worry")
TOLD = 4
"""So many things are told of a day."""


class Days:
    """The days of one person up to now."""

    def __init__(self, lived: Any) -> None:
        self.lived = lived
        self.resident = lived.resident
        self.now: int = lived.scene.minute
        self.today = waking_day(self.now - 1)

    def doing(self) -> str:
        """'I'm walking round the pond.', or '' before anything was done."""
        if self.resident.activity_kind == "sleep" and self.resident.activity:
            return "I was asleep just now."
        return self._said("I'm", self.resident.activity, going_on)

    def today_told(self) -> str:
        """What was done since waking up."""
        return self._told(
            [deed for deed in self.lived.deeds if waking_day(deed.minute) == self.today]
        )

    def yesterday_told(self) -> str:
        """The day before, or '' when it was not lived through here."""
        day = self.today if day_of(self.now) > self.today else self.today - 1
        return self._told([deed for deed in self.lived.deeds if waking_day(deed.minute) == day])

    def _told(self, deeds: list[Any]) -> str:
        first: dict[str, Any] = {}
        for deed in deeds:
            if (
                deed.kind not in ("sleep", "sleepless")
                and deed.until <= self.now - self.lived.scene.tick_minutes
            ):
                first.setdefault(deed.activity, deed)
        chosen = _spread(list(first.values()))
        parts = [
            f"{clock(deed.minute)} {told}" for deed in chosen if (told := self._did(deed.activity))
        ]
        if not parts:
            return ""
        told = (
            f"{_upper(parts[0])}."
            if len(parts) == 1
            else f"{_upper(', '.join(parts[:-1]))}, and {parts[-1]}."
        )
        others = list(
            dict.fromkeys(
                met.other
                for met in self.lived.mets
                if waking_day(met.minute) == waking_day(deeds[0].minute)
            )
        )
        return told + (f" And I talked with {_and(others)}." if others else "")

    def night_told(self) -> str:
        """The last night that was lived through: hours slept, and what happened in between; '' when
        there was none.
        """
        midnight = self.today * MINUTES_PER_DAY
        start, end = midnight - (MINUTES_PER_DAY - NIGHT_FROM), midnight + NIGHT_UNTIL
        deeds = [deed for deed in self.lived.deeds if start <= deed.minute < end]
        if (
            not any(deed.kind in ("sleep", "sleepless") for deed in deeds)
            or deeds[0].minute > midnight + NIGHT_IS_OVER
        ):
            return (
                f"I'm still awake, as you see. {self.doing()}"
                if self.resident.activity_kind in AWAKE and _dark(self.now)
                else ""
            )
        asleep = sum(min(deed.until, end) - deed.minute for deed in deeds if deed.kind == "sleep")
        slept = [deed.minute for deed in deeds if deed.kind == "sleep"]
        waking = [deed for deed in deeds if deed.kind in AWAKE and _dark(deed.minute)]
        hours = round(asleep / 60)
        much = (
            f"I slept about {COUNTS[hours]} hour{'s' if hours != 1 else ''}, all in all."
            if 0 < hours <= 12
            else "I hardly slept."
        )
        told = [
            f"{clock(deed.minute)} {did}"
            for deed in _spread(waking, 2)
            if (did := self._did(deed.activity))
        ]
        if not told:
            return f"Well enough. {much}" if slept and hours >= 6 else much
        return f"{'Not well. ' if hours < 6 else ''}{much} {_upper(_and(told))}."

    def meals_told(self) -> str:
        """What was eaten last."""
        meals = [
            deed
            for deed in self.lived.deeds
            if deed.kind == "meal" and waking_day(deed.minute) == self.today
        ]
        told = [
            f"{clock(deed.minute)} {did}"
            for deed in meals[-2:]
            if (did := self._did(deed.activity))
        ]
        return f"{_upper(_and(told))}." if told else "Nothing yet today that I'd call a meal."

    def plans_told(self, tomorrow: bool = False) -> str:
        """What is still meant for today (or not), and the next appointment after that."""
        minute = self.now - self.today * MINUTES_PER_DAY
        planned = (
            self.resident.strokes
            if self.resident.planned_day == self.today and not tomorrow
            else ()
        )
        strokes = [s for s in planned if minutes_of_day(s.at) > minute]
        parts = [
            f"{clock(minutes_of_day(s.at))} {told}"
            for s in strokes[:3]
            if (told := self._does(s.do))
        ]
        told = f"{_upper(_and(parts))}." if parts else ""
        for at, place, other in self.lived.scene.appointments:
            if day_of(at) > self.today:
                when = (
                    "Tomorrow"
                    if day_of(at) == self.today + 1
                    else f"On {weekday_of(at, self.lived.scene.start)}"
                )
                return f"{told} {when} {clock(at)} I meet {other} at the {place}.".strip()
        if tomorrow:
            return "I don't know yet. I plan a day when I get up."
        return told or "Nothing much more today. I'll see what the evening brings."

    def mets_told(self) -> str:
        """Whom one talked with last."""
        if not self.lived.mets:
            return "I haven't talked with anybody in these days."
        last: dict[str, Any] = {met.other: met for met in self.lived.mets}
        parts = [f"with {other} {self.when(met.minute)}" for other, met in reversed(last.items())]
        return f"I talked {_and(parts)}."

    def when(self, minute: int) -> str:
        """'today at three', 'yesterday at three', 'on Monday at three'."""
        back = self.today - waking_day(minute)
        return (
            f"{('today', 'yesterday')[back] if back in (0, 1) else f'on {weekday_of(minute, self.lived.scene.start)}'}"
            f" {clock(minute)}"
        )

    def _did(self, activity: str) -> str:
        return self._phrase("I", activity, past)

    def _does(self, activity: str) -> str:
        return self._phrase("I", activity, present)

    def _said(self, start: str, activity: str, form: Any) -> str:
        told = self._phrase(start, activity, form)
        return f"{told}." if told else ""

    def _phrase(self, start: str, activity: str, form: Any) -> str:
        plain = re.sub(r"\s+as agreed$", "", activity)
        told = (
            retell(plain, self.resident.name, self.resident.persona.pronouns, form, phrase=True)
            if plain
            else None
        )
        return f"{start} {told}" if told else ""


def waking_day(minute: int) -> int:
    """Which day it is for somebody who is awake: a day ends at four in the morning."""
    return day_of(minute - NIGHT_IS_OVER)


def clock(minute: int) -> str:
    """'at a quarter past two', to the nearest quarter of an hour."""
    quarter = round(minute % MINUTES_PER_DAY / 15)
    hour, part = divmod(quarter, 4)
    if quarter in (0, 96):
        return "at midnight"
    if quarter == 48:
        return "at noon"
    word = HOURS[(hour + (part == 3)) % 12]
    return f"at {('', 'a quarter past ', 'half past ', 'a quarter to ')[part]}{word}"


def _dark(minute: int) -> bool:
    of_day = minute % MINUTES_PER_DAY
    return of_day >= 22 * 60 or of_day < 7 * 60


def _spread(deeds: list[Any], most: int = TOLD) -> list[Any]:
    """At most so many, from the first to the last."""
    if len(deeds) <= most:
        return deeds
    return [deeds[round(index * (len(deeds) - 1) / (most - 1))] for index in range(most)]


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
