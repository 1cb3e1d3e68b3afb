"""A world: its places, residents and appointments, and the settings of a run."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, field_validator

from simcounsel.registry import is_installed
from simcounsel.specs.load import Spec
from simcounsel.specs.measurement import MeasurementSpec
from simcounsel.specs.practice import Language, SafetySettings
from simcounsel.specs.prompt_set import PromptSet
from simcounsel.specs.residents import Appointment, Place, Relationship, ResidentSpec
from simcounsel.specs.vocabulary import Condition, Role
from simcounsel.specs.world_settings import (
    BY_HAND,
    ClientStateMode,
    ConversationSettings,
    FallbackLimits,
    MemorySettings,
    ModelRoles,
    Openness,
)

Phase = Literal["plan", "act", "perceive", "appraise", "converse", "remember", "reflect", "replan"]
ROLES_OF: dict[Condition, frozenset[Role]] = {
    "client_only": frozenset({"client"}),
    "client_layperson": frozenset({"client", "layperson"}),
    "client_counselor": frozenset({"client", "counselor"}),
    "everyone": frozenset({"client", "counselor", "layperson"}),
}
M = TypeVar("M", bound=Spec)


class World(Spec):
    """A world, complete: what its file says with the personas it names."""

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
    fallbacks: FallbackLimits = FallbackLimits()
    plan_slots: Annotated[int, Field(ge=1, le=96)] = 12
    without: tuple[Phase, ...] = ()
    measurements: tuple[MeasurementSpec, ...] = ()
    days: Literal["lived", "skipped"] = "lived"
    """`skipped` lives only the first tick and those of appointments, and each client gives a short
    account of the days between.
    """
    client_state: ClientStateMode = "moves"
    """Whether conversations and experience move clients; for ablations."""
    openness: Annotated[Openness, Field(exclude_if=lambda one: one == BY_HAND)] = BY_HAND
    """How clients open up; the defaults were set by hand."""
    feelings_fade_minutes: Annotated[int, Field(ge=15, le=10080)] | None = 120
    """Half-life of a feeling that a talk or somebody unexpected left, while nothing feeds it; None:
    it stays until the next hours are planned. How long emotions last differs by kind and cause,
    from minutes to days (Verduyn and Lavrijsen 2015)."""
    language: Language = "en"
    safety: SafetySettings = SafetySettings()
    listeners: Annotated[tuple[str, ...], Field(exclude_if=lambda some: not some)] = ()
    """Who listens in every conversation beside the safety protocol: registered names, or
    `module:NAME`."""
    prompts: Annotated[PromptSet | None, Field(exclude_if=lambda one: one is None)] = None
    """In a file a set's name or its folder. None: as they are included. For questions to people and
    measurements in the run; what is rated afterwards is asked as ever.
    """
    temperature: Annotated[float | None, Field(ge=0, le=2, exclude_if=lambda one: one is None)] = (
        None
    )
    """At which people think and speak; None: each question's own. What is asked at 0 (feelings,
    choices, measurements) stays there.
    """

    @field_validator("start")
    @classmethod
    def _no_zone(cls, value: datetime) -> datetime:
        if value.tzinfo:
            raise ValueError("simulated time has no time zone; write it like 2026-03-02 06:00")
        return value.replace(second=0, microsecond=0)

    def model_names(self) -> dict[str, str]:
        """The model of each role, and as `reason:Ines` that of a resident who has one; as
        `bot:Omar` the one that a mind's name names.
        """
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
        minds = {
            f"{tier}:{one.name}": str(one.mind)
            for one in self.residents
            if (tier := one.mind_model)
        }
        return self.models.resolved() | own | minds

    def code_names(self) -> tuple[str, ...]:
        """The code that it names as `module:NAME`: policies and minds of residents, listeners."""
        named = (
            *self.listeners,
            *(
                name
                for one in self.residents
                for name in (one.policy.name if one.policy else None, one.mind)
                if not (name and is_installed("simcounsel.minds", name.partition(":")[0]))
            ),
        )
        return tuple(dict.fromkeys(name for name in named if name and ":" in name))

    def with_models(self, name: Callable[[str], str]) -> Self:
        """With other names for all its models, those of residents too."""
        return self.model_copy(
            update={
                "models": _renamed(self.models, name),
                "residents": tuple(
                    one.model_copy(
                        update={
                            "models": _renamed(one.models, name) if one.models else None,
                            "mind": name(str(one.mind)) if one.mind_model else one.mind,
                        }
                    )
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

    @property
    def other_prompts(self) -> Mapping[str, str] | None:
        """The texts that are in the place of those that are included, by prompt."""
        return self.prompts.texts if self.prompts else None

    def present(self) -> tuple[ResidentSpec, ...]:
        """Who lives in the world under its condition, in name order."""
        roles = ROLES_OF[self.condition]
        return tuple(sorted((r for r in self.residents if r.role in roles), key=lambda r: r.name))

    def every_place(self) -> Iterator[tuple[tuple[str | int, ...], Place]]:
        """All places at any depth, each with its path in the file."""
        for index, place in enumerate(self.places):
            yield from place.walk(("places", index))

    def appointed(self) -> tuple[int, ...]:
        """The ticks in which somebody has an appointment, in order."""
        start = self.start.hour * 60 + self.start.minute
        minutes = {
            minute - start for appointment in self.appointments for minute in appointment.begins()
        }
        return tuple(
            sorted(
                minute // self.tick_minutes
                for minute in minutes
                if minute >= 0 and minute % self.tick_minutes == 0
            )
        )

    def amount(self, ticks: int) -> int:
        """What is done in so many ticks is counted in ticks."""
        return ticks

    def pace(self) -> tuple[object, ...]:
        """What decides how much is asked in a tick."""
        return self.days, self.tick_minutes, len(self.present()), self.conversation.max_turns

    def next_tick(self, tick: int) -> int:
        """The first tick that is run, from `tick` on: the next appointment's where days are
        skipped. `ticks` when there is none.
        """
        if self.days == "lived":
            return tick
        return next((one for one in self.appointed() if one >= tick), self.ticks)


def _renamed(models: M, name: Callable[[str], str]) -> M:
    given = models.model_dump(exclude_none=True, exclude={"timeouts"})
    return models.model_copy(update={role: name(model) for role, model in given.items()})
