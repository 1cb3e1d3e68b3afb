"""What can be measured of somebody."""

from typing import Literal

from simcounsel.events.data import Answered, Data


class ItemAnswer(Data):
    """The answer to one item."""

    id: str
    value: float | None
    """As given (not reversed); None when there is none."""
    reason: str | None = None
    """Why there is no value; None when there is one."""
    quote: str | None = None
    """The words that prove it, where an audit wants them."""


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
    """Why there is no value; None when there is one."""


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
    """`self` is a simulated self-report, `observer` a judge's rating, `talk` counted from the
    lines.
    """
    items: tuple[ItemAnswer, ...]
    scores: tuple[Score, ...]
    chats: tuple[str, ...] = ()
    """The conversations it is about; () for a self-report."""
