"""The answers to a scale's items, put together over blocks and samples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simcounsel.events import Absence, ItemAnswer
from simcounsel.instruments.forms import ItemRead, absent, of_person, read_block
from simcounsel.llm.question import SILENT, Ask, Reply
from simcounsel.prompts import render
from simcounsel.prompts.twins import complained
from simcounsel.specs.items import Item
from simcounsel.specs.scale import Scale

SAMPLING = 0.7
"""Temperature when several samples are averaged; a single one is the likeliest answer."""
DECIMALS = 4
AskBlock = Callable[[tuple[Item, ...], str], Ask[Reply[Any]]]
"""Items, and what was wrong with the first answers ('': nothing yet)."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What measuring once came to."""

    items: tuple[ItemAnswer, ...]
    """An answer to each item, in the scale's order."""
    replies: tuple[Reply[Any], ...] = ()
    """The replies that they came from."""
    by_person: bool = False
    """Whether they are a person's own, so that what a model said was left out."""


@dataclass(kw_only=True)
class _Found:
    """What is known of one item so far."""

    values: list[float] = field(default_factory=list)
    """The usable answers."""
    reason: str = "not asked"
    """Why the last unusable one was none."""
    absence: Absence = "missing"
    """Which kind of none it was."""


class Collected:
    """Answers by item over all samples."""

    def __init__(self, scale: Scale) -> None:
        self.scale = scale
        self.replies: list[Reply[Any]] = []
        self.by_person = False
        self._found = {item.id: _Found() for item in scale.items}

    def take(self, read: Mapping[str, ItemRead], flipped: bool = False) -> None:
        """Add a number to each item, or note why there is none. flipped: the later of two texts
        was first, so that the number counts from the other end.
        """
        by_id = {item.id: item for item in self.scale.items}
        for name, one in read.items():
            allowed = self.scale.range_of(by_id[name])
            if one.value is None:
                self._found[name].reason = one.reason
                self._found[name].absence = one.absence
            else:
                self._found[name].values.append(
                    allowed.min + allowed.max - one.value if flipped else one.value
                )

    def answers(self) -> Answers:
        """The mean of each item's usable answers; None with a reason where there is none."""
        items = tuple(
            (
                ItemAnswer(id=name, value=round(sum(one.values) / len(one.values), DECIMALS))
                if one.values
                else ItemAnswer(id=name, value=None, reason=one.reason, absence=one.absence)
            )
            for name, one in self._found.items()
        )
        return Answers(items=items, replies=tuple(self.replies), by_person=self.by_person)

    def ask_in_blocks(
        self, ask_block: AskBlock, flipped: bool = False, language: str = "en", seated: bool = False
    ) -> Ask[None]:
        """Each block once, and what could not be used of it a second time. Of a person who answers
        for themselves nothing is asked twice, and no model answers what they did not. seated: such
        a person is known.
        """
        by_model: dict[str, ItemRead] = {}
        by_person: dict[str, ItemRead] = {}
        for items in self.scale.blocks():
            reply = yield from ask_block(items, "")
            self.replies.append(reply)
            read = read_block(self.scale, items, reply.value, reply.problem)
            if reply.source == "human":
                by_person |= of_person(read, reply.notes.get(SILENT))
                continue
            wrong = tuple(item for item in items if read[item.id].mendable)
            if wrong and not seated:
                reasons = {item.id: read[item.id].reason for item in wrong}
                reply = yield from ask_block(wrong, wrong_again(reasons, language))
                self.replies.append(reply)
                read |= read_block(self.scale, wrong, reply.value, reply.problem)
            by_model |= read
        self.by_person = seated or bool(by_person)
        self.take((absent(by_model) if self.by_person else by_model) | by_person, flipped)


def wrong_again(reasons: Mapping[str, str], language: str) -> str:
    """What is said of answers that cannot be used, when they are asked for again: why, by item."""
    listed = "; ".join(f"{name} ({complained(why, language)})" for name, why in reasons.items())
    return render("judge_again", language, wrong=listed)[1]


def of_a_retest(number: int) -> float | None:
    """The temperature at which the rating with this number is asked, 0 the first: that of samples
    from the second on. At 0 a retest would cost the same again and tell next to nothing.
    """
    return SAMPLING if number else None


def temperature_of(samples: int) -> float:
    """At which a block is asked when this many samples are averaged."""
    return SAMPLING if samples > 1 else 0.0
