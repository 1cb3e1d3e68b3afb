"""A conversation as it goes: who talks, what was said, and when it may end."""

from dataclasses import dataclass, field
from functools import reduce
from math import ceil

from simcounsel.agents.appointments import next_with
from simcounsel.agents.mind import Mind, Scene
from simcounsel.agents.talk import Meeting, OwnTurn, TalkClock, TalkLine, TalkView
from simcounsel.events import ConversationStarted, PracticeEvent, Said
from simcounsel.policies.listening import Listener
from simcounsel.policies.policy import Policy
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger

MORE_WHILE_HELD = 24
"""Lines beyond its limit that a conversation may have while it must not end."""
HELD_FOR = 6
"""How many more lines there are at least after a policy said that it must not end; enough for two
more of the policy's own.
"""
ON_TIME = 0.75
"""The share of its lines from which on a talk that ends has lasted as long as it was to."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the two: a mind, what it knows of the world, and the policy that guides it."""

    mind: Mind
    scene: Scene
    policy: Policy
    listeners: tuple[Listener, ...] = ()
    """Who hears for them what the other says."""

    @property
    def name(self) -> str:
        """The resident's name."""
        return self.mind.resident.name


@dataclass(kw_only=True)
class OpenTalk:
    """A conversation as it goes."""

    started: ConversationStarted
    max_turns: int
    minutes: int
    """How long it lasts for the two, spread over `max_turns` lines."""
    minute: int = 0
    """When it began, since day 0."""
    lines: list[TalkLine] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    """The same lines, as the log has them."""
    turns: dict[str, list[OwnTurn]] = field(default_factory=dict)
    """By name: their lines, as they decided them."""
    own: dict[str, list[PracticeEvent]] = field(default_factory=dict)
    """By name: what their policy and their listeners wrote in this conversation."""
    asked: dict[str, tuple[object, ...] | None] = field(default_factory=dict)
    """By name: what their last line asked about (`Wording.asks`)."""
    leaver: str | None = None
    """Who takes leave."""
    silent: str | None = None
    """The human or bot that said nothing; it ends there."""
    waited: bool = False
    """Whether the one who was to begin let the other begin."""
    held: bool = False
    """Whether somebody who took leave was asked to stay."""
    over: bool = False
    """Whether its last line was said."""
    limit: int = field(init=False)
    """Lines that there may be."""

    def __post_init__(self) -> None:
        self.limit = self.max_turns

    def hold(self, who: str) -> None:
        """It must not end with the line that `who` just said: the limit moves on, and whoever takes
        leave is asked to stay, once.
        """
        before = len(self.lines) - 1
        self.limit = min(self.max_turns + MORE_WHILE_HELD, max(self.limit, before + HELD_FOR))
        if self.leaver not in (None, who) and not self.held:
            self.leaver, self.held = None, True

    def wait_for(self, who: str) -> None:
        """It must not end before `who` has spoken, even if they had taken leave and the limit is
        reached.
        """
        self.limit = max(self.limit, len(self.lines) + 1)
        if self.leaver == who:
            self.leaver = None

    @property
    def until(self) -> int:
        """When it ends, in minutes since day 0: by the lines that were said so far, and on time
        where it ends in its last quarter.
        """
        share = len(self.lines) / self.max_turns
        return self.minute + (self.minutes if share >= ON_TIME else ceil(self.minutes * share))

    def view(self, me: Side, other: Side) -> TalkView:
        """What one of the two knows of the conversation."""
        resident, started = me.mind.resident, self.started
        own = [line for line in self.lines if line.who == me.name]
        left = self.limit - len(self.lines)
        return TalkView(
            chat=started.chat,
            me=me.name,
            other=other.name,
            meeting=Meeting(
                place=started.place,
                number=resident.meetings.get(other.name, 0) + 1,
                appointment=started.cause == "appointment",
                role=other.mind.resident.spec.role,
                closeness=resident.close_to(other.name),
                age=_in_the_file(me, other),
                left_open=resident.talks.left_open.get(other.name, NOTHING_OPEN),
                locale=me.scene.locale,
            ),
            clock=TalkClock(
                minute=me.scene.minute,
                start=me.scene.start,
                minutes_left=ceil(self.minutes * left / self.max_turns),
                next_meeting=next_with(me.scene, other.name),
                ended=self.until if self.over else None,
                most_left=max(self.limit, self.max_turns + MORE_WHILE_HELD) - len(self.lines),
            ),
            opens=resident.opens,
            lines=tuple(self.lines),
            turns=tuple(self.turns[me.name]),
            turns_left=left,
            parting=self.leaver is not None,
            emotion=own[-1].emotion if own else resident.emotion,
            key=(me.scene.seed, me.scene.tick, started.chat),
            language=me.scene.language,
            kept=tuple(resident.practice.get(other.name, ())),
            own=tuple(self.own[me.name]),
        )

    def left_open(self, me: Side, other: Side) -> OpenDanger:
        """The danger that `me`'s listeners call open so far."""
        view = self.view(me, other)
        return reduce(
            OpenDanger.and_also, (one.left_open(view) for one in me.listeners), NOTHING_OPEN
        )


def _in_the_file(me: Side, other: Side) -> int | None:
    """The age of a client, which their counselor knows from the first day on."""
    mine, theirs = me.mind.resident, other.mind.resident
    knows = mine.spec.role == "counselor" and theirs.spec.role == "client"
    return theirs.persona.age if knows else None
