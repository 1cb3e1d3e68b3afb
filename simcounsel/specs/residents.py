"""Who lives in a world, in which places, whom they meet when, and how close they are."""

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, field_validator

from simcounsel.clock import minutes_of_day
from simcounsel.registry import is_installed
from simcounsel.specs.load import Spec
from simcounsel.specs.persona import AnyPersona
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.vocabulary import PlaceKind, Role
from simcounsel.specs.world_settings import ClientStateMode, ModelName, OwnModels

LONGEST_MIND = 400
"""Characters of a mind's name."""
Name = Annotated[str, Field(min_length=1, max_length=60)]


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


class ResidentSpec(Spec):
    """Somebody who lives in the world."""

    name: Name
    persona: AnyPersona = Field(discriminator="role")
    """A path in the file, the persona itself here."""
    home: Name
    starts_in: Name
    policy: PolicySpec | None = None
    mind: Annotated[ModelName, Field(max_length=LONGEST_MIND)] | None = None
    """A mind of another kind: a registered name, with `:` and what that mind takes where it takes
    something (`bot:FILE`), or `package.module:name`; None: a person's.
    """
    models: OwnModels | None = None
    """Models of this resident's own; None: those of the world."""
    client_state: ClientStateMode | None = None
    """Of a client; None: as the world's."""

    @property
    def role(self) -> Role:
        """client, counselor or layperson: the persona says."""
        return self.persona.role

    @property
    def mind_model(self) -> str | None:
        """The tier in which the mind asks a model that its own name names: `bot` for
        `bot:https://...`, where a mind and a provider of that name are installed.
        """
        head, colon, _ = (self.mind or "").partition(":")
        groups = ("simcounsel.minds", "simcounsel.providers")
        return head if colon and all(is_installed(group, head) for group in groups) else None

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if re.search(r"[\n\r\t/\\:+]", value):
            raise ValueError(f"{value!r}: a name is one line of text without / \\ : +")
        return value


class Appointment(Spec):
    """Two people who meet at a place on some days at a time of day."""

    who: tuple[Name, Name]
    days: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)]
    """Day 0 is the first."""
    at: str
    place: Name
    max_turns: Annotated[int, Field(ge=2, le=200)] | None = None
    """Lines in all; None: as many as the world's."""
    minutes: Annotated[int, Field(ge=5, le=240)] | None = None
    """How long it lasts for the two, spread over its lines; None: 50 where a counselor takes part,
    else a tick for each twelve lines. Until it ends they do nothing else; all its lines are said in
    its first tick.
    """

    @field_validator("at")
    @classmethod
    def _is_time(cls, value: str) -> str:
        minutes_of_day(value)
        return value

    def begins(self) -> tuple[int, ...]:
        """When it takes place, in minutes since day 0."""
        return tuple(day * 1440 + minutes_of_day(self.at) for day in self.days)


class Relationship(Spec):
    """How close two people are at the start, and what they are to each other."""

    between: tuple[Name, Name]
    score: Annotated[float, Field(ge=0, le=10)]
    """0 (strangers) to 10; 2 where nothing is said."""
    how: Annotated[str, Field(max_length=200)] = ""
    """What they are, as it goes on after 'they are': 'neighbours and friends'; '': as the people of
    their personas say.
    """
    since: Annotated[str, Field(max_length=100)] = ""
    """Since when or for how long: 'for five years'; only beside `how`."""
