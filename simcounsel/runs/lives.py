"""A world's run at a glance: what each person did, meant to do and felt, and the moments that
mattered. A fold over plain fields, since it reads most of a large log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

Fields = dict[str, Any]
KINDS = (
    "joined",
    "left",
    "scheduled",
    "acted",
    "appraised",
    "said",
    "conversation_started",
    "conversation_ended",
    "reflected",
    "persona_changed",
    "planned",
    "warned",
    "forked",
)
"""Kinds of events that it is made of."""
MORNING = "a new day"
"""Why a plan was made that revises nothing."""


class Doing(NamedTuple):
    """What somebody does from a tick on, and where."""

    tick: int
    activity: str
    activity_kind: str
    place: str


class Feeling(NamedTuple):
    """What somebody feels from a tick on."""

    tick: int
    emotion: str
    intensity: int
    """1 to 10."""


class Presence(NamedTuple):
    """Whether somebody lives there from a tick on."""

    tick: int
    here: bool


@dataclass(kw_only=True)
class Life:
    """One person's days: changes only, in order; what holds at a tick is the last that is not
    later.
    """

    name: str
    role: str | None = None
    """None where the log lost their coming."""
    home: str = ""
    place: str = ""
    """Where they were at first."""
    doing: list[Doing] = field(default_factory=list)
    feeling: list[Feeling] = field(default_factory=list)
    presence: list[Presence] = field(default_factory=list)
    intended: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    """By minute: activity, its kind and place, as they were first meant."""


@dataclass(kw_only=True)
class Heading:
    """A conversation without its lines."""

    chat: str
    tick: int
    who: tuple[str, ...]
    place: str
    cause: str
    lines: int = 0
    ended: str | None = None
    """How it ended; None while it goes on."""
    by: str | None = None
    """Who took leave; None at the turn limit."""


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Something worth a look."""

    tick: int
    kind: Literal["conversation", "reflection", "persona", "replanned", "warning", "fork"]
    who: tuple[str, ...]
    what: str


C = TypeVar("C", Doing, Feeling)


class Lives:
    """All lives of a run. `read` takes in its events in order."""

    def __init__(self) -> None:
        self.of: dict[str, Life] = {}
        """By name, in the order in which they are first heard of."""
        self.conversations: dict[str, Heading] = {}
        """By id, in order."""
        self.moments: list[Moment] = []
        self._last_felt: dict[str, tuple[tuple[object, ...], int]] = {}
        self.minutes: dict[int, int] = {}
        """When each tick began, of those in which anything happened."""
        self._observers = {
            "joined": self._joined,
            "left": self._left,
            "scheduled": self._scheduled,
            "acted": self._acted,
            "appraised": self._appraised,
            "said": self._said,
            "conversation_started": self._started,
            "conversation_ended": self._ended,
            "reflected": self._reflected,
            "persona_changed": self._changed,
            "planned": self._planned,
            "warned": self._warned,
            "forked": self._forked,
        }

    @classmethod
    def read(cls, entries: Iterable[Fields]) -> "Lives":
        """The lives that these events tell of; events of other kinds are passed over."""
        lives = cls()
        observers, minutes, of = lives._observers, lives.minutes, lives.of
        for fields in entries:
            observer = observers.get(fields["kind"])
            if observer is None:
                continue
            minutes.setdefault(fields["tick"], fields["minute"])
            who = fields.get("who")
            if isinstance(who, str) and who not in of:
                of[who] = Life(name=who)
            observer(fields)
        return lives

    def _joined(self, fields: Fields) -> None:
        life = self.of[fields["who"]]
        life.role, life.home, life.place = fields["role"], fields["home"], fields["place"]
        life.presence.append(Presence(fields["tick"], True))

    def _left(self, fields: Fields) -> None:
        self.of[fields["who"]].presence.append(Presence(fields["tick"], False))

    def _scheduled(self, fields: Fields) -> None:
        intended = self.of[fields["who"]].intended
        for slot in fields["slots"]:
            intended.setdefault(
                slot["minute"], (slot["activity"], slot["activity_kind"], slot["place"])
            )

    def _acted(self, fields: Fields) -> None:
        doing = Doing(fields["tick"], fields["activity"], fields["activity_kind"], fields["place"])
        add_change(self.of[fields["who"]].doing, doing)

    def _appraised(self, fields: Fields) -> None:
        """Of what was felt at once, in one reply, the strongest feeling stays."""
        reply = (fields["tick"], *fields.get("calls", ()))
        last = self._last_felt.get(fields["who"])
        if last is None or last[0] != reply or fields["intensity"] > last[1]:
            self._felt(fields)
            self._last_felt[fields["who"]] = (reply, fields["intensity"])

    def _felt(self, fields: Fields) -> None:
        feeling = Feeling(fields["tick"], fields["emotion"], fields["intensity"])
        add_change(self.of[fields["who"]].feeling, feeling)
        self._last_felt.pop(fields["who"], None)

    def _said(self, fields: Fields) -> None:
        self._felt(fields)
        if fields["chat"] in self.conversations:
            self.conversations[fields["chat"]].lines += 1

    def _started(self, fields: Fields) -> None:
        heading = Heading(
            chat=fields["chat"],
            tick=fields["tick"],
            who=tuple(fields["who"]),
            place=fields["place"],
            cause=fields["cause"],
        )
        self.conversations[heading.chat] = heading
        self._note(fields, "conversation", heading.who, heading.chat)

    def _ended(self, fields: Fields) -> None:
        if heading := self.conversations.get(fields["chat"]):
            heading.ended, heading.by = fields["cause"], fields["by"]

    def _reflected(self, fields: Fields) -> None:
        self._note(fields, "reflection", (fields["who"],), fields["trigger"])

    def _changed(self, fields: Fields) -> None:
        if fields["version"]:
            self._note(fields, "persona", (fields["who"],), f"version {fields['version']}")

    def _planned(self, fields: Fields) -> None:
        if fields["why"] != MORNING:
            self._note(fields, "replanned", (fields["who"],), fields["why"])

    def _warned(self, fields: Fields) -> None:
        self._note(fields, "warning", (fields["who"],), f"{fields['purpose']}: {fields['cause']}")

    def _forked(self, fields: Fields) -> None:
        changes = ", ".join(f"{key} = {value}" for key, value in fields["changes"])
        later = {"tick": fields["tick"] + 1}
        self._note(later, "fork", (), changes or "nothing changed")

    def _note(self, fields: Fields, kind: Any, who: tuple[str, ...], what: str) -> None:
        self.moments.append(Moment(tick=fields["tick"], kind=kind, who=who, what=what))


def add_change(changes: list[C], change: C) -> None:
    """Note a state where it differs from the one before; the last of a tick counts."""
    if changes and changes[-1].tick == change.tick:
        changes.pop()
    if not changes or changes[-1][1:] != change[1:]:
        changes.append(change)
