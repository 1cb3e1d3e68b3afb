"""Real studies: a table of people (arm, person, time, score), or an effect that was published; and
the runs that simulate each.
"""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from analysis.errors import ReportError
from analysis.statistics import Effect, hedges_g
from simcounsel.errors import SpecError
from simcounsel.intake import file_bytes
from simcounsel.packaged import packaged
from simcounsel.specs.experiment import Slug
from simcounsel.specs.load import Spec, load_spec

TIMES = {"before": 0.0, "pre": 0.0, "baseline": 0.0, "after": 1.0, "post": 1.0, "end": 1.0}
COLUMNS = ("arm", "person", "time", "score")
Number = Annotated[float, Field(allow_inf_nan=False)]


class Published(Spec):
    """A standardized difference between two arms, first minus second."""

    g: Number
    low: Number | None = None
    """`low`, `high`: 95%."""
    high: Number | None = None
    source: str = ""
    """Where it was read."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if (self.low is None) != (self.high is None):
            raise ValueError("an interval has two ends: give low and high")
        if self.low is not None and self.high is not None and not self.low <= self.g <= self.high:
            raise ValueError(f"g {self.g} is not within [{self.low}, {self.high}]")
        return self


class RealStudy(Spec):
    """One study, real and simulated."""

    id: Slug
    runs: str
    """The folder of its runs, seen from the file."""
    instrument: str
    score: str = "total"
    respondent: str | None = None
    contrast: Annotated[tuple[Slug, ...], Field(min_length=2, max_length=2)]
    """The conditions of the simulation."""
    people: str | None = None
    """A CSV of real people: arm, person, time, score."""
    arms: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)] | None = None
    """What the two are called in the CSV, if not as in the simulation."""
    effect: Published | None = None
    """Where there is no CSV: what was published."""
    trial: Slug | None = None
    """Or one of the trials that are included, by its id."""

    @model_validator(mode="after")
    def _one_truth(self) -> Self:
        if sum(one is not None for one in (self.people, self.effect, self.trial)) != 1:
            raise ValueError("the real study is one of `people`, `effect`, `trial`")
        return self


class StudiesFile(Spec):
    """A file of studies."""

    studies: Annotated[tuple[RealStudy, ...], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class Real:
    """What was found in a real study."""

    changes: tuple[tuple[float, ...], tuple[float, ...]] | None
    """Of each person, by arm, in points: the last score minus the first. None where an effect alone
    is known."""
    effect: Effect
    source: str


def read_studies(file: Path) -> tuple[RealStudy, ...]:
    """SpecError with file and line."""
    found: tuple[RealStudy, ...] = load_spec(file, StudiesFile)[0].studies
    twice = next(
        (one.id for at, one in enumerate(found) if one.id in {o.id for o in found[:at]}), None
    )
    if twice:
        raise SpecError([f"{file}: two studies are called {twice!r}"])
    return found


def real_of(study: RealStudy, folder: Path) -> Real:
    """What was found. folder: from which files are seen. ReportError, SpecError."""
    if study.people is not None:
        changes = read_people(folder / study.people, study.arms or study.contrast)
        return Real(changes=changes, effect=hedges_g(*changes), source=study.people)
    published = study.effect or trial(str(study.trial))
    return Real(
        changes=None,
        effect=Effect(g=published.g, low=published.low, high=published.high),
        source=published.source or str(study.trial),
    )


def trial(id: str) -> Published:
    """An included trial. SpecError where there is none of that id."""
    listed = {one["id"]: one for one in trials()}
    if id not in listed:
        raise SpecError([f"no trial {id!r}; there are {', '.join(listed) or 'none'}"])
    one = listed[id]
    return Published(g=one["g"], low=one.get("low"), high=one.get("high"), source=one["cite"])


def trials() -> list[dict[str, Any]]:
    """The trials that are included."""
    listed: list[dict[str, Any]] = packaged(__package__, "trials.yaml") or []
    return listed


def read_people(file: Path, arms: tuple[str, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Each person's last score minus the first, by arm. Times are numbers, or words of TIMES.
    ReportError names the line.
    """
    scores: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for number, row in _rows(file):
        time = row["time"].strip()
        at = _number(time) if _number(time) is not None else TIMES.get(time.casefold())
        if at is None:
            raise ReportError(
                f"{file}:{number}: time {time!r} is no number; or write {', '.join(TIMES)}"
            )
        score = _number(row["score"])
        if score is None:
            if row["score"].strip():
                raise ReportError(f"{file}:{number}: score {row['score']!r} is no number")
            continue  # not measured
        person = scores[row["arm"].strip(), row["person"].strip()]
        if any(at == earlier for earlier, _ in person):
            raise ReportError(f"{file}:{number}: {row['person']} has two scores at {time}")
        person.append((at, score))
    found = tuple(
        tuple(
            max(own)[1] - min(own)[1]
            for (of, _), own in scores.items()
            if of == arm and len(own) > 1
        )
        for arm in arms
    )
    for arm, own in zip(arms, found, strict=True):
        if len(own) < 2:
            there = ", ".join(sorted({of for of, _ in scores})) or "none"
            raise ReportError(
                f"{file}: arm {arm!r} has {len(own)} people with two scores; arms are {there}"
            )
    return found[0], found[1]


def _rows(file: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        text = file_bytes(file).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(f"{file}: cannot be read ({error})") from None
    reader = csv.DictReader(io.StringIO(text))
    missing = [one for one in COLUMNS if one not in (reader.fieldnames or ())]
    if missing:
        raise ReportError(f"{file}:1: no column {missing[0]!r}; there must be {', '.join(COLUMNS)}")
    for row in reader:
        yield reader.line_num, {name: row.get(name) or "" for name in COLUMNS}


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
