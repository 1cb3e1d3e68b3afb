"""What an audit changes: a file of changes, and what each does to a world."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from simcounsel.clock import minute_of_tick, minutes_of_day, time_text
from simcounsel.cuts.cut import changes as cut_changes
from simcounsel.engine.forking import changed_world
from simcounsel.errors import SpecError
from simcounsel.llm.catalog import roles_for
from simcounsel.specs.load import Spec, load_spec
from simcounsel.specs.multiverse import Temperature
from simcounsel.specs.persona_file import load_persona
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.world import World

OURS = Path(__file__).with_name("changes.yaml")
Level = Literal["agent", "interaction", "system", "model"]
LEVELS: tuple[Level, ...] = ("agent", "interaction", "system", "model")
FEWEST_LINES = 4
"""Of a talk that may have fewer lines."""


class PersonaChange(Spec):
    """What is changed in every client's file."""

    reversed: bool = False
    """Every list the other way round."""
    without: tuple[str, ...] = ()
    """Fields that are emptied."""
    files: dict[str, str] = Field(default_factory=dict)
    """Of clients by name, another file of the same meaning."""


class AuditChange(Spec):
    """One thing that could as well have been otherwise."""

    name: Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[\w][\w ,.-]*$")]
    level: Level
    about: str = ""
    ablation: bool = False
    """Whether the effect is to go with it: what carries it is taken out."""
    set: dict[str, Any] = Field(default_factory=dict)
    """As `--set` has it."""
    do: tuple[str, ...] = ()
    """As `fork --do` has it; who is not in a world is passed over."""
    persona: PersonaChange | None = None
    prompts: str | None = None
    """Of a set, or a folder of prompts in other words."""
    model: str | None = None
    """Who answers for people."""
    temperature: Temperature | None = None
    lines: Annotated[float, Field(gt=0, le=4)] | None = None
    """So many times the lines of a talk at most."""
    later_minutes: Annotated[int, Field(ge=-720, le=720)] | None = None
    """Of every appointment."""
    closeness: Annotated[float, Field(ge=0, le=4)] | None = None
    """So many times what relationships begin with."""
    longer_ticks: Annotated[int, Field(ge=2, le=4)] | None = None
    """So many times the minutes of a tick."""

    @property
    def slug(self) -> str:
        """With which the names of its runs begin."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.casefold()).strip("-")


class ChangesFile(Spec):
    """A file of changes."""

    changes: Annotated[tuple[AuditChange, ...], Field(min_length=1)]


def read_changes(file: Path | None) -> tuple[AuditChange, ...]:
    """The changes of a file; None: ours. SpecError."""
    path = file or OURS
    found: tuple[AuditChange, ...] = load_spec(path, ChangesFile)[0].changes
    slugs = [one.slug for one in found]
    if twice := next((one for one in slugs if slugs.count(one) > 1), None):
        raise SpecError([f"{path}: two changes are called {twice!r}"])
    return found


def changed(world: World, one: AuditChange, at: int, folder: Path) -> World:
    """The world with a change. at: the tick from which what is cut is cut. folder: from which files
    are seen. SpecError where it does not fit.
    """
    made = world
    for change in (_persona, _words, _talks, _calendar, _ties, _ticks):
        made = change(made, one, folder)
    if one.do:
        made = changed_world(made, _cut(made, one, at))
    return changed_world(made, one.set) if one.set else made


def _cut(world: World, one: AuditChange, at: int) -> Mapping[str, Any]:
    """What is cut; whom it names by role, and who is not there, is passed over."""
    roles = {person.role for person in world.residents}
    named = {"client", "counselor", "layperson"} - roles
    there = [do for do in one.do if not any(role in re.split(r"[:=]", do) for role in named)]
    return cut_changes(there, world, at)


def _persona(world: World, one: AuditChange, folder: Path) -> World:
    if (change := one.persona) is None:
        return world
    found: dict[str, Any] = {}
    for person in world.residents:
        if person.role != "client":
            continue
        if file := change.files.get(person.name):
            other = load_persona(folder / file).model_dump(mode="json")
            found[f"residents.{person.name}.persona"] = other
            continue
        fields = person.persona.model_dump(mode="json")
        for name in change.without:
            if name in fields:
                fields[name] = [] if isinstance(fields[name], list) else ""
        found[f"residents.{person.name}.persona"] = _turned(fields) if change.reversed else fields
    return changed_world(world, found)


def _turned(value: Any) -> Any:
    """Every list the other way round."""
    if isinstance(value, dict):
        return {key: _turned(inner) for key, inner in value.items()}
    return [_turned(inner) for inner in reversed(value)] if isinstance(value, list) else value


def _words(world: World, one: AuditChange, folder: Path) -> World:
    update: dict[str, Any] = {}
    if one.prompts is not None:
        update["prompts"] = prompts_named(one.prompts, folder)
        if not update["prompts"].speaks(world.language):
            raise SpecError([f"the prompts {one.prompts} have no words in {world.language!r}"])
    if one.temperature is not None:
        update["temperature"] = float(one.temperature)
    made = world.model_copy(update=update)
    if one.model is None:
        return made
    judge = world.models.resolved()["judge"]  # who measures stays
    return made.with_one_model(roles_for(one.model) | {"judge": judge})


def _talks(world: World, one: AuditChange, folder: Path) -> World:
    factor = one.lines
    if factor is None:
        return world

    def fewer(lines: int) -> int:
        return max(FEWEST_LINES, 2 * round(factor * lines / 2))

    return world.model_copy(
        update={
            "conversation": world.conversation.model_copy(
                update={"max_turns": fewer(world.conversation.max_turns)}
            ),
            "appointments": tuple(
                each.model_copy(update={"max_turns": fewer(each.max_turns)})
                if each.max_turns
                else each
                for each in world.appointments
            ),
        }
    )


def _calendar(world: World, one: AuditChange, folder: Path) -> World:
    if not one.later_minutes:
        return world
    later = one.later_minutes
    moved = tuple(
        each.model_copy(update={"at": time_text(minutes_of_day(each.at) + later)})
        for each in world.appointments
    )
    made = changed_world(world.model_copy(update={"appointments": moved}), {})
    if _met(made) < _met(world):
        raise SpecError(["an appointment would be after the last tick"])
    return made


def _met(world: World) -> int:
    """How many appointments there are until the last tick."""
    first = minute_of_tick(0, world.start, world.tick_minutes)
    last = first + world.ticks * world.tick_minutes
    return sum(first <= at < last for one in world.appointments for at in one.begins())


def _ties(world: World, one: AuditChange, folder: Path) -> World:
    factor = one.closeness
    if factor is None:
        return world
    ties = (
        tie.model_copy(update={"score": min(10.0, round(factor * tie.score, 2))})
        for tie in world.relationships
    )
    return world.model_copy(update={"relationships": tuple(ties)})


def _ticks(world: World, one: AuditChange, folder: Path) -> World:
    times = one.longer_ticks
    if times is None:
        return world
    changes = {"tick_minutes": world.tick_minutes * times, "ticks": -(-world.ticks // times)}
    return changed_world(world, changes)


def together(some: tuple[AuditChange, ...]) -> Iterator[tuple[AuditChange, AuditChange]]:
    """Pairs of changes that do not change the same thing."""
    for at, one in enumerate(some):
        for other in some[at + 1 :]:
            if not _touched(one) & _touched(other):
                yield one, other


def _touched(one: AuditChange) -> set[str]:
    plain = {"name", "level", "about", "ablation", "set"}
    return {*one.set} | {
        name for name in one.model_fields_set - plain if getattr(one, name) is not None
    }
