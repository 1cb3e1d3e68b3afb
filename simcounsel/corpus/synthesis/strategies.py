"""What the supporter has learned: a list that grows from wave to wave, without saying the same
twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simcounsel.events import (
    Entry,
    StrategyDropped,
    StrategyKnown,
    StrategyLearned,
    StrategyRestored,
)

NEAR = 0.8
"""From this cosine on two strategies are the same advice. all-MiniLM-L6-v2 gives paraphrases 0.75
to 0.95 and unrelated advice about talks 0.2 to 0.6.
"""
CARRIED = 24
"""How many a supporter carries at the most: those learned, or found again, last. A prompt that only
grows would be read by nobody.
"""


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """Advice that a supporter may carry."""

    id: str
    """`K001`."""
    text: str
    wave: int | None
    """In which it was learned; None: given from the beginning."""
    last: int
    """The wave in which it was last found."""
    session: str
    """Whose suggestions it was made of; '' when it was given from the beginning."""
    found: int = 1
    """How often."""
    dropped: bool = False
    """Whether the settings say that it is no longer carried."""


class Strategies:
    """The list as a fold over events."""

    def __init__(self) -> None:
        self._known: dict[str, Strategy] = {}

    def observe(self, entry: Entry) -> None:
        """Take in an event."""
        match entry.event:
            case StrategyLearned(id=id, text=text, session=session):
                self._known[id] = Strategy(
                    id=id,
                    text=text,
                    wave=entry.tick if session else None,
                    last=entry.tick,
                    session=session,
                )
            case StrategyKnown(id=id):
                known = self._known[id]
                self._known[id] = replace(known, last=entry.tick, found=known.found + 1)
            case StrategyDropped(id=id):
                self._known[id] = replace(self._known[id], dropped=True)
            case StrategyRestored(id=id):
                self._known[id] = replace(self._known[id], dropped=False)

    def all(self) -> tuple[Strategy, ...]:
        """Every strategy that was ever learned, in order."""
        return tuple(self._known.values())

    def carried(self) -> tuple[Strategy, ...]:
        """Those that a supporter carries now, in the order of their ids."""
        alive = sorted(
            (s for s in self._known.values() if not s.dropped),
            key=lambda s: (-s.last, -s.found, s.id),
        )
        return tuple(sorted(alive[:CARRIED], key=lambda s: s.id))

    def next_id(self) -> str:
        """Of the next one to be learned."""
        return f"K{len(self._known) + 1:03d}"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A strategy as the manager words it."""

    session: str
    """The session that it comes from."""
    text: str
    advice: tuple[str, ...]
    """What the evaluator asked for in that session."""
    call: str
    """The key of the manager's call."""


def sorted_in(
    known: Strategies, proposals: Sequence[Proposal], vectors: "dict[str, np.ndarray]", call: str
) -> Iterable[StrategyLearned | StrategyKnown]:
    """One event for each proposal, in their order: new, or near one that is there, which may have
    come just before.

    A strategy that was dropped counts as there: who removed it does not want it back in other
    words. vectors: unit vectors of all texts; call: the key of the call that they came from.
    """
    there = [(strategy.id, strategy.text) for strategy in known.all()]
    number = len(there)
    for proposal in proposals:
        cosines = [float(vectors[text] @ vectors[proposal.text]) for _, text in there]
        best = int(np.argmax(cosines)) if cosines else -1
        if cosines and cosines[best] >= NEAR:
            yield StrategyKnown(
                id=there[best][0],
                text=proposal.text,
                session=proposal.session,
                cosine=round(cosines[best], 3),
                calls=(proposal.call, call),
            )
            continue
        number += 1
        there.append((f"K{number:03d}", proposal.text))
        yield StrategyLearned(
            id=f"K{number:03d}",
            text=proposal.text,
            session=proposal.session,
            advice=proposal.advice,
            calls=(proposal.call, call),
        )
