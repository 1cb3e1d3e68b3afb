"""The side of a conversation that is played from outside: its turn is a question for no model.

`converse` yields questions. Whoever drives it hands them to a Switchboard, but stops at a turn from
outside, and goes on when the line is there (`until_turn`). So the conversation is the one that a
world's residents have, rule by rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from simcounsel.agents.mind import Effects, Mind, Scene, Spoken
from simcounsel.agents.person import Person
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.danger.protection.listener import AtTheEnd
from simcounsel.envs.danger import open_dangers
from simcounsel.events import Event, as_event
from simcounsel.instruments.material import CLIENT, COUNSELOR
from simcounsel.llm.question import Ask, Question, Reply, ask
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.specs.vocabulary import Source
from simcounsel.therapies.course.following import Following

TURN = "turn from outside"
WEIGHT = 3
"""Intensity and poignancy (1 to 10) of a line from outside, which nobody rated: little, but more
than nothing.
"""
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Line:
    """What is said from outside."""

    text: str
    leaves: bool = False
    """Whether it takes leave."""
    silent: bool = False
    """Whether nothing is said: the conversation ends there."""


@dataclass(frozen=True, kw_only=True)
class Over(Generic[T]):
    """A conversation that has ended, and what it came to."""

    value: T


class Outside(Person):
    """A resident whose lines come from outside.

    awaited: the conversation as it sees it while its line is awaited; None otherwise.
    """

    def __init__(
        self, resident: Resident, *, notes: bool = False, source: Source = "generated"
    ) -> None:
        """notes: afterwards its persona sums up what was said, as residents do; otherwise it takes
        nothing away, since whoever plays it remembers for itself. source: of its lines.
        """
        super().__init__(resident)
        self.awaited: TalkView | None = None
        self._notes, self._source = notes, source

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The line from outside."""
        self.awaited = view
        question = Question(verb="write", purpose=TURN, who=view.me, fallback=Line(text=""))
        reply = yield from ask(question)
        self.awaited, line = None, reply.value
        answer = LineAnswer(
            say=line.text or "…",
            emotion="neutral",
            intensity=WEIGHT,
            poignancy=WEIGHT,
            wish="say goodbye" if line.leaves else "go on",
        )
        return Spoken(line=answer, emphasis=None, source=self._source, silent=line.silent)

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """A summary if notes are kept; otherwise nothing."""
        return (yield from super().take_away(scene, view)) if self._notes else Effects()


class Watched:
    """A mind that is simulated; what it goes through with each line is also put into `shown`, since
    the log has it only when the session is over.
    """

    def __init__(self, mind: Mind, shown: list[Event]) -> None:
        self._mind, self._shown = mind, shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mind, name)

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The mind's own line."""
        spoken = yield from self._mind.speak(scene, view, decision)
        self._shown += map(as_event, spoken.events)
        return spoken


class Seated:
    """The policy of whoever sits outside: it leaves all decisions to them. following: the plan of
    the case that they play the counselor of.
    """

    name: ClassVar[str] = "agent"

    def __init__(self, following: Following | None = None) -> None:
        self._following = following

    def decide(self, view: TalkView) -> Ask[Decision]:
        """To speak, after what the plan has for it has opened."""
        opened = (yield from self._following.listen(view)) if self._following else ()
        return Decision(
            move="speak", options=("speak",), reason="from outside", aim="", events=opened
        )


@dataclass(frozen=True, kw_only=True)
class HeldByDanger(AtTheEnd):
    """Of a counselor outside: while danger is open the turn limit does not end the conversation, as
    under the safety protocol.
    """

    listens: bool
    """Whether it is said at the end what was left open."""

    def holds(self, view: TalkView) -> bool:
        """Whether danger was open before the own line that was said last."""
        if view.lines[-1].who != view.me:
            return False
        before = [(line.who, line.text) for line in view.lines[:-1]]
        return bool(open_dangers(roles_of(before, view.other)))

    def left_open(self, view: TalkView) -> OpenDanger:
        """As the detector says, where the world listens for danger."""
        return super().left_open(view) if self.listens else NOTHING_OPEN


def roles_of(lines: Sequence[tuple[str, str]], client: str) -> tuple[tuple[str, str], ...]:
    """Lines as (who, text), with the parts in the conversation in place of names."""
    return tuple((CLIENT if who == client else COUNSELOR, text) for who, text in lines)


def until_turn(talk: Ask[T], outside: Outside, line: Line | None) -> Ask[TalkView | Over[T]]:
    """Go on with a conversation up to the next turn from outside, or to its end. line: for the turn
    that is awaited; None at the beginning.
    """
    reply: object = None if line is None else Reply(value=line)
    while True:
        try:
            wanted = talk.send(reply)
        except StopIteration as end:
            return Over(value=end.value)
        if outside.awaited is not None:
            return outside.awaited
        reply = yield wanted
