"""A policy decides a move and leaves the wording to the mind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict

from simcounsel.agents.talk import Decision, TalkView
from simcounsel.events import Data, Foreign
from simcounsel.llm.question import Ask
from simcounsel.specs.practice import Language
from simcounsel.specs.vocabulary import Role


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


S = TypeVar("S", bound=BaseModel)


class NoSettings(BaseModel):
    """Of a policy without settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, kw_only=True)
class PolicyKind(Generic[S]):
    """A policy by its name (entry points of the group simcounsel.policies)."""

    make: Callable[[S, Language], Policy]
    """Makes the policy from what a world tells it and the language of the world. SpecError when
    that cannot be run, or there is nothing in that language."""
    settings: type[S]
    """What it can be told, with defaults: a pydantic model, best one that forbids unknown keys. A
    world gives it as `policy: {name: mine, settings: {depth: 2}}`."""
    roles: frozenset[Role] = frozenset({"counselor", "layperson"})
    """Whose policy it can be."""
