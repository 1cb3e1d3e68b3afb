"""The world file: places, residents, appointments, and the settings of a run."""

import difflib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, field_validator, model_validator

from simcounsel.clock import minutes_of_day
from simcounsel.errors import SpecError
from simcounsel.specs.course import bring_course
from simcounsel.specs.load import Lines, Spec, line_of, load_spec, parse_spec, read_value, read_yaml
from simcounsel.specs.manual import load_manual
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.persona import AnyPersona, parse_persona
from simcounsel.specs.practice import Language, PolicySpec, SafetySettings
from simcounsel.specs.scale import Scale
from simcounsel.specs.vocabulary import Condition, PlaceKind, Role

Phase = Literal["plan", "act", "perceive", "appraise", "converse", "remember", "reflect", "replan"]
Name = Annotated[str, Field(min_length=1, max_length=60)]
ModelName = Annotated[str, Field(min_length=1, max_length=4096)]
ROLES_OF: dict[Condition, frozenset[Role]] = {
    "client_only": frozenset({"client"}),
    "client_layperson": frozenset({"client", "layperson"}),
    "client_counselor": frozenset({"client", "counselor"}),
    "everyone": frozenset({"client", "counselor", "layperson"}),
}
Problem = tuple[tuple[str | int, ...], str]


class Place(Spec):
    """A place, or a house or district that holds places. One stands only in the innermost ones."""

    name: Name
    kind: PlaceKind = "other"
    places: tuple["Place", ...] = ()

    def walk(self, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], "Place"]]:
        """This place and all within it, each with its path in the file."""
        yield at, self
        for index, inner in enumerate(self.places):
            yield from inner.walk((*at, "places", index))


class ResidentSpec(Spec):
    """Somebody who lives in the world. `persona` is a path in the file, the persona itself here."""

    name: Name
    persona: AnyPersona = Field(discriminator="role")
    home: Name
    starts_in: Name
    policy: PolicySpec | None = None

    @property
    def role(self) -> Role:
        """client, counselor or layperson: the persona says."""
        return self.persona.role

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if re.search(r"[\n\r\t/\\:+]", value):
            raise ValueError(f"{value!r}: a name is one line of text without / \\ : +")
        return value


class Appointment(Spec):
    """Two people who meet at a place on some days (0 is the first) at a time of day.

    `max_turns`: lines in all, if other than the world's.
    """

    who: tuple[Name, Name]
    days: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]
    at: str
    place: Name
    max_turns: Annotated[int, Field(ge=2, le=200)] | None = None

    @field_validator("at")
    @classmethod
    def _is_time(cls, value: str) -> str:
        minutes_of_day(value)
        return value

    def minutes(self) -> tuple[int, ...]:
        """When it takes place, in minutes since day 0."""
        return tuple(day * 1440 + minutes_of_day(self.at) for day in self.days)


class Relationship(Spec):
    """How close two people are at the start, 0 (strangers) to 10; 2 where nothing is said."""

    between: tuple[Name, Name]
    score: Annotated[float, Field(ge=0, le=10)]


class RecallWeights(Spec):
    """What counts in recall. The defaults are the paper's (SimCounsel, appendix A.1.2)."""

    recency: Annotated[float, Field(ge=0)] = 0.10
    poignancy: Annotated[float, Field(ge=0)] = 0.40
    emotion_score: Annotated[float, Field(ge=0)] = 0.15
    emotion_relevance: Annotated[float, Field(ge=0)] = 0.10
    relevance: Annotated[float, Field(ge=0)] = 0.25

    @model_validator(mode="after")
    def _sum_to_one(self) -> "RecallWeights":
        total = self.recency + self.poignancy + self.emotion_score + self.emotion_relevance + self.relevance
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the five weights add up to {total:g}; they must add up to 1, so that scores lie in [0, 1]")
        return self


