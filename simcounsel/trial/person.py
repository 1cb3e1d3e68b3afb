"""A participant, a fold over what happened: where they are, and what they are asked next."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simcounsel.trial.plan import Trial
from simcounsel.trial.store import Happened

Who = Literal["me", "other", "note"]
BEFORE, AFTER = "baseline", "end"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a talk, or a note between lines."""

    n: int
    """From 1 within the talk."""
    who: Who
    text: str
    id: str | None = None
    """Of a participant's line, as their page made it."""
    at: datetime
    seq: int

    def shown(self) -> dict[str, Any]:
        """As the page has it."""
        return {"n": self.n, "who": self.who, "text": self.text, "id": self.id}


@dataclass(kw_only=True)
class TrialTalk:
    """A talk of a day."""

    number: int
    """From 1, over all days."""
    day: int
    """Of the trial, from 1."""
    minute: int
    """When it began, in minutes since the participant's first day."""
    lines: list[Line] = field(default_factory=list)
    awaiting: bool = False
    """Whether the participant may speak."""
    over: bool = False
    left: bool = False
    """Whether the participant went on from it."""
    ending: bool = False
    """Whether the participant ended it, or its day is over."""
    entries: list[str] = field(default_factory=list)
    """The lines of its log, once it is over."""

    def own(self) -> list[Line]:
        """What the participant said."""
        return [line for line in self.lines if line.who == "me"]


