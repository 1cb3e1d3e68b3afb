"""What a mind can be asked for. Every method is an Ask: it yields questions and returns what came
of it.

A mind changes nothing: it returns events and memory drafts, the engine writes them into the log,
and the log, observed, changes the resident.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, cast

from pydantic import BaseModel

from simcounsel.agents.questionnaire import Sheet
from simcounsel.agents.resident import Resident
from simcounsel.agents.talk import Decision, TalkView
from simcounsel.agents.tasks import LineAnswer
from simcounsel.chance import seed_of
from simcounsel.errors import SpecError
from simcounsel.events import Data, Foreign, Memory
from simcounsel.llm.question import Ask, Asker, Reply
from simcounsel.named_code import check_code
from simcounsel.registry import Plugin, Registry, is_installed
from simcounsel.specs.practice import Language
from simcounsel.specs.residents import ResidentSpec
from simcounsel.specs.vocabulary import PlaceKind, Role, Source


@dataclass(frozen=True, kw_only=True)
class Reachable:
    """A place one could go to from here."""

    name: str
    kind: PlaceKind
    own_home: bool


@dataclass(frozen=True, kw_only=True)
class Agreed:
    """What is known of an appointment beside when, where and with whom."""

    minutes: int
    """How long it is to last."""
    role: Role
    """Of the other."""
    session: bool
    """Whether one of the two is a counselor, so that it is counseling and no meeting of friends."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The world as far as one resident can tell."""

    seed: int
    tick: int
    minute: int
    """Now, since day 0."""
    start: datetime
    """The world's first day."""
    tick_minutes: int
    plan_slots: int
    """How many slots are planned at once."""
    places: tuple[Reachable, ...]
    """What is reachable."""
    appointments: tuple[tuple[int, str, str], ...] = ()
    """Own ones to come: minute, place, with whom."""
    agreed: Mapping[tuple[int, str], Agreed] = field(default_factory=dict)
    """More of them, by minute and with whom."""
    language: Language = "en"
    locale: str = "default"

    def asks(self, who: str, purpose: str, *key: object) -> Asker:
        """A question of that purpose, asked now by somebody; key: what tells it from others."""
        seed = seed_of(self.seed, self.tick, who, purpose, *key)
        return {"purpose": purpose, "who": who, "language": self.language, "seed": seed}


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What a mind's answer adds to the run."""

    events: tuple[Data | Foreign, ...] = ()
    """In order."""
    drafts: tuple[Memory, ...] = ()
    """Memories to lay down, without ids."""


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A line with what came to mind before it."""

    line: LineAnswer
    emphasis: str | None
    """The words that the voice leans on, if any."""
    source: Source
    events: tuple[Data | Foreign, ...] = ()
    calls: tuple[str, ...] = ()
    """Keys of the calls that worded it."""
    fallback: bool = False
    """Whether a call gave no usable answer."""
    decision: Decision | None = None
    """As the line's reply settled it; None where it was settled before."""
    silent: bool = False
    """Whether the human, or the bot, that speaks for them said nothing: then `line` is not said,
    and the conversation ends."""
    waits: bool = False
    """Whether they let the other begin: `line` is not said."""


class Mind(Protocol):
    """One resident's mind."""

    resident: Resident

    def arrive(self, scene: Scene) -> Ask[Effects]:
        """First memories and the first version of the persona's text."""
        ...

    def plan(self, scene: Scene) -> Ask[Effects]:
        """The day's plan if there is none, and the next block of slots."""
        ...

    def appraise(self, scene: Scene) -> Ask[Effects]:
        """What begins (`resident.begun`) and what is unexpected (`resident.news`) gets an emotion,
        its intensity and its poignancy.
        """
        ...

    def speak(self, scene: Scene, view: TalkView, decision: Decision) -> Ask[Spoken]:
        """The next line, from persona and recalled memories."""
        ...

    def take_away(self, scene: Scene, view: TalkView) -> Ask[Effects]:
        """After a conversation: a summary, and how the relationship moved."""
        ...

    def reflect(self, scene: Scene, trigger: str) -> Ask[Effects]:
        """Questions, insights that cite evidence, and a rewritten persona."""
        ...

    def replan(self, scene: Scene, why: str) -> Ask[Effects]:
        """Revise the rest of the day, from the scene's minute on."""
        ...

    def account(self, scene: Scene, days: tuple[int, ...]) -> Ask[Effects]:
        """Memories of days that were not lived through, one for each."""
        ...

    def report(self, scene: Scene, sheet: Sheet) -> Ask[Reply[BaseModel | None]]:
        """Answer a block of questions about oneself; it changes nothing. The reply's value is None
        where there was no usable answer.
        """
        ...


MINDS: Registry[object] = Registry(
    "simcounsel.minds", "a mind", object, {"person": "simcounsel.agents.person:Person"}
)
"""Each makes a `Mind` from its resident: a class, or a function."""
DEFAULT_MIND = "person"


def mind_for(resident: Resident) -> Mind:
    """The resident's mind: of the registered name, or where the world says `package.module:name`,
    whatever lies there. SpecError when there is none, PluginError when it cannot be imported, or is
    code that the user did not allow.
    """
    return maker_of(resident.spec.mind)(resident)


def maker_of(name: str | None) -> Callable[[Resident], Mind]:
    """What makes minds of that name. What is behind an installed mind's name and a colon
    (`bot:https://...`) is for that mind to read. Errors as `mind_for`.
    """
    name = name or DEFAULT_MIND
    if is_installed(MINDS.group, head := name.partition(":")[0]):
        name = head
    if ":" in name:
        check_code(name)
        found: object = MINDS.load(Plugin(name=name, value=name, distribution="named in the world"))
    else:
        found = MINDS.get(name)
    if found is None:
        raise SpecError(
            [f"mind: no mind {name!r}; there are {MINDS.known()}, or write package.module:name"]
        )
    if not callable(found):
        raise SpecError(
            [f"mind: {name} is {type(found).__name__}; a mind is made by a class or a function"]
        )
    return cast(Callable[[Resident], Mind], found)


def check_mind(spec: ResidentSpec) -> None:
    """Before a run is made: that the mind can be had, and what its maker has to say where it has a
    `check(spec)`. Errors as `mind_for`.
    """
    check = getattr(maker_of(spec.mind), "check", None)
    if callable(check):
        check(spec)
