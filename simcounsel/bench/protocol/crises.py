"""A set of crises: scripted clients, with what they say and when, and what a competent counselor
would do.

A file is a YAML list of them; a folder is all such files in it. A client says the opening, then
whatever answers what was asked (`asked`, by topic), or the next line of `unasked` where nothing was
asked that the script answers. What has no line in the script gets one of `script_words.yaml`.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from simcounsel.bench.protocol.asked import TOPICS, Topic
from simcounsel.chance import seed_of
from simcounsel.corpus.sampling import share_out
from simcounsel.errors import BenchError, SpecError
from simcounsel.specs.load import Spec, line_of, parse_spec, read_yaml
from simcounsel.specs.practice import HelpLocale
from simcounsel.specs.vocabulary import RISK_LEVELS, Danger, Language, RiskLevel

SHIPPED = "crises"
"""The word for the set that comes with simcounsel."""
MOST_PROBLEMS = 20
OPENING, LEAVING = "opening", "leaving"
Words = Annotated[str, Field(min_length=1, max_length=600)]
Form = Literal[
    "plain",
    "hint",
    "third_person",
    "minor",
    "secrecy",
    "psychosis",
    "done",
    "recants",
    "leaves",
    "locale",
    "two_dangers",
    "harmless",
]
"""How the danger shows: said openly, hinted at; of somebody else; of somebody under age; with a
wish for secrecy; with voices or delusions; already done; taken back; with a leave-taking; in a
country of another language; two at once; or what only sounds like it."""
Dimension = Literal["detects", "clarifies", "guides", "communicates", "bounds"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""After the five of VERA-MH (Bentley et al. 2025): danger is detected, clarified, the client is
guided to human help, the talk is supportive, and a counselor's bounds are kept."""
Skippable = Literal["asked_by_name", "asked_how_near"]


class Leaving(Spec):
    """That a client takes leave in the middle."""

    after: Annotated[int, Field(ge=1, le=12)]
    """So many own lines."""
    says: Words
    stays: Words | None = None
    """When asked to stay, and they do; None: they go all the same."""


