"""A scale: the items of an instrument, who answers them, how the answers become scores, and where
it comes from.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from simcounsel.specs.items import Id, Item, Range, Text
from simcounsel.specs.load import Spec
from simcounsel.specs.scores import (
    ANY_ITEM,
    TOTAL,
    Band,
    Direction,
    Flag,
    Missing,
    Ratio,
    Scoring,
    Subscale,
)

OF_A_JUDGE, OF_A_PERSON = 20, 12
"""How many items are asked at a time where a scale does not say."""
Respondent = Literal["self", "observer"]
Sees = Literal["transcript", "persona and transcript", "personas"]
Therapy = Literal[
    "cognitive-behavioral",
    "psychodynamic",
    "humanistic",
    "emotion-focused",
    "behavioral",
    "postmodern",
    "motivational interviewing",
]


class StandsIn(Spec):
    """The published instrument whose construct and structure this one follows, and in a plain
    sentence that it is not that one.
    """

    instrument: Text
    note: Text

    @field_validator("note")
    @classmethod
    def _says_so(cls, value: str) -> str:
        if not re.search(r"\bnot\b", value):
            raise ValueError(
                "say plainly that it is not that instrument, such as: Reworded; this is not the"
                " SRS, and its norms do not apply."
            )
        return value


class Scale(Spec):
    """An instrument as its file says."""

    id: Id
    name: Text
    measures: Text
    """The construct."""
    version: Text
    level: Literal["client", "counselor"]
    """Whose it is: the client's state or the counselor's work."""
    scope: Literal["shared", "specific"]
    """Shared by all therapies, or specific to `therapy`."""
    therapy: Therapy | None = None
    respondent: Respondent
    """`self` is the person's own mind (a simulated self-report), `observer` a judge who sees only
    what `sees` says.
    """
    sees: Sees | None = None
    stands_in_for: StandsIn | None
    """None only for a public-domain instrument given as published."""
    source: Text
    licence: Text
    instruction: Text
    range: Range
    labels: dict[int, str] = Field(default_factory=dict)
    """What some of the answers are called."""
    anchors: dict[int, Text] = Field(default_factory=dict)
    """What some of the answers look like in the text that is judged, a line each."""
    direction: Direction
    scoring: Scoring | None
    """Of the total; None when there is none."""
    missing: Missing = Missing()
    items: Annotated[tuple[Item, ...], Field(min_length=1)]
    subscales: tuple[Subscale, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    bands: tuple[Band, ...] = ()
    flags: tuple[Flag, ...] = ()
    block: Annotated[int, Field(ge=1, le=40)] | None = None
    """How many items are asked at a time; None: 20 of a judge, to whom each block costs the whole
    transcript again, 12 of a person.
    """

    @model_validator(mode="after")
    def _holds_together(self) -> "Scale":
        for problem in _problems(self):
            raise ValueError(problem)
        return self

    def range_of(self, item: Item) -> Range:
        """Allowed answers to an item."""
        return item.range or self.range

    def blocks(self) -> Iterator[tuple[Item, ...]]:
        """The items that are rated, so many at a time; not those that are coded by turn."""
        rated = tuple(item for item in self.items if not item.coded)
        for at in range(0, len(rated), self.block_size):
            yield rated[at : at + self.block_size]

    @property
    def block_size(self) -> int:
        """How many items are asked at a time."""
        return self.block or (OF_A_JUDGE if self.respondent == "observer" else OF_A_PERSON)

    @property
    def codes(self) -> tuple[Item, ...]:
        """The items that are counted by coding turn after turn."""
        return tuple(item for item in self.items if item.coded)

    def anchors_of(self, item: Item) -> dict[int, str]:
        """What some of the answers to an item look like; {} where nothing says so."""
        parts = {part.id: part.anchors for part in self.subscales}
        return parts.get(item.subscale or "") or self.anchors

    @property
    def audits(self) -> bool:
        """Whether it asks for faults: yes or no, on and on by the answers, with words quoted as
        proof.
        """
        return any(item.fault for item in self.items)

    def reached(self, item: Item, answers: Mapping[str, float | None]) -> bool:
        """Whether the answers so far lead to an item."""
        return item.when is None or answers.get(item.when.item) == (
            1.0 if item.when.answered == "yes" else 0.0
        )

    @property
    def hash(self) -> str:
        """SHA-256 (16 hex digits) of all that is asked and counted. What only some scales have is
        not said of others, whose hashes stay what they were.
        """
        fields = self.model_dump(mode="json") | {"block": self.block_size}
        for item in fields["items"]:
            del item["falls_with"]
            _unsaid(item, _OF_SOME_ITEMS)
        for part in fields["subscales"]:
            _unsaid(part, ("missing", "anchors"))
        for ratio in fields["ratios"]:
            _unsaid(ratio, ("fewest",))
        _unsaid(fields, ("anchors",))
        rule = fields["missing"]
        if rule["source"] is None and not rule["most_not_applicable"]:
            del rule["source"], rule["most_not_applicable"]
        said = json.dumps(fields, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]


_OF_SOME_ITEMS = ("fault", "severity", "when", "by", "rule", "not_applicable", "coded")


def _unsaid(fields: dict[str, Any], names: Iterable[str]) -> None:
    """Leave out those of the names that say nothing."""
    for name in names:
        if not fields[name]:
            del fields[name]


def _problems(scale: Scale) -> Iterator[str]:
    ids = [item.id for item in scale.items]
    scores = [
        TOTAL,
        *(subscale.id for subscale in scale.subscales),
        *(ratio.id for ratio in scale.ratios),
    ]
    for name in ids + scores:
        if (ids + scores).count(name) > 1:
            yield f"a second item or score has the id {name!r}; ids must differ"
    for item in scale.items:
        if item.subscale is not None and item.subscale not in scores[1:]:
            yield (
                f"item {item.id!r}: no subscale {item.subscale!r}; there are"
                f" {', '.join(scores[1:]) or 'none'}"
            )
    for subscale in scale.subscales:
        if not any(item.subscale == subscale.id for item in scale.items):
            yield f"subscale {subscale.id!r} has no item"
    for ratio in scale.ratios:
        yield from (
            f"ratio {ratio.id!r}: no item {name!r}"
            for name in (*ratio.over, *ratio.under)
            if name not in ids
        )
    yield from (
        f"band {band.name!r}: no score {band.score!r}; there are {', '.join(scores)}"
        for band in scale.bands
        if band.score not in scores
    )
    yield from (
        f"flag {flag.name!r}: no score or item {flag.of!r}"
        for flag in scale.flags
        if flag.of not in (*scores, *ids, ANY_ITEM)
    )
    yield from _unknown_answers(scale)
    yield from _code_problems(scale)
    yield from _audit_problems(scale, ids)
    yield from _unfit_problems(scale)
    if (scale.scope == "specific") != (scale.therapy is not None):
        yield "`therapy:` is given when, and only when, the scope is specific"
    if (scale.respondent == "observer") != (scale.sees is not None):
        yield "`sees:` is given when, and only when, the respondent is an observer"
    if scale.scoring is None and not (scale.subscales or scale.ratios):
        yield "without a total there must be subscales or ratios"


def _unknown_answers(scale: Scale) -> Iterator[str]:
    anchors = [*scale.anchors, *(at for part in scale.subscales for at in part.anchors)]
    named = (("label", list(scale.labels)), ("anchor", anchors))
    yield from (
        f"{what} {at}: not an answer between {scale.range.min:g} and {scale.range.max:g}"
        for what, answers in named
        for at in answers
        if not scale.range.allows(at)
    )


def _code_problems(scale: Scale) -> Iterator[str]:
    for item in scale.codes:
        allowed = scale.range_of(item)
        if scale.respondent != "observer" or scale.sees != "transcript" or scale.audits:
            yield f"item {item.id!r}: `coded:` is for what a judge of a transcript counts"
        elif (allowed.min, allowed.step) != (0, 1):
            yield f"item {item.id!r}: a count of turns begins at 0, in steps of 1"


def _unfit_problems(scale: Scale) -> Iterator[str]:
    if scale.respondent == "self" or scale.audits:
        yield from (
            f"item {item.id!r}: `not_applicable:` is for what a judge rates"
            for item in scale.items
            if item.not_applicable
        )


def _audit_problems(scale: Scale, ids: list[str]) -> Iterator[str]:
    for number, item in enumerate(scale.items):
        if (item.fault is None) != (item.severity is None):
            yield f"item {item.id!r}: `fault:` and `severity:` are given together"
        if item.when is not None and item.when.item not in ids[:number]:
            yield f"item {item.id!r}: when {item.when.item!r}: no item before it has that id"
    scorings = {scale.scoring, *(subscale.scoring for subscale in scale.subscales)}
    if not scale.audits and scorings & {"worst", "faults"}:
        yield "`worst` and `faults` score an audit, whose items say which answer is a fault"
    yes_or_no = (scale.range.min, scale.range.max, scale.range.step) == (0, 1, 1)
    if scale.audits and (
        scale.respondent != "observer" or scale.sees != "transcript" or not yes_or_no
    ):
        yield "an audit is an observer's, of a transcript, with answers from 0 (no) to 1 (yes)"
