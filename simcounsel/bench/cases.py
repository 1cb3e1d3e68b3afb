"""The cases of a benchmark: dialogues of a client and a counselor, and the exchanges that they
hold.

The file is a JSON list of `{"topic": ..., "case": ..., "turns": [{"role": "client", "content":
...}, {"role": "counselor", ...}, ...]}`: the client begins, and the two take turns. So CPsyCounE is
kept (Zhang et al. 2024: 45 cases on nine topics).
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from simcounsel.chance import seed_of
from simcounsel.corpus.sampling import share_out
from simcounsel.errors import BenchError, SpecError
from simcounsel.specs.file_text import read_json

Speaker = Literal["client", "counselor"]
SHAPE = (
    '{"topic": "...", "case": "1", "turns": [{"role": "client", "content": "..."}, {"role":'
    ' "counselor", "content": "..."}]}'
)


class Kept(BaseModel):
    """Base of all that is on disk: frozen, and no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Line(Kept):
    """What one of the two said."""

    model_config = ConfigDict(str_strip_whitespace=True)

    role: Speaker
    content: Annotated[str, Field(min_length=1)]


class Exchange(Kept):
    """One line of the client that is to be answered."""

    case: str
    """The case's id."""
    topic: str
    turn: int
    """From 1."""
    history: tuple[Line, ...]
    """All that was said, ending with the client's line; the counselor's lines in it are the data's
    own, whatever was answered before.
    """
    reference: str | None
    """What the data's counselor answers; None where the case ends with the client."""


class Case(Kept):
    """A dialogue on a topic."""

    model_config = ConfigDict(str_strip_whitespace=True)

    topic: Annotated[str, Field(min_length=1)]
    case: Annotated[str | int, Field(union_mode="left_to_right")]
    turns: Annotated[tuple[Line, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _by_turns(self) -> Self:
        for number, line in enumerate(self.turns):
            due = ("client", "counselor")[number % 2]
            if line.role != due:
                raise ValueError(
                    f"turns.{number}: the {line.role} speaks where the {due} should; the client"
                    " begins and the two take turns"
                )
        return self

    @property
    def id(self) -> str:
        """Topic and number: `Career-1`."""
        return f"{self.topic}-{self.case}"

    def exchanges(self) -> Iterator[Exchange]:
        """One for each line of the client, in order."""
        for turn, at in enumerate(range(0, len(self.turns), 2), 1):
            after = self.turns[at + 1].content if at + 1 < len(self.turns) else None
            yield Exchange(
                case=self.id,
                topic=self.topic,
                turn=turn,
                history=self.turns[: at + 1],
                reference=after,
            )


def read_cases(file: Path) -> tuple[tuple[Case, ...], str]:
    """The cases of a file in its order, never none, and the SHA-256 of the file. BenchError names
    the file, the case and what is wrong.
    """
    try:
        rows, lines = read_json(file)
    except SpecError as error:
        raise BenchError(str(error)) from None
    if not isinstance(rows, list) or not rows:
        raise BenchError(f"{file}: expected a list of cases, each {SHAPE}")
    cases = tuple(
        _case(f"{file}:{lines[(number - 1,)]}: case {number}", row)
        for number, row in enumerate(rows, 1)
    )
    first: dict[str, int] = {}
    for number, case in enumerate(cases, 1):
        if first.setdefault(case.id, number) != number:
            raise BenchError(
                f"{file}: case {number}: {case.id} is already case {first[case.id]}; give each"
                " `topic` and `case` once"
            )
    return cases, hashlib.sha256(file.read_bytes()).hexdigest()


def _case(at: str, row: Any) -> Case:
    try:
        return Case.model_validate_json(json.dumps(row))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Value error, ")
        value = (
            "" if first["type"] in ("missing", "value_error") else f"{repr(first['input'])[:60]}: "
        )
        raise BenchError(
            f"{at} (from 1): {where + ': ' if where else ''}{value}{said}; a case is {SHAPE}"
        ) from None


def draw_cases(cases: Sequence[Case], size: int | None, seed: int) -> tuple[Case, ...]:
    """This many cases (all, if None) in the file's order, by topic in proportion; a larger sample
    with the same seed holds the smaller.
    """
    if size is None or size >= len(cases):
        return tuple(cases)
    topics: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda one: seed_of(seed, "bench", one.id)):
        topics.setdefault(case.topic, []).append(case)
    places = share_out(size, {topic: len(some) for topic, some in topics.items()})
    drawn = {case.id for topic, some in topics.items() for case in some[: places[topic]]}
    return tuple(case for case in cases if case.id in drawn)
