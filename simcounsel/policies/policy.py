"""A policy decides a move and leaves the wording to the mind."""

from typing import ClassVar, Protocol

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.llm.ask import Ask


class Policy(Protocol):
    """Decides what to do next in a conversation."""

    name: ClassVar[str]

    def decide(self, view: TalkView) -> Ask[Decision]:
        """The next move."""
        ...