class Crisis(Spec):
    """One scripted client."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{2,59}$")]
    name: Annotated[str, Field(min_length=1, max_length=30, pattern=r"^[^\W\d_][\w .'’-]*$")]
    language: Language
    """Of the talk."""
    locale: HelpLocale
    """Where the client is: whose numbers help."""
    dangers: tuple[Danger, ...]
    """What is there, the nearest first; () where nothing is wrong though it sounds so."""
    level: RiskLevel
    """Of the nearest, once all is told."""
    forms: Annotated[tuple[Form, ...], Field(min_length=1)]
    persona: Words
    """The client in a line."""
    opening: Words
    unasked: Annotated[tuple[Words, ...], Field(min_length=2)]
    """What they say where nothing is asked that they answer, in this order."""
    asked: dict[Topic, tuple[Words, ...]]
    """What they say when asked, the first time, the second, ...; the last from then on."""
    never: tuple[Words, ...] = ()
    """What they never say unasked."""
    leaves: Leaving | None = None
    shows: dict[str, RiskLevel]
    """The danger that a line of the script gives away, by the line's key: `opening`, `unasked.2`,
    `plan`, `plan.2`, `leaving`."""
    wants_secrecy: str | None = None
    """The key of the line in which they ask for secrecy; None: in none."""
    skips: dict[Skippable, Words] = Field(default_factory=dict)
    """Checks that do not fit this crisis, each with why."""
    competent: dict[Dimension, Words]
    """What a competent counselor would do."""
    faults: Annotated[tuple[Words, ...], Field(min_length=1)]
    """What would be wrong here."""

    @field_validator("asked", mode="before")
    @classmethod
    def _one_line_is_a_list(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: [one] if isinstance(one, str) else one for key, one in value.items()}

    @field_validator("competent")
    @classmethod
    def _every_dimension(cls, value: dict[Dimension, str]) -> dict[Dimension, str]:
        missing = [one for one in DIMENSIONS if one not in value]
        if missing:
            raise ValueError(f"nothing for {', '.join(missing)}; say it for each dimension")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if bool(self.dangers) != (self.level != "none"):
            raise ValueError(f"dangers {list(self.dangers)} with level {self.level}")
        if ("harmless" in self.forms) == bool(self.dangers):
            raise ValueError("the form `harmless` is for those without danger, and for all of them")
        unknown = [key for key in (*self.shows, self.wants_secrecy) if key and not self.says(key)]
        if unknown:
            raise ValueError(f"shows: no line {unknown[0]!r} in this script")
        shown = max((RISK_LEVELS.index(one) for one in self.shows.values()), default=0)
        if RISK_LEVELS[shown] != self.level:
            raise ValueError(f"shows: comes to {RISK_LEVELS[shown]}, and level is {self.level}")
        if self.dangers and not any(
            key == OPENING or key.startswith("unasked") for key in self.shows
        ):
            raise ValueError("shows: neither the opening nor an unasked line gives a sign")
        return self

    @cached_property
    def lines(self) -> dict[str, str]:
        """Every line of the script by its key, the opening first."""
        found = {OPENING: self.opening}
        found |= {f"unasked.{number}": one for number, one in enumerate(self.unasked, 1)}
        for topic in TOPICS:
            for number, one in enumerate(self.asked.get(topic, ()), 1):
                found[topic if number == 1 else f"{topic}.{number}"] = one
        if self.leaves:
            found[LEAVING] = self.leaves.says
            if self.leaves.stays:
                found["stays"] = self.leaves.stays
        return found

    def says(self, key: str) -> str | None:
        """The line of a key; None where there is none."""
        return self.lines.get(key)


def read_crises(path: Path) -> tuple[tuple[Crisis, ...], str]:
    """The crises of a file, of a folder of files, or with the word `crises` of those that come with
    simcounsel; and a SHA-256 over what was read. BenchError names every problem.
    """
    found: list[Crisis] = []
    problems: list[str] = []
    digest = sha256()
    for file in _files(path):
        try:
            found += _of_file(file)
            digest.update(file.read_bytes())
        except SpecError as error:
            problems += error.problems
    twice = [id for id, times in Counter(one.id for one in found).items() if times > 1]
    problems += [f"{path}: two crises have the id {id!r}; give each its own" for id in twice]
    if problems:
        left_out = len(problems) - MOST_PROBLEMS
        more = [f"and {left_out} more like these"] if left_out > 0 else []
        raise BenchError("\n".join([*problems[:MOST_PROBLEMS], *more]))
    return tuple(found), digest.hexdigest()


def draw_crises(crises: tuple[Crisis, ...], size: int | None, seed: int) -> tuple[Crisis, ...]:
    """So many of them (all, if None) in their order, by danger in proportion; a larger sample with
    the same seed holds the smaller.
    """
    if size is None or size >= len(crises):
        return crises
    kinds: dict[str, list[Crisis]] = {}
    for one in sorted(crises, key=lambda one: seed_of(seed, "protocol", one.id)):
        kinds.setdefault(one.dangers[0] if one.dangers else "none", []).append(one)
    places = share_out(size, {kind: len(some) for kind, some in kinds.items()})
    drawn = {one.id for kind, some in kinds.items() for one in some[: places[kind]]}
    return tuple(one for one in crises if one.id in drawn)


def _files(path: Path) -> Iterator[Path]:
    if str(path) == SHIPPED and not path.exists():
        path = Path(str(files(__package__) / "crises"))
    some = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not some:
        raise BenchError(f"{path}: no .yaml file in this folder; name a file of crises")
    yield from some


def _of_file(file: Path) -> Iterator[Crisis]:
    data, lines = read_yaml(file, "see simcounsel study bench protocol --help")
    if not isinstance(data, list):
        raise SpecError([f"{file}:1: a list of crises is needed, `- id: ...`"])
    problems: list[str] = []
    for at, entry in enumerate(data):
        try:
            yield parse_spec(entry, Crisis, file, lines, at)
        except SpecError as error:
            where = f"{file}:{line_of(lines, (at,))}"
            problems += [
                one if one.startswith(str(file)) else f"{where}: {one}" for one in error.problems
            ]
    if problems:
        raise SpecError(problems)
