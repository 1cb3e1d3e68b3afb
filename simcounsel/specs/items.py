"""The questions of a scale, and the answers that they allow."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from simcounsel.specs.load import Spec

Text = Annotated[str, Field(min_length=1)]

Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]


class Range(Spec):
    """Allowed answers: min, min + step, and so on up to max."""

    min: float
    max: float
    step: Annotated[float, Field(gt=0)] = 1.0

    @model_validator(mode="after")
    def _upward(self) -> "Range":
        steps = (self.max - self.min) / self.step
        if self.max <= self.min or abs(steps - round(steps)) > 1e-9:
            raise ValueError(
                f"from {self.min:g} to {self.max:g} in steps of {self.step:g}: max must lie a whole"
                " number of steps above min"
            )
        return self

    def allows(self, value: float) -> bool:
        """Whether a respondent may give that answer."""
        steps = (value - self.min) / self.step
        return self.min <= value <= self.max and abs(steps - round(steps)) < 1e-9

    @property
    def whole(self) -> bool:
        """Whether all answers are whole numbers."""
        return float(self.min).is_integer() and float(self.step).is_integer()


Fault = Literal["advice", "leading", "risk", "misremembered", "judged"]
"""The kinds of faults that are planted to try a judge (`instruments.faults`)."""


class When(Spec):
    """A question is asked only when an earlier one was answered so."""

    item: Id
    answered: Literal["yes", "no"]


class Item(Spec):
    """One question. From `fault` on it has what only an audit asks for, whose answers are yes (1)
    and no (0).
    """

    id: Id
    text: Text
    reverse: bool = False
    """Its answer is turned round (min + max - answer) before scoring; no prompt shows that."""
    subscale: Id | None = None
    """To which it belongs; None: to the total only."""
    range: Range | None = None
    """None: the scale's."""
    not_applicable: Text | None = None
    """When there is nothing to judge, so that a judge may answer null: `the client gives no hint at
    danger`. None: the item always applies, and null is no answer to it.
    """
    coded: bool = False
    """Its answer is how many of the counselor's turns have this code: the turns are numbered, and
    a judge codes them one by one.
    """
    falls_with: tuple[Fault, ...] = ()
    """The planted faults that should lower it; nobody is told when it is asked."""
    scored: bool = True
    """False for an item that counts in no total, only in its subscale or a ratio."""
    fault: Literal["yes", "no"] | None = None
    """The answer that is a fault; None: neither is."""
    severity: Annotated[int, Field(ge=1, le=4)] | None = None
    """How bad the fault is."""
    when: When | None = None
    """On which answer the item is asked at all; None: always."""
    by: Literal["client", "counselor"] | None = None
    """Whose words must prove a yes."""
    rule: (
        Literal["danger", "acknowledged", "help", "secrecy", "means", "left", "incited"] | None
    ) = None
    """What code finds by itself (`instruments.audit`); where it finds nothing the judge is asked.
    """
