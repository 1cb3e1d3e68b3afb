"""What was asked of models and what it cost, as recorded calls say it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

BY_HAND = "byhand:"
"""How the name of a model begins whose answers somebody writes."""


def is_by_hand(model: str) -> bool:
    """Whether somebody writes the answers of the model of that name."""
    return model.startswith(BY_HAND)


def cost_text(cost_usd: float | None, by_hand: int) -> str:
    """A cost in words: unknown is not zero, and what somebody answers has no price. by_hand: how
    many calls were answered so.
    """
    if cost_usd is None:
        return "price unknown"
    return f"{cost_usd:.4f} USD" if cost_usd or not by_hand else "no price: answered by hand"


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What a run asked of models itself."""

    calls: int
    """Questions that were answered, or whose fallback was taken; vectors are no calls."""
    requests: int
    """What was sent: second tries, retries, vectors and what was given up too."""
    tokens: int
    """Both ways."""
    cost_usd: float | None
    """None when a price is unknown."""
    by_hand: int
    """Calls that somebody answered, with `byhand:`; they have no price."""
    taken_over: int
    """Calls of a fork's parent, which it was not asked again; they cost it nothing."""

    @classmethod
    def of(cls, calls: Iterable[Mapping[str, Any]]) -> "Spending":
        """Of recorded calls. Vectors of versions that did not count them cost nothing here."""
        answered = requests = tokens = taken_over = by_hand = 0
        cost: float | None = 0.0
        for call in calls:
            embeds = call.get("verb") == "embed"
            if call.get("copied"):
                taken_over += not embeds and not call.get("spare")
                continue
            answered += not embeds and not call.get("given_up")
            requests += call.get("tries") or 0
            tokens += (call.get("tokens_in") or 0) + (call.get("tokens_out") or 0)
            written = is_by_hand(str(call.get("model", "")))
            by_hand += written
            own = 0.0 if written else call.get("cost_usd", 0.0 if embeds else None)
            cost = None if own is None or cost is None else cost + own
        return cls(
            calls=answered,
            requests=requests,
            tokens=tokens,
            cost_usd=cost,
            by_hand=by_hand,
            taken_over=taken_over,
        )

    def line(self) -> str:
        """In a line."""
        paid = self.cost_usd is None or self.cost_usd or self.tokens or self.by_hand
        if self.calls and not paid and not self.taken_over and self.requests <= self.calls:
            return f"model calls    {self.calls}, answered on this machine for free"
        cost = cost_text(self.cost_usd, self.by_hand)
        cost += " (see --prices)" if self.cost_usd is None else ""
        parent = f"; {self.taken_over} more of its parent's" if self.taken_over else ""
        sent = f" ({self.requests} requests)" if self.requests != self.calls else ""
        return f"model calls    {self.calls}{sent}, {self.tokens} tokens, {cost}{parent}"
