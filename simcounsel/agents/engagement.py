"""With whom somebody has talked, how often and when last; and the conversation that one is in."""

from collections.abc import Callable
from dataclasses import dataclass

from simcounsel.clock import time_text
from simcounsel.events import ConversationEnded, ConversationStarted, Entry
from simcounsel.safety.left_open import OpenDanger
from simcounsel.specs.vocabulary import ActivityKind

Worded = Callable[..., str]
"""A phrase of `prompts/lived.txt` by its key, its slots filled."""


def other_of(chat: str, name: str) -> str:
    """Who is the other in a conversation, by its id."""
    first, second = chat.split(":", 1)[1].split("+")
    return second if first == name else first


@dataclass(frozen=True, kw_only=True)
class Engaged:
    """A conversation that may go on after the tick in which its lines were said."""

    other: str
    until: int
    """When it ends, in minutes since day 0."""
    activity: str
    """What one does meanwhile."""
    seen: str
    """What others in the same place see of it; '': the activity."""
    kind: ActivityKind
    told: str
    """What one did, once it has ended, with its end."""


class Talks:
    """One resident's conversations: a fold over their beginnings and ends."""

    def __init__(self, name: str, counselors: frozenset[str], worded: Worded) -> None:
        self._name = name
        self._counselors = counselors
        self._worded = worded
        self._kind = "chance"
        self.meetings: dict[str, int] = {}
        """Conversations so far, by the other's name."""
        self.last_talk: dict[str, int] = {}
        """The tick of the last one, by the other's name."""
        self.sessions: dict[str, list[int]] = {}
        """The ticks of those that were appointments, by the other's name."""
        self.left_open: dict[str, OpenDanger] = {}
        """Danger that the last one left open, by the other's name."""
        self.engaged: Engaged | None = None
        """The last one, which may still go on."""

    def started(self, event: ConversationStarted, entry: Entry) -> None:
        """One begins."""
        other = event.who[0] if event.who[1] == self._name else event.who[1]
        self.meetings[other] = self.meetings.get(other, 0) + 1
        self.last_talk[other] = entry.tick
        self._kind = "chance"
        if event.cause == "appointment":
            self.sessions.setdefault(other, []).append(entry.tick)
            counsels = self._counselors & {self._name, other}
            self._kind = "session" if counsels else "appointment"

    def ended(self, event: ConversationEnded) -> Engaged | None:
        """The last line was said; None in a log that does not say until when it lasted."""
        other = other_of(event.chat, self._name)
        self.left_open[other] = OpenDanger(level=event.open_danger, kinds=event.open_kinds)
        if event.until is None:
            self.engaged = None
            return None
        session = self._kind == "session"
        until = time_text(event.until)
        self.engaged = Engaged(
            other=other,
            until=event.until,
            activity=self._worded(f"in_{self._kind}", other=other),
            seen=self._worded("seen_session") if session else "",
            kind="counseling" if session else "social",
            told=self._worded(f"was_in_{self._kind}", other=other, until=until),
        )
        return self.engaged

    def engaged_at(self, minute: int) -> Engaged | None:
        """The conversation that still goes on at a minute; None: one is free."""
        return self.engaged if self.engaged and minute < self.engaged.until else None

    def just_ended(self, minute: int, within: int) -> Engaged | None:
        """The conversation that ended at a minute or less than `within` minutes before it."""
        one = self.engaged
        return one if one and minute - within < one.until <= minute else None
