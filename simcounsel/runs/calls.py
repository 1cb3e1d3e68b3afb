"""Requests to models as calls.jsonl keeps them."""

import base64
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Required

import numpy as np
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from simcounsel.errors import RunError
from simcounsel.runs.call_chain import CallCheck
from simcounsel.runs.jsonl import parsed_line
from simcounsel.specs.vocabulary import Source


class _Recorded(TypedDict, total=False):
    """What a replay takes from a line of calls.jsonl as it is."""

    key: Required[str]
    tick: int | None
    who: str
    purpose: str
    verb: str
    model: str
    reply: str | None
    source: Source | None
    complaint: str | None
    problem: str | None
    texts: list[str]
    vectors: str | None
    weights: dict[str, float] | None
    notes: dict[str, Any] | None
    left_out: list[str] | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None


_RECORDED = TypeAdapter(_Recorded)


def usable(fields: Mapping[str, Any]) -> bool:
    """Whether a line of calls.jsonl is whole: its fields are of their kinds, its vectors as many as
    its texts.
    """
    try:
        _RECORDED.validate_python(fields, strict=True)
        if vectors := fields.get("vectors"):
            found = len(b64decode(vectors, validate=True))
            return found % (2 * len(fields["texts"])) == 0
    except (ValueError, KeyError, ZeroDivisionError):
        return False
    return True


def recorded(file: Path, check: CallCheck) -> Iterator[dict[str, Any]]:
    """The calls in a calls.jsonl; a line that is cut short is left out. RunError names a line that
    does not pass the check.
    """
    if not file.is_file():
        return
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if damage := check.damage(line):
                raise RunError(
                    f"{file}:{number}: {damage}; put back the file as it was, or go on with what"
                    " can be read where a command takes --damaged"
                )
            call = parsed_line(line)
            if call is not None and usable(call):
                yield call


class Message(BaseModel):
    """One message of a request."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    role: str
    """`system`, `user` or `assistant`."""
    content: str


class Call(BaseModel):
    """One request to a model and what came of it."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    key: str
    """Of the request: the hash of all that can reach its answer. Events name it."""
    tick: int | None
    """In which it was asked; None outside a run's ticks."""
    who: str
    purpose: str
    verb: str
    model: str
    tier: str | None = None
    """Which of the world's models was asked for; None where none was."""
    messages: tuple[Message, ...] = ()
    """What was sent; () where vectors were asked for."""
    parameters: Mapping[str, Any] | None = None
    """What was sent beside the messages; None where it was not kept."""
    left_out: tuple[str, ...] = ()
    """Parameters that were meant to be sent, and that the server did not take."""
    reply: str | None = None
    """As it came; None when nothing came."""
    source: Source | None = None
    """Where the answer is from; None where vectors were asked for."""
    complaint: str | None = None
    """What was wrong with the first reply, if it was asked again."""
    problem: str | None = None
    """Why the fallback was taken, if it was."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    """None when the price is unknown."""
    latency_s: float | None = None
    tries: int | None = None
    """How often it was sent over the network."""
    given_up: bool = False
    """Whether it was broken off before it was answered; it is asked again then."""
    spare: bool = False
    """In a fork: one of its parent's future, kept in case that it is asked again."""

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "Call | None":
        """A line of calls.jsonl; None when it is none."""
        try:
            return cls.model_validate(fields)
        except (ValidationError, TypeError, ValueError, AttributeError):
            return None

    @property
    def seed(self) -> int | None:
        """What a server was given to draw with; None where that was not kept."""
        found = (self.parameters or {}).get("seed")
        return found if isinstance(found, int) else None

    @property
    def embeds(self) -> bool:
        """Whether vectors were asked for, and no words."""
        return self.verb == "embed"

    @property
    def characters(self) -> int:
        """How long it is with its reply."""
        return sum(len(one.content) for one in self.messages) + len(self.reply or "")


def encode_vectors(vectors: np.ndarray) -> str:
    """Vectors as base64 of little-endian float16, for a line of calls.jsonl."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def decode_vectors(text: str, count: int) -> np.ndarray:
    """The inverse of `encode_vectors`: float32, shape (count, dimensions)."""
    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32).reshape(count, -1)
