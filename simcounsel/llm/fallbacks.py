"""When too many of the answers to what is asked were unusable to go on asking."""

from typing import Any

from simcounsel.errors import TooManyFallbacks
from simcounsel.llm.question import Reply
from simcounsel.specs.world_settings import FallbackLimits

REMEDY = "--fallbacks 1 never stops"


class FallbackShare:
    """Counts answers as they come, those out of a recording too. For what is asked all at once, as
    in a rating; a run is judged tick by tick (`engine.fallbacks`).
    """

    def __init__(self, limits: FallbackLimits) -> None:
        self._limits = limits
        self.asked = self.fallbacks = 0

    def count(self, reply: Reply[Any]) -> None:
        """One more answer. TooManyFallbacks once their share is above the limit."""
        self.asked += 1
        self.fallbacks += reply.source == "fallback"
        most = self._limits.most
        if self.asked > self._limits.over and self.fallbacks > most * self.asked:
            raise TooManyFallbacks(
                f"{self.fallbacks} of {self.asked} answers were unusable, more than the"
                f" {most:g} that are allowed (the last: {reply.problem}); {REMEDY}"
            )
