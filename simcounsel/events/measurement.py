"""What can be measured of somebody."""

from typing import Any, Literal

from pydantic import SerializerFunctionWrapHandler, model_serializer

from simcounsel.events.data import Answered, Data

Absence = Literal["not applicable", "missing"]
"""Why an item has no number. `not applicable`: there was nothing to judge, and the item allows for
that; `missing`: no valid answer came.
"""


class ItemAnswer(Data):
    """The answer to one item: a number, not applicable, or missing."""

    id: str
    value: float | None
    """As given (not reversed); None when there is none."""
    reason: str | None = None
    """Why there is no value; None when there is one."""
    quote: str | None = None
    """The words that prove it, where an audit wants them."""
    absence: Absence | None = None
    """None where there is a number, and in logs that were written before this was told apart;
    read it as `absent`.
    """

    @property
    def absent(self) -> Absence | None:
        """Which kind of none; None where there is a number. What older logs do not tell is
        missing.
        """
        return None if self.value is not None else self.absence or "missing"

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A number is written as it always was."""
        fields: dict[str, Any] = write(self)
        if self.absence is None:
            fields.pop("absence", None)
        return fields


Made = Literal["complete", "partial", "incomplete", "not applicable"]
"""How a score was made: from all its items; from some of them (prorated, or the
faults that an audit could judge); not, since too few were answered; not, since there was nothing to
judge or to divide by.
"""


class Score(Data):
    """A score made of items."""

    name: str
    """`total`, or a subscale's or ratio's id."""
    value: float | None
    """In the scale's own unit; None when it cannot be made."""
    used: int
    """From how many items it is made."""
    of: int
    """From how many it could be."""
    band: str | None = None
    """The named stretch in which it lies."""
    flags: tuple[str, ...] = ()
    """What it, or for the first score an item, calls for."""
    reason: str | None = None
    """Why there is no value, or which items it lacks; None when it is made from all."""
    not_applicable: int = 0
    """How many of the items that it lacks were not applicable; 0 in older logs."""

    @property
    def missing(self) -> int:
        """How many of the items that it lacks have no valid answer."""
        return self.of - self.used - self.not_applicable

    @property
    def made(self) -> Made:
        """How it was made, also told of older logs."""
        if self.value is not None:
            return "complete" if self.used == self.of else "partial"
        return "not applicable" if self.used + self.not_applicable == self.of else "incomplete"

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A score to which all items apply is written as it always was."""
        fields: dict[str, Any] = write(self)
        if not self.not_applicable:
            fields.pop("not_applicable", None)
        return fields


class Measured(Answered):
    """Somebody was measured."""

    kind: Literal["measured"] = "measured"
    who: str
    """About whom; the client, where a conversation is judged."""
    instrument: str
    """The scale's id."""
    version: str
    """The scale's version."""
    point: str
    """When, in the words of the plan: 'baseline', 'after session 1', 'end'."""
    respondent: Literal["self", "observer", "talk"]
    """`self` is a self-report, simulated unless `source` says otherwise, `observer` a judge's
    rating, `talk` counted from the lines.
    """
    items: tuple[ItemAnswer, ...]
    scores: tuple[Score, ...]
    chats: tuple[str, ...] = ()
    """The conversations it is about; () for a self-report."""
    source: Literal["human"] | None = None
    """`human`: it was asked of the person who sat in the seat, and items without an answer are
    missing; None: a model answered, or nobody was asked.
    """

    @property
    def answered_by(self) -> Literal["self", "human", "observer", "talk"]:
        """The respondent, where a self-report that a person gave is told from a simulated one."""
        return self.source or self.respondent

    @model_serializer(mode="wrap")
    def _short(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """What no person answered is written as it always was."""
        fields: dict[str, Any] = write(self)
        if self.source is None:
            fields.pop("source", None)
        return fields
