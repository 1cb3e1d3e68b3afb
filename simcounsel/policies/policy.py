"""A policy decides a move and leaves the wording to the mind."""

from typing import Protocol, runtime_checkable

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Data, Foreign
from simcounsel.llm.question import Ask


class Policy(Protocol):
    """Decides what to do next in a conversation.

    It keeps nothing: all it knows of before is in the view, which holds the events that it wrote.
    """

    @property
    def name(self) -> str:
        """Its name, as the log has it."""
        ...

    def decide(self, view: TalkView) -> Ask[Decision]:
        """The next move."""
        ...


@runtime_checkable
class Concluding(Protocol):
    """A policy that has something to write when a conversation is over."""

    def conclude(self, view: TalkView) -> Ask[tuple[Data | Foreign, ...]]:
        """What it keeps of the conversation."""
        ...
