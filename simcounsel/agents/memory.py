"""A resident's memory: a short-term and a long-term store, filled only by observed events."""

from collections.abc import Mapping
from itertools import islice

import numpy as np

from simcounsel.agents.accessibility import NOWHERE, Moment
from simcounsel.agents.recall import Store
from simcounsel.events import Hit, Memory, Recalled, Remembered
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.world_settings import MemorySettings

NEAR, THE_SAME = 0.6, 0.9
"""Cosines from which on a conclusion replaces one that it cites, and any other."""


class MemoryOf:
    """Everything one resident remembers.

    vectors: the unit vector of each text that is being laid down.
    new_memories, new_poignancy: what has come since the last reflection.
    """

    def __init__(
        self, who: str, settings: MemorySettings, vectors: Mapping[str, np.ndarray]
    ) -> None:
        self.who = who
        self.settings = settings
        self.short = Store()
        self.long = Store()
        self.new_memories = 0
        self.new_poignancy = 0
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self.short) + len(self.long)

    def next_id(self, ahead: int = 0) -> str:
        """The id of the memory that comes next, or `ahead` further on."""
        return f"{self.who}:{len(self) + ahead}"

    def observe_remembered(self, event: Remembered, minute: int) -> None:
        """Lay the memory down."""
        memory = event.memory
        if memory.origin == "insight":
            self._replace(memory)
        age = round(self.settings.initial_age_hours * 60) if memory.origin == "initial" else 0
        (self.long if memory.long_term else self.short).add(
            memory, self._vectors[memory.text], minute, minute - age
        )
        if memory.origin not in ("initial", "plan", "insight"):
            self.new_memories += 1
            self.new_poignancy += memory.poignancy or 0

    def _replace(self, newer: Memory) -> None:
        """An insight takes the place of earlier ones: of those it cites if it says something near
        to them, of all others if it says nearly the same.
        """
        vector = self._vectors[newer.text]
        for older in self.long.memories:
            if older.origin == "insight":
                near = float(np.dot(self.long.vector(older.id), vector))
                if near >= (NEAR if older.id in newer.evidence else THE_SAME):
                    self.long.access.replace(older.id)

    def observe_recalled(self, event: Recalled, minute: int) -> None:
        """What was recalled is fresh again."""
        for hit in event.hits:
            (self.long if hit.id in self.long else self.short).touch(hit.id, minute)

    def observe_reflected(self) -> None:
        """Begin to count again."""
        self.new_memories = self.new_poignancy = 0

    def recall(
        self,
        query: np.ndarray,
        emotion: Emotion,
        minute: int,
        moment: Moment = NOWHERE,
        settings: MemorySettings | None = None,
    ) -> tuple[Hit, ...]:
        """The best `top_k` of each store, short-term first. settings: in place of its own."""
        how = settings or self.settings
        oldest = minute - int(how.short_term_hours * 60)
        return (
            *self.short.recall(query, emotion, minute, how, oldest=oldest, moment=moment),
            *self.long.recall(query, emotion, minute, how, moment=moment),
        )

    def latest_thoughts(self, count: int) -> tuple[Memory, ...]:
        """The last so many thoughts about experiences, oldest first: what a client brought along is
        none.
        """
        lived = (m for m in reversed(self.long.memories) if m.origin != "initial")
        return tuple(islice(lived, count))[::-1]

    def get(self, memory_id: str) -> Memory:
        """The memory of that id; KeyError when there is none."""
        return (self.long if memory_id in self.long else self.short).get(memory_id)

    def when(self, memory_id: str) -> int | None:
        """When it was laid down, in minutes since day 0; None for what was brought along. KeyError
        when there is none.
        """
        if self.get(memory_id).origin == "initial":
            return None
        return (self.long if memory_id in self.long else self.short).made(memory_id)

    def texts(self, hits: tuple[Hit, ...]) -> tuple[str, ...]:
        """What the recalled memories say, best first, each once."""
        return tuple(
            dict.fromkeys(self.get(hit.id).text for hit in sorted(hits, key=lambda h: -h.score))
        )

    def reflection_due(self) -> str | None:
        """What calls for a reflection; None when nothing does."""
        if self.new_poignancy >= self.settings.reflect_after_poignancy:
            return f"poignancy of new memories reached {self.new_poignancy}"
        if self.new_memories >= self.settings.reflect_after_memories:
            return f"{self.new_memories} new memories"
        return None
