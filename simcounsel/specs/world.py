"""The world file: places, residents, appointments, and the settings of a run."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, field_validator, model_validator

from simcounsel.clock import minutes_of_day
from simcounsel.specs.load import Spec
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.persona import AnyPersona
from simcounsel.specs.practice import Language, PolicySpec, SafetySettings, locale_problem
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

    def walk(
        self, at: tuple[str | int, ...] = ()
    ) -> Iterator[tuple[tuple[str | int, ...], "Place"]]:
        """This place and all within it, each with its path in the file."""
        yield at, self
        for index, inner in enumerate(self.places):
            yield from inner.walk((*at, "places", index))


class OwnModels(Spec):
    """Which models answer what a resident thinks, says and decides, in place of the world's. What
    others ask about the resident (judges, the listening for danger) stays with the world's, and so
    do vectors.
    """

    reason: ModelName | None = None
    """Plans, talks and reflects; None: the world's."""
    quick: ModelName | None = None
    """Names emotions and makes small choices; None: `reason`, or the world's where that is None."""


class ResidentSpec(Spec):
    """Somebody who lives in the world. `persona` is a path in the file, the persona itself here."""

    name: Name
    persona: AnyPersona = Field(discriminator="role")
    home: Name
    starts_in: Name
    policy: PolicySpec | None = None
    mind: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """A mind of another kind: a registered name, or `package.module:name`; None: a person's."""
    models: OwnModels | None = None
    """Models of this resident's own; None: those of the world."""

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
        total = (
            self.recency
            + self.poignancy
            + self.emotion_score
            + self.emotion_relevance
            + self.relevance
        )
        if abs(total - 1) > 1e-6:
            raise ValueError(
                f"the five weights add up to {total:g}; they must add up to 1, so that scores lie"
                " in [0, 1]"
            )
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
            return RecallWeights(
                recency=third,
                poignancy=third,
                emotion_score=0,
                emotion_relevance=0,
                relevance=third,
            )
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
        return {
            "reason": self.reason,
            "quick": self.quick or self.reason,
            "judge": self.judge or self.reason,
            "embed": self.embed,
        }


class World(Spec):
    """A world, complete: what its file says with the personas it names.

    days: `skipped` lives only the first tick and those of appointments, and each client gives a
    short account of the days between.
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

    def model_names(self) -> dict[str, str]:
        """The model of each role, and as `reason:Ines` that of a resident who has one."""
        own = {
            f"{role}:{one.name}": name
            for one in self.residents
            if one.models
            for role, name in (
                ("reason", one.models.reason),
                ("quick", one.models.quick or one.models.reason),
            )
            if name
        }
        return self.models.resolved() | own

    def with_models(self, name: Callable[[str], str]) -> Self:
        """With other names for all its models, those of residents too."""
        return self.model_copy(
            update={
                "models": _renamed(self.models, name),
                "residents": tuple(
                    one.model_copy(update={"models": _renamed(one.models, name)})
                    if one.models
                    else one
                    for one in self.residents
                ),
            }
        )

    def with_one_model(self, roles: Mapping[str, str | None]) -> Self:
        """With these models, whatever the residents had of their own."""
        return self.model_copy(
            update={
                "models": self.models.model_copy(update=dict(roles)),
                "residents": tuple(
                    one.model_copy(update={"models": None}) if one.models else one
                    for one in self.residents
                ),
            }
        )

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
        locale = locale_problem(self.safety.locale)
        return [
            *_place_problems(self),
            *_resident_problems(self),
            *_appointment_problems(self),
            *_pair_problems(self),
            *_measurement_problems(self),
            *_skipping_problems(self),
            *([(("safety", "locale"), locale)] if locale else []),
        ]

    def appointed(self) -> tuple[int, ...]:
        """The ticks in which somebody has an appointment, in order."""
        start = self.start.hour * 60 + self.start.minute
        minutes = {
            minute - start for appointment in self.appointments for minute in appointment.minutes()
        }
        return tuple(
            sorted(
                minute // self.tick_minutes
                for minute in minutes
                if minute >= 0 and minute % self.tick_minutes == 0
            )
        )

    @property
    def length(self) -> int:
        """How many ticks there will be."""
        return self.ticks

    def next_tick(self, tick: int) -> int:
        """The first tick that is lived, from `tick` on: the next appointment's where days are
        skipped. `ticks` when there is none.
        """
        if self.days == "lived":
            return tick
        return next((one for one in self.appointed() if one >= tick), self.ticks)


M = TypeVar("M", bound=Spec)


def _renamed(models: M, name: Callable[[str], str]) -> M:
    given = models.model_dump(exclude_none=True)
    return models.model_copy(update={role: name(model) for role, model in given.items()})


def suggest(name: str, known: list[str]) -> str:
    """What to write in place of a name that is not known: the one most like it, or all there
    are.
    """
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
            yield (
                (*at, "name"),
                f"a second resident is named {resident.name!r}; give one another `name:`",
            )
        seen.add(resident.name)
        if resident.home not in by_name:
            yield (
                (*at, "home"),
                (
                    f"no place {resident.home!r} in this world;"
                    f" {suggest(resident.home, list(by_name))}"
                ),
            )
        if resident.starts_in not in by_name:
            yield (
                (*at, "starts_in"),
                (
                    f"no place {resident.starts_in!r} in this world;"
                    f" {suggest(resident.starts_in, leaves)}"
                ),
            )
        elif resident.starts_in not in leaves:
            inner = ", ".join(p.name for p in by_name[resident.starts_in].places)
            yield (
                (*at, "starts_in"),
                f"{resident.starts_in!r} holds other places; name one of them: {inner}",
            )
    if not world.present():
        yield (
            ("condition",),
            (
                f"{world.condition!r} leaves nobody in this world; add a client, or use condition:"
                " everyone"
            ),
        )


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
            yield (
                (*at, "place"),
                (
                    f"no place {appointment.place!r} in this world;"
                    f" {suggest(appointment.place, leaves)}"
                ),
            )
        start = world.start.hour * 60 + world.start.minute
        if any((minute - start) % world.tick_minutes for minute in appointment.minutes()):
            yield (
                (*at, "at"),
                (
                    f"{appointment.at!r} falls between two ticks of {world.tick_minutes} minutes;"
                    " move it to one"
                ),
            )


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
            yield (
                (*at, "when"),
                f"{measurement.when!r} is never lived; the ticks are 0 to {world.ticks - 1}",
            )
        if measurement.scale is None and measurement.instrument.endswith((".yaml", ".yml")):
            yield (
                (*at, "instrument"),
                (
                    f"{measurement.instrument!r}: a scale's file is named in the world's own file;"
                    " name a shipped instrument here"
                ),
            )


def _skipping_problems(world: World) -> Iterator[Problem]:
    if world.days == "lived":
        return
    last = world.appointed()[-1:]
    if not last:
        yield (
            ("days",),
            (
                "only appointments are lived and there is none from the start on; add one, or use"
                " days: lived"
            ),
        )
    elif world.ticks != last[0] + 1:
        yield (
            ("ticks",),
            (
                f"{world.ticks}: with days: skipped a world ends with its last appointment; write"
                f" ticks: {last[0] + 1}"
            ),
        )
