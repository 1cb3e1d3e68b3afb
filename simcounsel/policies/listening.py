"""Who listens in a conversation beside the two who talk. A listener hears what the other says to
one side, may note something, may hold the conversation, and says what is open at its end.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from simcounsel.agents.talk import TalkView
from simcounsel.errors import SpecError
from simcounsel.events import Assessed, Data, PracticeEvent, Said
from simcounsel.llm.question import Ask
from simcounsel.named_code import check_code
from simcounsel.policies.policy import Policy
from simcounsel.registry import Plugin, Registry, missing_part
from simcounsel.safety.help import notice
from simcounsel.safety.open_danger import NOTHING_OPEN, OpenDanger
from simcounsel.specs.persona import AnyPersona, ClientPersona
from simcounsel.specs.practice import SafetySettings
from simcounsel.specs.vocabulary import DANGERS, Danger, Role
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


Lines = Sequence[tuple[str, str]]
"""(who, text) from the first."""


@dataclass(frozen=True, kw_only=True)
class ListenerKind:
    """A listener by its name (entry points of the group simcounsel.listeners), and what else it
    does about what it listens for. What is None it leaves alone.
    """

    make: Callable[[Hearing], Listener | None]
    """Makes the listener; None where it does not listen to such a person."""
    guard: Callable[[Policy, Role, SafetySettings], Policy] | None = None
    """Puts itself before the policy of somebody in that role."""
    in_answers: Callable[[str, Mapping[str, float | None], str], tuple[Assessed, ...]] | None = None
    """What a self-report says of danger: the instrument, its answers by item, and who gave them."""
    in_file: Callable[[ClientPersona, str], tuple[Danger, ...]] | None = None
    """The kinds of danger that a client's file speaks of, in a language."""
    alarms: Callable[[str, str], bool] | None = None
    """Whether a line of a human who takes part sounds like danger to them; the line, and the one
    that it answers.
    """
    reminder: Callable[[Lines, str, str, str, OpenDanger], str | None] | None = None
    """What a human in the counselor's seat is reminded of while a client's danger is open: the
    lines so far, the client, language, locale, and what was open before; None: nothing.
    """


LISTENERS: Registry[ListenerKind] = Registry("simcounsel.listeners", "a listener", ListenerKind, {})
ALWAYS = ("danger",)
"""Who listens in every world, by its `safety` settings; a world's `listeners` come after."""


def always() -> tuple[ListenerKind, ...]:
    """Those of ALWAYS that are installed."""
    found = (LISTENERS.get(name) for name in ALWAYS)
    return tuple(kind for kind in found if kind is not None)


def kinds_in(world: World) -> tuple[ListenerKind, ...]:
    """All that a world's settings want. SpecError where that is danger, and nobody listens for it
    here; errors as `listener_of`.
    """
    found = always()
    if not found and world.safety.counselors != "nothing":
        gone = missing_part(LISTENERS.group, "danger")
        raise SpecError([f"safety: {gone}, or write `safety: {{counselors: nothing}}`"])
    return (*found, *map(listener_of, world.listeners))


def listeners_for(hearing: Hearing) -> tuple[Listener, ...]:
    """The listeners of one side. Errors as `kinds_in`."""
    made = (kind.make(hearing) for kind in kinds_in(hearing.world))
    return tuple(one for one in made if one is not None)


def guarded(policy: Policy, role: Role, world: World) -> Policy:
    """The policy behind every listener that guards it. Errors as `kinds_in`."""
    for kind in kinds_in(world):
        policy = kind.guard(policy, role, world.safety) if kind.guard else policy
    return policy


def in_answers(
    instrument: str, answers: Mapping[str, float | None], who: str
) -> tuple[Assessed, ...]:
    """The danger that a self-report says. answers: by item."""
    kinds = (kind.in_answers for kind in always())
    return tuple(one for look in kinds if look for one in look(instrument, answers, who))


def dangers_in_file(persona: ClientPersona, language: str) -> tuple[Danger, ...]:
    """The kinds of danger that a client's file speaks of, in the order of DANGERS."""
    kinds = (kind.in_file for kind in always())
    found = {one for look in kinds if look for one in look(persona, language)}
    return tuple(one for one in DANGERS if one in found)


def word_to_human(text: str, before: str, language: str, locale: str) -> str | None:
    """What a human is told when their own words sound like danger, however little; None when they
    do not. before: the line they answer.
    """
    alarmed = any(kind.alarms(text, before) for kind in always() if kind.alarms)
    return notice("danger", language, locale) if alarmed else None


def reminder(
    lines: Lines, client: str, language: str, locale: str, before: OpenDanger = NOTHING_OPEN
) -> str | None:
    """What to do before the conversation ends; None while no danger of the client is open. before:
    what the last conversation of the two left open.
    """
    kinds = (kind.reminder for kind in always())
    found = (make(lines, client, language, locale, before) for make in kinds if make)
    return next((one for one in found if one is not None), None)


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
