"""What may come to mind at a moment, whatever its score: the gate before the scores of `recall`.

More is available in memory than can be reached from a given cue (Tulving and Pearlstone 1966). Out
of reach is a day's plan (what happens of it is remembered as such), what was just said (it stands
in the prompt), a conclusion that a later one replaced, and
what a client brought along and does not fit; what came to mind a line ago
stands back (a response that is repeated wanes: habituation, Thompson and Spencer 1966).
`MemorySettings` can switch off each.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from simcounsel.events import Memory
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.world_settings import MemorySettings


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What is under way while somebody recalls."""

    chat: str | None = None
    """The conversation, whose lines are in the prompt already; None outside of one."""
    lately: tuple[frozenset[str], ...] = ()
    """The ids that came to mind before each of one's own lines in it, oldest first."""
    emotion: Emotion | None = None
    """What is felt in it by now; None: as before it."""


NOWHERE = Moment()


class Access:
    """What of a store's memories counts for the gate, by their rows, oldest first."""

    def __init__(self) -> None:
        self._at: dict[str, int] = {}
        self._initial: list[int] = []
        self._chats: dict[str, list[int]] = {}
        self._plans: list[int] = []
        self._replaced: list[int] = []

    def replace(self, memory_id: str) -> None:
        """A later conclusion has taken the place of this one."""
        self._replaced.append(self._at[memory_id])

    def add(self, memory: Memory) -> None:
        """The next row."""
        row = self._at[memory.id] = len(self._at)
        if memory.origin == "initial":
            self._initial.append(row)
        if memory.chat is not None:
            self._chats.setdefault(memory.chat, []).append(row)
        if memory.type == "day_plan":
            self._plans.append(row)

    def rows(
        self, relevance: np.ndarray, settings: MemorySettings, moment: Moment, first: int
    ) -> np.ndarray:
        """What may come to mind of the rows from `first` on, counted from there. relevance: to the
        query, of each of them.
        """
        found = np.ones(len(relevance), dtype=bool)
        if settings.only_lived:
            found[_from(first, self._plans)] = False
        if settings.conclusions_replace:
            found[_from(first, self._replaced)] = False
        if moment.chat is not None:
            found[_from(first, self._chats.get(moment.chat, ()))] = False
        if settings.initial_most is not None:
            brought = _from(first, self._initial)
            nearest = brought[np.argsort(-relevance[brought], kind="stable")]
            found[nearest[settings.initial_most :]] = False
        return np.flatnonzero(found)

    def stand_back(
        self,
        rows: np.ndarray,
        relevance: np.ndarray,
        settings: MemorySettings,
        moment: Moment,
        first: int,
    ) -> np.ndarray:
        """Whether each of these rows, counted from `first`, came to mind just before. The nearest
        of them to the query does not stand back for that.
        """
        found = np.zeros(len(relevance), dtype=bool)
        if settings.habituation_lines and len(rows):
            ids = frozenset[str]().union(*moment.lately[-settings.habituation_lines :])
            found[_from(first, (self._at[one] for one in ids if one in self._at))] = True
            found[rows[np.argmax(relevance[rows])]] = False
        chosen: np.ndarray = found[rows]
        return chosen


def _from(first: int, rows: Iterable[int]) -> np.ndarray:
    """These rows, counted from `first`, without those before it."""
    counted = np.fromiter(rows, dtype=np.int64) - first
    return counted[counted >= 0]