class MemorySettings(Spec):
    """recall: `emotion_aware` uses `weights`; `generative_agents` is the baseline of Park et al.
    2023 (recency, importance and relevance count alike, emotion does not).

    decay_per_hour: recency falls by this factor per simulated hour since the last recall.
    short_term_hours: older short-term memories are not recalled any more.
    reflect_after_memories, reflect_after_poignancy: either threshold starts a reflection.
    """

    recall: Literal["emotion_aware", "generative_agents"] = "emotion_aware"
    weights: RecallWeights = RecallWeights()
    decay_per_hour: Annotated[float, Field(gt=0, le=1)] = 0.995
    top_k: Annotated[int, Field(ge=1, le=50)] = 5
    short_term_hours: Annotated[float, Field(gt=0)] = 24
    reflect_after_memories: Annotated[int, Field(ge=1)] = 40
    reflect_after_poignancy: Annotated[int, Field(ge=1)] = 120

    def effective_weights(self) -> RecallWeights:
        """The weights that count."""
        if self.recall == "generative_agents":
            third = 1 / 3
            return RecallWeights(recency=third, poignancy=third, emotion_score=0, emotion_relevance=0, relevance=third)
        return self.weights


class ConversationSettings(Spec):
    """max_turns: lines in all. chance: probability per tick that two people who share a place and
    are as close as can be (10) begin to talk; it falls in proportion to their score.
    cool_down_ticks: how long the two then leave each other alone.
    replan_from_poignancy: a conversation that moved someone this much (1-10) makes them replan.
    """

    max_turns: Annotated[int, Field(ge=2, le=200)] = 10
    chance: Annotated[float, Field(ge=0, le=1)] = 0.5
    cool_down_ticks: Annotated[int, Field(ge=0)] = 16
    replan_from_poignancy: Annotated[int, Field(ge=1, le=10)] = 7


class ModelRoles(Spec):
    """Which model does what: `reason` plans, talks and reflects, `quick` names emotions and makes
    small choices, `judge` measures, `embed` turns text to vectors. See `simcounsel models`."""

    reason: ModelName = "embedded"
    quick: ModelName | None = None
    judge: ModelName | None = None
    embed: ModelName = "embedded"

    def resolved(self) -> dict[str, str]:
        """All four, by role."""
        return {"reason": self.reason, "quick": self.quick or self.reason, "judge": self.judge or self.reason, "embed": self.embed}