@dataclass(kw_only=True)
class Participant:
    """Somebody who takes part. Only `observe` changes it."""

    code: str
    seq: int = 0
    """The last event of theirs."""
    at: datetime | None = None
    """When they did something last."""
    language: str | None = None
    informed: bool = False
    agreed: bool | None = None
    version: str | None = None
    """Of the information and consent that they agreed to."""
    name: str | None = None
    """To be called by in the talks."""
    zone: str = "UTC"
    offset_min: int = 0
    answers: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """By questionnaire and point."""
    excluded: str | None = None
    """The item that screened them out."""
    arm: str | None = None
    allocated: datetime | None = None
    talks: list[TrialTalk] = field(default_factory=list)
    alerts: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By number of the event; with who acknowledged it, once somebody did."""
    notice: str | None = None
    """What they were told where their words sounded like danger."""
    paused: bool = False
    lost: bool = False
    withdrawn: Literal["kept", "deleted"] | None = None
    debriefed: bool = False
    calls: int = 0
    usd: float = 0.0
    reminded: set[str] = field(default_factory=set)
    """Days by the calendar on which they were."""

    def observe(self, happened: Happened) -> None:
        """Take in an event of theirs; one that was deleted says nothing."""
        self.seq = happened.seq
        if happened.kind == "withdrew":
            self.withdrawn = "kept" if happened.data.get("delete") is False else "deleted"
        elif not happened.deleted:
            take = getattr(self, f"_on_{happened.kind}", None)
            if take:
                take(happened)

    def _on_spoke(self, one: Happened) -> None:
        self.language = one.data["language"]
        self.at = one.at

    def _on_informed(self, one: Happened) -> None:
        self.informed, self.at = True, one.at

    def _on_consented(self, one: Happened) -> None:
        self.agreed, self.at = bool(one.data["agree"]), one.at
        self.version = one.data.get("version")

    def _on_named(self, one: Happened) -> None:
        self.name, self.zone = one.data["name"], one.data["zone"]
        self.offset_min, self.at = one.data["offset_min"], one.at

    def _on_answered(self, one: Happened) -> None:
        self.answers[one.data["id"], one.data["point"]] = one.data["answers"]
        self.at = one.at

    def _on_excluded(self, one: Happened) -> None:
        self.excluded = one.data["item"]

    def _on_allocated(self, one: Happened) -> None:
        self.arm, self.allocated = one.data["arm"], one.at

    def _on_opened(self, one: Happened) -> None:
        self.talks.append(
            TrialTalk(number=one.data["number"], day=one.data["day"], minute=one.data["minute"])
        )

    def _on_said(self, one: Happened) -> None:
        self._line("me", one)
        self.talks[-1].awaiting, self.at = False, one.at

    def _on_replied(self, one: Happened) -> None:
        for text in one.data["lines"]:
            self._line("other", one, text)
        for text in one.data.get("notes", ()):
            self._line("note", one, text)
        talk = self.talks[-1]
        talk.over = one.data["over"]
        talk.awaiting = not talk.over
        talk.entries = one.data.get("entries", [])

    def _line(self, who: Who, one: Happened, text: str | None = None) -> None:
        lines = self.talks[-1].lines
        said = one.data["text"] if text is None else text
        lines.append(
            Line(
                n=len(lines) + 1, who=who, text=said, id=one.data.get("id"), at=one.at, seq=one.seq
            )
        )

    def _on_ended(self, one: Happened) -> None:
        self.talks[-1].ending = True

    def _on_left(self, one: Happened) -> None:
        self.talks[-1].left = True

    def _on_alerted(self, one: Happened) -> None:
        self.alerts[one.seq] = one.data | {"at": one.at.isoformat(), "acknowledged": None}
        self.notice = one.data.get("notice") or self.notice

    def _on_acknowledged(self, one: Happened) -> None:
        alert = self.alerts[one.data["seq"]]
        alert["acknowledged"] = {
            "at": one.at.isoformat(),
            "by": one.data["by"],
            "note": one.data["note"],
        }

    def _on_paused(self, one: Happened) -> None:
        self.paused = bool(one.data["paused"])

    def _on_lost(self, one: Happened) -> None:
        self.lost = True

    def _on_debriefed(self, one: Happened) -> None:
        self.debriefed, self.at = True, one.at

    def _on_reminded(self, one: Happened) -> None:
        self.reminded.add(one.data["date"])

    # their calendar

    @property
    def clock(self) -> tzinfo:
        """Their time zone; where its name is not known here, what their browser was ahead."""
        try:
            return ZoneInfo(self.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return timezone(timedelta(minutes=self.offset_min))

    @property
    def first_day(self) -> date | None:
        """The date of day 1 where they are."""
        return self.allocated.astimezone(self.clock).date() if self.allocated else None

    def day(self, now: datetime) -> int | None:
        """The day of the trial, from 1, also beyond its last; None before it begins."""
        first = self.first_day
        return (now.astimezone(self.clock).date() - first).days + 1 if first else None

    def minute(self, now: datetime) -> int:
        """Minutes since their first day began."""
        assert self.first_day is not None
        local = now.astimezone(self.clock)
        return (local.date() - self.first_day).days * 1440 + local.hour * 60 + local.minute

    def begins(self, day: int) -> datetime:
        """When a day of the trial begins, in UTC."""
        assert self.first_day is not None
        when = self.first_day + timedelta(days=day - 1)
        return datetime(when.year, when.month, when.day, tzinfo=self.clock).astimezone(UTC)

    @property
    def talk(self) -> TrialTalk | None:
        """The last talk."""
        return self.talks[-1] if self.talks else None

    def left_to_ask(self, trial: Trial, now: datetime) -> Iterator[tuple[str, str]]:
        """Questionnaires that are due now, each with its point, in order."""
        due = [(one, BEFORE) for one in trial.questions.before]
        if self.allocated:
            due += [
                (one, f"after session {talk.number}")
                for talk in self.talks
                if talk.over
                for one in trial.questions.after_each
            ]
            if self.finished(trial, now):
                due += [(one, AFTER) for one in trial.questions.after]
        for named, point in due:
            if (Trial.id_of(named), point) not in self.answers:
                yield named, point

    def finished(self, trial: Trial, now: datetime) -> bool:
        """Whether there are no more talks."""
        day = self.day(now) or 0
        if day < trial.days:
            return False
        today = [talk for talk in self.talks if talk.day == trial.days]
        waits = self.arm is not None and trial.arm(self.arm).waits
        return day > trial.days or (
            not waits and len(today) >= trial.talks.a_day and all(talk.over for talk in today)
        )
