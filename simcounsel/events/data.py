"""What all events have in common, and those that any run can have."""

from collections.abc import Iterable
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue


class Data(BaseModel):
    """Part of an event: frozen, no unknown fields.

    A package's own event derives from it, with a `kind: Literal["mine.told"] = "mine.told"` first,
    then `who` writes it and, if it belongs to a conversation, `chat`, its id. In the log and ever
    after it is a `Foreign`; `written` makes it the package's own again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class Foreign(BaseModel):
    """An event of a kind that this version does not know, such as another package's: kept as it
    was written, shown, and observed by whom it names as `who`.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)
    kind: Annotated[str, Field(min_length=1, max_length=200)]

    @property
    def fields(self) -> dict[str, JsonValue]:
        """All but its kind."""
        return dict(self.__pydantic_extra__)

    @property
    def who(self) -> str | None:
        """Whose it is; None when it names nobody."""
        return self._text("who")

    @property
    def chat(self) -> str | None:
        """The id of the conversation that it belongs to; None when it belongs to none."""
        return self._text("chat")

    def _text(self, name: str) -> str | None:
        found = self.__pydantic_extra__.get(name)
        return found if isinstance(found, str) else None


E = TypeVar("E", bound=Data)


def written(events: Iterable[BaseModel], kind: type[E]) -> tuple[E, ...]:
    """Those of the events that are of a package's own kind, in order, as that package's own class.
    pydantic.ValidationError when an older version of it wrote other fields.
    """
    name = kind.model_fields["kind"].default
    return tuple(
        kind.model_validate({"kind": event.kind, **event.fields})
        for event in events
        if isinstance(event, Foreign) and event.kind == name
    )


class Answered(Data):
    """An event that came from what a model answered."""

    calls: tuple[str, ...] = ()
    """Keys of the calls that it came from: lines of calls.jsonl. () where it came from none."""
    fallback: bool = False
    """Whether a call gave no usable answer, so that the declared fallback was taken."""


class Warned(Data):
    """A model's answer could not be used; the declared fallback was taken."""

    kind: Literal["warned"] = "warned"
    who: str
    purpose: str
    cause: str


class ParameterLeftOut(Data):
    """A model does not take a parameter; from here on it was asked without it. Once for each model
    and parameter of a run.
    """

    kind: Literal["parameter_left_out"] = "parameter_left_out"
    model: str
    parameter: str
    """As it is called in requests: `temperature`, `seed`, `response_format`, `logprobs`."""


class Forked(Data):
    """From here on the world differs from the run this one was forked from."""

    kind: Literal["forked"] = "forked"
    changes: tuple[tuple[str, str], ...]
    start_hash: str | None = None
    """Of what decides the fork from here on, by its own manifest (see `runs.chain`)."""


class TickEnded(Data):
    """The tick is complete; all its events are above."""

    kind: Literal["tick_ended"] = "tick_ended"
    hash: str | None = None
    """SHA-256 over the tick's lines and the hash of the tick before (see `runs.chain`); None until
    it is written.
    """
