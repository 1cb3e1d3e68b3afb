"""A questionnaire as a human in a seat gets it: all its items at once, with what the answers mean.

A run asks for it block by block. The first block puts the whole form up; the blocks that follow are
answered out of the same form.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from simcounsel.agents.facts import SelfReportFacts
from simcounsel.instruments.wording import worded
from simcounsel.specs.items import Item, Range
from simcounsel.specs.scale import Scale

MOST_CHOICES = 12
"""Answers that are shown side by side; of more, such as 0 to 100, a number is written."""
Given = Mapping[str, float | None]
"""Answers by item id; None: preferred not to answer."""


@dataclass(frozen=True, kw_only=True)
class FormLine:
    """An item on the page."""

    id: str
    text: str
    low: float
    high: float
    step: float
    labels: Mapping[float, str] = field(default_factory=dict)
    """What some of the answers are called."""

    @property
    def choices(self) -> tuple[tuple[float, str], ...]:
        """Each answer with what it is called; () where a number is to be written."""
        count = round((self.high - self.low) / self.step) + 1
        values = (round(self.low + at * self.step, 6) for at in range(count))
        return tuple((one, self.labels.get(one, "")) for one in values if count <= MOST_CHOICES)

    def allows(self, value: object) -> bool:
        """Whether it is an answer to the item, or None."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value is None
        allowed = Range(min=self.low, max=self.high, step=self.step)
        return self.low <= value <= self.high and allowed.allows(value)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A questionnaire that waits for a human's answers."""

    number: int
    """Counts with the turns of this run."""
    who: str
    """For whom they answer."""
    instrument: str
    instruction: str
    lines: tuple[FormLine, ...]
    seconds: float | None
    """The time for it at first; None: there is no limit."""
    deadline: float | None
    """By time.monotonic(); None: there is no limit."""
    prolonged: int = 0
    """How often time was added."""

    @property
    def seconds_left(self) -> float | None:
        """Until it counts as not answered; never below 0. None: it waits."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def wrong(self, given: Mapping[str, object]) -> str | None:
        """What is wrong with answers to it; None when nothing is."""
        for line in self.lines:
            if line.id not in given:
                return f"no answer to {line.text!r}; choose one, or “prefer not to answer”"
            if not line.allows(given[line.id]):
                return f"{str(given[line.id])[:40]!r} is no answer to {line.text!r}"
        return None


PutUp = Callable[[str, str, tuple[FormLine, ...]], Awaitable[Given | None]]
"""Shows the items of an instrument below its instruction and waits for the answers; None: the time
is up.
"""


class Forms:
    """The questionnaires of a run as one human answers them, one after the other."""

    def __init__(self, scales: Mapping[str, Scale], language: str) -> None:
        """scales: those that the run measures with, by id."""
        self._scales = scales
        self._language = language
        self._asked: dict[str, asyncio.Task[Given | None]] = {}
        self._rest: dict[str, tuple[frozenset[str], Given | None]] = {}
        self._one_by_one = asyncio.Lock()

    async def answers(self, key: str, facts: SelfReportFacts, put_up: PutUp) -> Given | None:
        """The answers to a block; None when the time was up. key: of its question: what is asked
        twice at one moment is shown once.
        """
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(self._answered(facts, put_up))
        return await self._asked[key]

    async def _answered(self, facts: SelfReportFacts, put_up: PutUp) -> Given | None:
        ids = [item.id for item in facts.items]
        left, given = self._rest.pop(facts.instrument, (frozenset(), None))
        if not left.issuperset(ids):
            instruction, lines = self._sheet(facts)
            async with self._one_by_one:
                given = await put_up(facts.instrument, instruction, lines)
            left = frozenset(line.id for line in lines)
        if left := left.difference(ids):
            self._rest[facts.instrument] = left, given
        return None if given is None else {name: given[name] for name in ids}

    def _sheet(self, facts: SelfReportFacts) -> tuple[str, tuple[FormLine, ...]]:
        """The instruction and the items from this block's first to the scale's last, in the run's
        language. Of a questionnaire that the run does not know, what its question says.
        """
        scale = self._scales.get(facts.instrument)
        if scale is None:
            return "", tuple(
                FormLine(id=one.id, text=one.text, low=one.low, high=one.high, step=one.step)
                for one in facts.items
            )
        said = worded(scale, self._language)
        items = [item for block in said.blocks() for item in block]
        first = next(at for at, item in enumerate(items) if item.id == facts.items[0].id)
        return said.instruction, tuple(_line(said, item) for item in items[first:])


def _line(scale: Scale, item: Item) -> FormLine:
    allowed = scale.range_of(item)
    return FormLine(
        id=item.id,
        text=item.text,
        low=allowed.min,
        high=allowed.max,
        step=allowed.step,
        labels={float(at): word for at, word in scale.labels.items() if item.range is None},
    )