class World(Spec):
    """A world, complete: what its file says with the personas it names.

    days: `skipped` lives only the first tick and those of appointments, and each client gives a short account of the days between.
    """

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[\w][\w .-]*$")]
    about: str = ""
    start: datetime
    tick_minutes: Annotated[int, Field(ge=1, le=240)] = 15
    ticks: Annotated[int, Field(ge=1, le=1_000_000)]
    seed: Annotated[int, Field(ge=0)] = 1
    condition: Condition = "everyone"
    places: Annotated[tuple[Place, ...], Field(min_length=1)]
    residents: Annotated[tuple[ResidentSpec, ...], Field(min_length=1)]
    appointments: tuple[Appointment, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    memory: MemorySettings = MemorySettings()
    conversation: ConversationSettings = ConversationSettings()
    models: ModelRoles = ModelRoles()
    plan_slots: Annotated[int, Field(ge=1, le=96)] = 8
    without: tuple[Phase, ...] = ()
    measurements: tuple[MeasurementSpec, ...] = ()
    days: Literal["lived", "skipped"] = "lived"
    language: Language = "en"
    safety: SafetySettings = SafetySettings()

    @field_validator("start")
    @classmethod
    def _no_zone(cls, value: datetime) -> datetime:
        if value.tzinfo:
            raise ValueError("simulated time has no time zone; write it like 2026-03-02 06:00")
        return value.replace(second=0, microsecond=0)

    def present(self) -> tuple[ResidentSpec, ...]:
        """Who lives in the world under its condition, in name order."""
        roles = ROLES_OF[self.condition]
        return tuple(sorted((r for r in self.residents if r.role in roles), key=lambda r: r.name))

    def every_place(self) -> Iterator[tuple[tuple[str | int, ...], Place]]:
        """All places at any depth, each with its path in the file."""
        for index, place in enumerate(self.places):
            yield from place.walk(("places", index))

    def problems(self) -> list[Problem]:
        """What the parts say against each other; empty when the world holds together."""
        return [
            *_place_problems(self), *_resident_problems(self), *_appointment_problems(self), *_pair_problems(self), *_measurement_problems(self),
            *_skipping_problems(self),
        ]

    def appointed(self) -> tuple[int, ...]:
        """The ticks in which somebody has an appointment, in order."""
        start = self.start.hour * 60 + self.start.minute
        minutes = {minute - start for appointment in self.appointments for minute in appointment.minutes()}
        return tuple(sorted(minute // self.tick_minutes for minute in minutes if minute >= 0 and minute % self.tick_minutes == 0))


def suggest(name: str, known: list[str]) -> str:
    """What to write in place of a name that is not known: the one most like it, or all there are."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    return f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"


def _place_problems(world: World) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, place in world.every_place():
        if place.name in seen:
            yield (*at, "name"), f"a second place is named {place.name!r}; names must differ"
        seen.add(place.name)


def _resident_problems(world: World) -> Iterator[Problem]:
    by_name = {place.name: place for _, place in world.every_place()}
    leaves = [name for name, place in by_name.items() if not place.places]
    seen: set[str] = set()
    for index, resident in enumerate(world.residents):
        at: tuple[str | int, ...] = ("residents", index)
        if resident.name in seen:
            yield (*at, "name"), f"a second resident is named {resident.name!r}; give one another `name:`"
        seen.add(resident.name)
        if resident.home not in by_name:
            yield (*at, "home"), f"no place {resident.home!r} in this world; {suggest(resident.home, list(by_name))}"
        if resident.starts_in not in by_name:
            yield (*at, "starts_in"), f"no place {resident.starts_in!r} in this world; {suggest(resident.starts_in, leaves)}"
        elif resident.starts_in not in leaves:
            inner = ", ".join(p.name for p in by_name[resident.starts_in].places)
            yield (*at, "starts_in"), f"{resident.starts_in!r} holds other places; name one of them: {inner}"
    if not world.present():
        yield ("condition",), f"{world.condition!r} leaves nobody in this world; add a client, or use condition: everyone"


def _appointment_problems(world: World) -> Iterator[Problem]:
    leaves = [place.name for _, place in world.every_place() if not place.places]
    names = [r.name for r in world.residents]
    taken: dict[tuple[str, int], int] = {}
    for index, appointment in enumerate(world.appointments):
        at: tuple[str | int, ...] = ("appointments", index)
        for who in appointment.who:
            if who not in names:
                yield (*at, "who"), f"no resident {who!r} in this world; {suggest(who, names)}"
            for minute in appointment.minutes():
                if taken.setdefault((who, minute), index) != index:
                    yield (*at, "at"), f"{who} has another appointment then; move one of them"
        if appointment.who[0] == appointment.who[1]:
            yield (*at, "who"), "an appointment is between two different people"
        if appointment.place not in leaves:
            yield (*at, "place"), f"no place {appointment.place!r} in this world; {suggest(appointment.place, leaves)}"
        start = world.start.hour * 60 + world.start.minute
        if any((minute - start) % world.tick_minutes for minute in appointment.minutes()):
            yield (*at, "at"), f"{appointment.at!r} falls between two ticks of {world.tick_minutes} minutes; move it to one"


def _pair_problems(world: World) -> Iterator[Problem]:
    names = [r.name for r in world.residents]
    seen: set[frozenset[str]] = set()
    for index, relationship in enumerate(world.relationships):
        at: tuple[str | int, ...] = ("relationships", index, "between")
        for who in relationship.between:
            if who not in names:
                yield at, f"no resident {who!r} in this world; {suggest(who, names)}"
        pair = frozenset(relationship.between)
        if len(pair) == 1:
            yield at, "a relationship is between two different people"
        if pair in seen:
            yield at, f"{' and '.join(sorted(pair))} stand here a second time; remove one"
        seen.add(pair)


def _measurement_problems(world: World) -> Iterator[Problem]:
    names = [r.name for r in world.residents]
    for index, measurement in enumerate(world.measurements):
        at: tuple[str | int, ...] = ("measurements", index)
        for who in measurement.who:
            if who not in names:
                yield (*at, "who"), f"no resident {who!r} in this world; {suggest(who, names)}"
        if (measurement.tick or 0) >= world.ticks:
            yield (*at, "when"), f"{measurement.when!r} is never lived; the ticks are 0 to {world.ticks - 1}"
        if measurement.scale is None and measurement.instrument.endswith((".yaml", ".yml")):
            yield (*at, "instrument"), f"{measurement.instrument!r}: a scale's file is named in the world's own file; name a shipped instrument here"


def _skipping_problems(world: World) -> Iterator[Problem]:
    if world.days == "lived":
        return
    last = world.appointed()[-1:]
    if not last:
        yield ("days",), "only appointments are lived and there is none from the start on; add one, or use days: lived"
    elif world.ticks != last[0] + 1:
        yield ("ticks",), f"{world.ticks}: with days: skipped a world ends with its last appointment; write ticks: {last[0] + 1}"


def load_world(path: str | Path, /, *, cast: Mapping[str, Path] = MappingProxyType({}), **changes: Any) -> World:
    """A world from its file, with the personas it names.

    changes: patches by key, as `--set` on the command line: `load_world(p, seed=3)` or
    `load_world(p, **{"conversation.max_turns": 6})`. cast: persona files for residents, by the name
    of the resident whose part they take; the name changes wherever it stands in the world.
    SpecError names every problem with its line.
    """
    path = Path(path)
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    for key, what in (
        ("conditions", "an experiment; live it with `simcounsel sweep`"), ("role", "a persona; a world names it under `residents:`"),
        ("cells", f"a sweep of trainings: python -m training sweep {path}"),
    ):
        if key in data and "places" not in data:
            raise SpecError([f"{path}:1: not a world but {what}"])
    for key, value in changes.items():
        patch(data, key, value)
    _bring_personas(data, path, lines)
    _bring_courses(data, path, lines)
    for name, file in cast.items():
        data = _recast(data, name, file, path)
    _bring_scales(data, path, lines)
    _bring_manuals(data, path, lines)
    world = parse_spec(data, World, path, lines)
    problems = world.problems()
    if problems:
        raise SpecError([f"{path}:{line_of(lines, at)}: {'.'.join(map(str, at))}: {what}" for at, what in problems])
    return world


def _bring_personas(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the persona itself where the file names one, and its first name where no name stands."""
    residents = data.get("residents")
    problems: list[str] = []
    for index, resident in enumerate(residents if isinstance(residents, list) else []):
        named = resident.get("persona") if isinstance(resident, dict) else None
        if not isinstance(named, str):
            continue
        try:
            file = (path.parent / named).resolve()
            file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
            persona_data, persona_lines = read_yaml(file)
            persona = parse_persona(persona_data, file, persona_lines)
        except SpecError as error:
            line = line_of(lines, ("residents", index, "persona"))
            problems += [f"{path}:{line}: residents.{index}.persona: " + error.problems[0], *error.problems[1:]]
            continue
        resident["persona"] = persona
        resident.setdefault("name", persona.name.split()[0])
    if problems:
        raise SpecError(problems)


def _bring_courses(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put therapies and plans themselves where the file names files that hold them."""
    residents = data.get("residents")
    for index, resident in enumerate(residents if isinstance(residents, list) else []):
        policy = resident.get("policy") if isinstance(resident, dict) else None
        if isinstance(policy, dict):
            try:
                bring_course(policy, path.parent)
            except SpecError as error:
                line = line_of(lines, ("residents", index, "policy"))
                raise SpecError([f"{path}:{line}: residents.{index}.policy: " + error.problems[0], *error.problems[1:]]) from None


def _recast(data: Any, name: str, file: Path, path: Path) -> Any:
    """The world's data with another persona in the part of the resident called `name`."""
    residents = data.get("residents")
    known = [str(r.get("name")) for r in residents if isinstance(r, dict)] if isinstance(residents, list) else []
    if name not in known:
        raise SpecError([f"{path}: no resident {name!r} in this world whose part could be taken; {suggest(name, known)}"])
    persona_data, persona_lines = read_yaml(file)
    persona = parse_persona(persona_data, file, persona_lines)
    new = persona.name.split()[0]
    if new in known and new != name:
        raise SpecError([f"{path}: {new} lives in this world already and cannot take the part of {name}"])
    word = re.compile(rf"\b{re.escape(name)}\b")

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return word.sub(new, value)
        if isinstance(value, dict):
            return {key: renamed(inner) for key, inner in value.items()}
        return [renamed(inner) for inner in value] if isinstance(value, list) else value

    data = renamed(data)
    for resident in data["residents"]:
        if resident.get("name") == new:
            resident["persona"] = persona
    return data


def _bring_scales(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the scale itself beside its file's name, as with personas, so that a world is complete."""
    listed = data.get("measurements")
    problems: list[str] = []
    for index, one in enumerate(listed if isinstance(listed, list) else []):
        named = one.get("instrument") if isinstance(one, dict) else None
        if not isinstance(named, str) or not named.endswith((".yaml", ".yml")):
            continue
        try:
            one["scale"] = load_spec(path.parent / named, Scale)[0]
        except SpecError as error:
            line = line_of(lines, ("measurements", index, "instrument"))
            problems += [f"{path}:{line}: measurements.{index}.instrument: " + error.problems[0], *error.problems[1:]]
    if problems:
        raise SpecError(problems)


def _bring_manuals(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the manual itself where a policy names its file."""
    residents = data.get("residents")
    problems: list[str] = []
    for index, resident in enumerate(residents if isinstance(residents, list) else []):
        policy = resident.get("policy") if isinstance(resident, dict) else None
        policy = {"name": "staged", "manual": policy} if isinstance(policy, str) and policy.endswith((".yaml", ".yml")) else policy
        if not isinstance(policy, dict):
            continue
        named = policy.get("manual")
        if not isinstance(named, str) or not named.endswith((".yaml", ".yml")):
            continue
        try:
            resident["policy"] = {**policy, "manual": load_manual(path.parent / named)}
        except SpecError as error:
            line = line_of(lines, ("residents", index, "policy"))
            problems += [f"{path}:{line}: residents.{index}.policy: " + error.problems[0], *error.problems[1:]]
    if problems:
        raise SpecError(problems)


def patch(data: dict[str, Any], key: str, value: Any) -> None:
    """Set `conversation.max_turns` or `residents.Ines.home` in a world's data, in place.

    Text values are read as YAML. SpecError when the key leads nowhere.
    """
    if isinstance(value, str):
        try:
            value = read_value(value)
        except yaml.YAMLError:
            raise SpecError([f"--set {key}: {value!r} is not valid YAML"]) from None
    *way, last = key.split(".")
    here: Any = data
    for part in way:
        here = _inner(here, part, key)
    if isinstance(here, list):
        here[_place_in(here, last, key)] = value
    elif isinstance(here, dict):
        here[last] = value
    else:
        raise SpecError([f"--set {key}: {'.'.join(way)} holds {here!r}, which has no parts"])


def _inner(here: Any, part: str, key: str) -> Any:
    if isinstance(here, list):
        return here[_place_in(here, part, key)]
    if isinstance(here, dict):
        if part not in here:
            here[part] = {}
        return here[part]
    raise SpecError([f"--set {key}: nothing named {part!r} there"])


def _place_in(items: list[Any], part: str, key: str) -> int:
    """The index of a list's item by its number or its name."""
    if part.isdecimal() and int(part) < len(items):
        return int(part)
    names = [str(item.get("name") or Path(str(item.get("persona", ""))).stem) if isinstance(item, dict) else "" for item in items]
    for index, name in enumerate(names):
        if name and name.lower() == part.lower():
            return index
    known = [name for name in names if name]
    remedy = suggest(part, known) if known else f"number its items from 0 to {len(items) - 1}" if items else "the list is empty"
    raise SpecError([f"--set {key}: nothing named {part!r} there; {remedy}"])
