"""Labelled lines to measure the detector of danger on: PsyGUARD's JSON, or lines of our own in
YAML.

PsyGUARD's labels say whether there is a risk and of which sort, no level (Chinese; Qiu et al.
2024). Of its utterances those with an even `idx` are the tune split, since the words were chosen on
them, and those with an odd one the test split. Our own lines carry their split, their kinds and
their level. A file may hold both; those with an `idx` are PsyGUARD's.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from simcounsel.errors import BenchError, SpecError
from simcounsel.specs.file_text import Lines, read_json
from simcounsel.specs.load import Spec, line_of, parse_spec, read_yaml
from simcounsel.specs.vocabulary import Danger, RiskLevel

Split = Literal["tune", "test"]
Words = Annotated[str, Field(min_length=1)]
MOST_PROBLEMS = 20
"""Problems that an error lists; of more it says how many."""


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A line and its labels."""

    text: str
    risk: bool
    labels: tuple[str, ...]
    """The names of its risks, as the data has them; none for no risk."""
    split: Split
    level: RiskLevel | None = None
    """None where the data has none."""
    hard: bool | None = None
    """Whether it is easily mistaken; None where the data does not say."""


class OwnLine(Spec):
    """A line of our own, as `tests/data/risk_lines.yaml` has them."""

    id: Words
    split: Split
    text: Words
    kinds: tuple[Danger, ...]
    level: RiskLevel
    hard: bool
    why: str

    @model_validator(mode="after")
    def _kinds_fit_the_level(self) -> Self:
        if self.level == "none" and self.kinds:
            raise ValueError(
                f"kinds: {list(self.kinds)} with level none; give the level of the danger, or"
                " `kinds: []`"
            )
        if self.level != "none" and not self.kinds:
            raise ValueError(
                f"kinds: [] with level {self.level}; name the kinds of danger, or `level: none`"
            )
        return self

    def labelled(self) -> Labelled:
        """As it is measured."""
        return Labelled(
            text=self.text,
            risk=self.level != "none",
            labels=self.kinds,
            split=self.split,
            level=self.level,
            hard=self.hard,
        )


class PsyguardLine(Spec):
    """An utterance of PsyGUARD's."""

    model_config = ConfigDict(extra="ignore")

    idx: Annotated[int, Field(ge=0)]
    text: Words
    labels: tuple[Words, ...]
    """The names of those that are 1."""
    label: Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(min_length=2)]
    """0 or 1 for each class, the last of which is no risk."""

    def labelled(self) -> Labelled:
        """As it is measured."""
        risk = self.label[-1] != 1.0
        return Labelled(
            text=self.text,
            risk=risk,
            labels=self.labels if risk else (),
            split="test" if self.idx % 2 else "tune",
        )


def read_lines(path: Path) -> tuple[Labelled, ...]:
    """The lines of a file. BenchError when it is neither PsyGUARD's JSON nor YAML of our own; or it
    names every fault with its entry.
    """
    try:
        data, lines = read_json(path) if path.suffix == ".json" else read_yaml(path)
        if not isinstance(data, list) or not data:
            raise SpecError(
                [
                    f"{path}:1: a list of labelled lines is needed; see simcounsel study"
                    " bench risk --help"
                ]
            )
        return tuple(line.labelled() for line in _parsed(path, data, lines))
    except SpecError as error:
        left_out = len(error.problems) - MOST_PROBLEMS
        more = [f"and {left_out} more like these"] if left_out > 0 else []
        raise BenchError("\n".join([*error.problems[:MOST_PROBLEMS], *more])) from None


def _parsed(path: Path, data: list[Any], lines: Lines) -> list[OwnLine | PsyguardLine]:
    found: list[OwnLine | PsyguardLine] = []
    problems: list[str] = []
    first: dict[str, int] = {}
    for at, entry in enumerate(data):
        theirs = isinstance(entry, dict) and "idx" in entry
        try:
            line = (
                parse_spec(entry, PsyguardLine, path, lines, at)
                if theirs
                else parse_spec(entry, OwnLine, path, lines, at)
            )
        except SpecError as error:
            problems += error.problems
            continue
        if isinstance(line, OwnLine) and first.setdefault(line.id, at) != at:
            where = f"{path}:{line_of(lines, (at, 'id'))}: entry {at + 1}: id"
            problems.append(
                f"{where}: {line.id!r} is that of entry {first[line.id] + 1} too; give each line"
                " its own"
            )
        found.append(line)
    if problems:
        raise SpecError(problems)
    return found


def lines_of(path: Path, split: Split | None = None) -> tuple[Labelled, ...]:
    """The lines of a file, all of them or a split, never none. BenchError as in `read_lines`, or
    when the split is empty.
    """
    lines = tuple(line for line in read_lines(path) if split in (None, line.split))
    if not lines:
        raise BenchError(
            f"{path}: has no line in the split {split}; leave --split out, or take the other one"
        )
    return lines
