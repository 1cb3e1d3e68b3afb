"""A memory of which something does not come to mind. It is laid down as ever, and is in the log."""

from collections.abc import Sequence

import numpy as np

from simcounsel.agents.accessibility import NOWHERE, Moment
from simcounsel.agents.memory import MemoryOf
from simcounsel.chance import chance
from simcounsel.events import Hit, Memory
from simcounsel.specs.vocabulary import Emotion
from simcounsel.specs.world_settings import MemorySettings


class CutMemory(MemoryOf):
    """The same memories as `inner`, of which what is cut does not come to mind.

    mode: `memory` (nothing from `since` on), `recall` (nothing), `scramble` (as many others, drawn
    by chance) or None (as ever). since: in minutes since day 0. withheld: how many did not come to
    mind that would have, since it was set to 0.
    """

    def __init__(self, inner: MemoryOf) -> None:
        self.__dict__ = inner.__dict__  # one memory, seen through two classes
        self.mode: str | None = None
        self.since = 0
        self.withheld = 0

    def recall(
        self,
        query: np.ndarray,
        emotion: Emotion,
        minute: int,
        moment: Moment = NOWHERE,
        settings: MemorySettings | None = None,
    ) -> tuple[Hit, ...]:
        """As MemoryOf, less what is cut."""
        how = settings or self.settings
        found = super().recall(query, emotion, minute, moment, how)
        if self.mode is None or not found:
            return found
        if self.mode == "recall":
            self.withheld += len(found)
            return ()
        every = super().recall(
            query, emotion, minute, moment, how.model_copy(update={"top_k": len(self)})
        )
        left = [hit for hit in every if self.mode == "scramble" or self._old(hit.id)]
        short, long = (
            self._taken([hit for hit in left if (hit.id in self.long) is long], how.top_k, minute)
            for long in (False, True)
        )
        kept = {hit.id for hit in (*short, *long)}
        self.withheld += sum(hit.id not in kept for hit in found)
        return (*short, *long)

    def latest_thoughts(self, count: int) -> tuple[Memory, ...]:
        """As MemoryOf, less what is cut."""
        if self.mode == "memory":
            every = super().latest_thoughts(len(self))
            return tuple(one for one in every if self._old(one.id))[-count:]
        return () if self.mode == "recall" else super().latest_thoughts(count)

    def reflection_due(self) -> str | None:
        """Nothing: who remembers nothing has nothing to reflect on."""
        return None if self.mode in ("memory", "recall") else super().reflection_due()

    def _taken(self, some: Sequence[Hit], count: int, minute: int) -> tuple[Hit, ...]:
        """The best so many, or where it is scrambled so many by chance, best first."""
        if self.mode != "scramble" or len(some) <= count:
            return tuple(some[:count])
        drawn = chance("scramble", self.who, minute, len(self)).sample(range(len(some)), count)
        return tuple(some[at] for at in sorted(drawn))

    def _old(self, memory_id: str) -> bool:
        """Whether it was laid down before the cut, or brought along."""
        made = self.when(memory_id)
        return made is None or made < self.since
