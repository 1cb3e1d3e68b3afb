"""What is expected of a run's models, from few requests to many.

A share is what one model role takes: `reason`, `quick`, `reason:Ines` where she has her own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from simcounsel.llm.prices import Prices

BYTES_A_TOKEN = (5.0, 3.0)
"""UTF-8 bytes for a token, few tokens and many: English has four to five, Chinese three."""
REPLY_TOKENS = (40.0, 90.0)
"""Of an answer, most of which are short JSON."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one model role takes."""

    requests: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        return Share(
            requests=self.requests + other.requests,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
        )

    def times(self, factor: float) -> "Share":
        """So often."""
        return Share(
            requests=self.requests * factor,
            tokens_in=self.tokens_in * factor,
            tokens_out=self.tokens_out * factor,
        )


Shares = Mapping[str, Share]


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """From `low` to `high`, by role."""

    low: Shares
    high: Shares
    basis: str
    """What it rests on, in words."""
    resident_days: float = 0.0
    """That are lived through; 0 where only appointments are run, or nobody lives."""

    def total(self) -> tuple[Share, Share]:
        """Of all roles."""
        return _sum(self.low.values()), _sum(self.high.values())

    def cost_usd(self, models: Mapping[str, str], prices: Prices) -> tuple[float, float] | None:
        """None when a price is unknown."""
        low, high = (
            [
                prices.cost_usd(_model(models, role), round(one.tokens_in), round(one.tokens_out))
                for role, one in shares.items()
            ]
            for shares in (self.low, self.high)
        )
        known = [[cost for cost in costs if cost is not None] for costs in (low, high)]
        if None in low or None in high:
            return None
        return sum(known[0]), sum(known[1])

    def lines(self, models: Mapping[str, str], prices: Prices) -> Iterator[str]:
        """In words."""
        yield from forecast_lines(*self.total(), self.cost_usd(models, prices), self.basis)


def forecast_lines(
    low: Share, high: Share, cost_usd: tuple[float, float] | None, basis: str
) -> Iterator[str]:
    """What is expected, and why. cost_usd: None when a price is unknown."""
    yield f"requests     {_range(low.requests, high.requests)}"
    yield (
        f"tokens       {_range(low.tokens_in, high.tokens_in)} in,"
        f" {_range(low.tokens_out, high.tokens_out)} out"
    )
    yield "cost         " + (
        "price unknown; give it with --prices"
        if cost_usd is None
        else f"{cost_usd[0]:.2f} to {cost_usd[1]:.2f} USD"
        if cost_usd[1]
        else "0 USD"
    )
    yield f"counted      {basis}"


def _model(models: Mapping[str, str], role: str) -> str:
    """Of a role; `judge` and the like are the world's where nobody has one of their own."""
    return models.get(role) or models[role.split(":")[0]]


def _sum(shares: Iterable[Share]) -> Share:
    return sum(shares, Share())


def _range(low: float, high: float) -> str:
    return f"{_rounded(low)} to {_rounded(high)}"


def _rounded(count: float) -> str:
    """Two digits are all that it is worth."""
    return f"{float(f'{count:.2g}'):,.0f}"
