"""Who listens in a conversation beside the two who talk. A listener hears what the other says to
one side, may note something, may hold the conversation, and says what is open at its end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from simcounsel.agents.talk import TalkView
from simcounsel.errors import SpecError
from simcounsel.events import Data, PracticeEvent, Said
from simcounsel.llm.question import Ask
from simcounsel.named_code import check_code
from simcounsel.registry import Plugin, Registry
from simcounsel.safety.left_open import OpenDanger
from simcounsel.specs.persona import AnyPersona
from simcounsel.specs.vocabulary import Role
from simcounsel.specs.world import World


@dataclass(frozen=True, kw_only=True)
class HeardLine:
    """The line that the other has just said."""

    said: Said
    key: tuple[object, ...]
    """What chance in it depends on, such as (seed, tick, chat, number of the line)."""
    asked: tuple[object, ...] | None = None
    """What the listener's side asked about just before (`Wording.asks`); None: by its words."""
    file: AnyPersona | None = None
    """The speaker's file; None where there is none."""


class Listener(Protocol):
    """Listens for `view.me`. It keeps nothing: what it noted comes back in the view."""

    def hear(self, view: TalkView, line: HeardLine) -> Ask[tuple[PracticeEvent | Data, ...]]:
        """What it notes of the other's last line, which is the last of `view.lines`."""
        ...

    def holds(self, view: TalkView) -> bool:
        """Whether the conversation must not end here: after a line of the other, not before
        `view.me` has spoken; after an own line, not before some lines more.
        """
        ...

    def left_open(self, view: TalkView) -> OpenDanger:
        """The danger that is open as of the last line; `NOTHING_OPEN` where it knows of none."""
        ...


@dataclass(frozen=True, kw_only=True)
class Hearing:
    """Who hears whom, for whoever makes a listener."""

    world: World
    me: Role
    other: Role
    embed: str = ""
    """The name of the model for vectors."""


@dataclass(frozen=True, kw_only=True)
class ListenerKind:
    """A listener by its name (entry points of the group simcounsel.listeners)."""

    make: Callable[[Hearing], Listener | None]
    """Makes the listener; None where it does not listen to such a person."""


LISTENERS: Registry[ListenerKind] = Registry(
    "simcounsel.listeners",
    "a listener",
    ListenerKind,
    {"danger": "simcounsel.policies.protection.listener:DANGER"},
)
ALWAYS = ("danger",)
"""Who listens in every world, by its `safety` settings; a world's `listeners` come after."""


def listeners_for(hearing: Hearing) -> tuple[Listener, ...]:
    """The listeners of one side. Errors as `listener_of`."""
    names = (*ALWAYS, *hearing.world.listeners)
    made = (listener_of(name).make(hearing) for name in names)
    return tuple(one for one in made if one is not None)


def listener_of(name: str) -> ListenerKind:
    """The listener of a registered name, or where the world says `module:NAME`, what lies there.
    SpecError when there is none, PluginError when it cannot be imported, is no listener, or is code
    that the user did not allow.
    """
    if ":" in name:
        check_code(name)
        return LISTENERS.load(Plugin(name=name, value=name, distribution="named in the world"))
    found = LISTENERS.get(name)
    if found is None:
        raise SpecError(
            [
                f"listeners: no listener {name!r}; there are {LISTENERS.known()}, or write"
                " module:NAME for a `ListenerKind` of your own"
            ]
        )
    return found
