"""What a synthesis' supporter carries from wave to wave: a fold over events."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from simcounsel.events import (
    Entry,
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    StrategyRestored,
)
from simcounsel.runs.conversation import Dated, dated

KINDS = ("strategy_learned", "strategy_known", "strategy_dropped", "strategy_restored")
"""Kinds of events that it is made of."""


@dataclass(kw_only=True)
class LearnedStrategy:
    """A strategy and what became of it."""

    id: str
    text: str
    session: str
    """From whose suggestions it was made; '' when it was given from the beginning."""
    wave: int
    """That made it."""
    advice: tuple[str, ...]
    found: list[Dated[StrategyKnown]] = field(default_factory=list)
    """Where it was found again."""
    dropped: int | None = None
    """The wave from which it is no longer carried; None while it is."""


def strategies_in(entries: Iterable[Entry]) -> dict[str, LearnedStrategy]:
    """All strategies of a synthesis by id, in the order in which they came."""
    known: dict[str, LearnedStrategy] = {}
    for entry in entries:
        match entry.event:
            case StrategyLearned() as new:
                known[new.id] = LearnedStrategy(
                    id=new.id,
                    text=new.text,
                    session=new.session,
                    wave=entry.tick,
                    advice=new.advice,
                )
            case StrategyKnown() as again if again.id in known:
                known[again.id].found.append(dated(entry, again))
            case StrategyDropped(id=id) if id in known:
                known[id].dropped = entry.tick
            case StrategyRestored(id=id) if id in known:
                known[id].dropped = None
    return known
