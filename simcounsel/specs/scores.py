"""How the answers to a scale become scores, and what is said of these."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from simcounsel.specs.items import Id, Text
from simcounsel.specs.load import Spec

Direction = Literal["lower_is_better", "higher_is_better"]

Scoring = Literal["sum", "mean", "worst", "faults"]
"""`worst`: the highest severity of the faults that were found, 0 when there is none; `faults`: how
many. Both of an audit.
"""

ANY_ITEM = "any item"

TOTAL = "total"


class Missing(Spec):
    """What a score does when it lacks answers."""

    rule: Literal["none", "prorate"] = "none"
    """`none`: a score that lacks an answer is incomplete. `prorate`: the mean of what was answered
    stands for the rest, as long as at most `most` items are missing.
    """
    most: Annotated[int, Field(ge=0)] = 0
    most_not_applicable: Annotated[int, Field(ge=0)] = 0
    """So many items may be not applicable; the mean of the others stands for them. With more the
    score is incomplete.
    """
    source: Text | None = None
    """Where the rule was published, or that it is our own."""

    @model_validator(mode="after")
    def _agrees(self) -> "Missing":
        if self.rule == "none" and self.most:
            raise ValueError(f"most: {self.most} items may be missing; give `rule: prorate` too")
        return self

    def of_part(self, items: int, all_items: int) -> "Missing":
        """The rule for a subscale that has none of its own: the same share of its items, rounded
        down.
        """
        return self.model_copy(
            update={
                name: getattr(self, name) * items // all_items
                for name in ("most", "most_not_applicable")
            }
        )


class Subscale(Spec):
    """A score over some of the items."""

    id: Id
    name: Text
    scoring: Scoring | None = None
    """None: the scale's."""
    direction: Direction | None = None
    """None: the scale's."""
    missing: Missing | None = None
    """None: the scale's rule, for the same share of items."""
    anchors: dict[int, Text] = Field(default_factory=dict)
    """What some of the answers to its items look like, a line each; none: the scale's."""


class Ratio(Spec):
    """A score that is a quotient of sums: of the items `over` by the items `under`."""

    id: Id
    name: Text
    over: Annotated[tuple[Id, ...], Field(min_length=1)]
    under: Annotated[tuple[Id, ...], Field(min_length=1)]
    times: float = 1.0
    """100 for per cent."""
    fewest: Annotated[float, Field(gt=0)] | None = None
    """With a smaller sum below there is no quotient: one of one would be all. None: any above 0."""
    direction: Direction | None = None
    """None: the scale's."""


class Band(Spec):
    """A named stretch of a score: from `at_least` up to the next band of the same score."""

    score: Id = TOTAL
    name: Text
    at_least: float


class Flag(Spec):
    """A word put beside the scores when something is below, above or at least a number."""

    name: Text
    of: str = TOTAL
    """`total`, a subscale, a ratio, an item, or `any item`; items count as answered, not reversed.
    """
    below: float | None = None
    above: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> "Flag":
        if sum(limit is not None for limit in (self.below, self.above, self.at_least)) != 1:
            raise ValueError("give one of below, above, at_least")
        return self

    def raised(self, value: float) -> bool:
        """Whether the value calls for the flag."""
        if self.below is not None:
            return value < self.below
        return value > self.above if self.above is not None else value >= (self.at_least or 0)
