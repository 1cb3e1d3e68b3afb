"""What has been asked and what it cost: of one question, and of a run so far."""

from collections.abc import Mapping
from dataclasses import dataclass

from simcounsel.llm.models import Completion, Failure
from simcounsel.llm.prices import Prices


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What has been asked so far."""

    calls: int = 0
    replayed: int = 0
    """Answered out of a recording."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None when a price is unknown."""
    fallbacks: int = 0
    second_tries: int = 0
    retries: int = 0
    """Of the transport."""
    chosen: int = 0
    generated: int = 0
    peak_in_flight: int = 0
    prompt_characters: int = 0

    def plus(self, spent: "Spent", source: str, characters: int) -> "Usage":
        """With one more call."""
        cost = spent.cost_usd
        unknown = cost is None or self.cost_usd is None
        return Usage(
            calls=self.calls + 1,
            replayed=self.replayed,
            tokens_in=self.tokens_in + spent.tokens_in,
            tokens_out=self.tokens_out + spent.tokens_out,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (cost or 0.0),
            fallbacks=self.fallbacks + (source == "fallback"),
            second_tries=self.second_tries + (spent.complaint is not None),
            retries=self.retries + max(0, spent.tries - spent.asked),
            chosen=self.chosen + (source == "chosen"),
            generated=self.generated + (source == "generated"),
            peak_in_flight=self.peak_in_flight,
            prompt_characters=self.prompt_characters + characters,
        )


class Spent:
    """What one question took."""

    def __init__(self, model: str, prices: Prices) -> None:
        self.model = model
        self.tokens_in = self.tokens_out = 0
        self.tries = 0
        """How often it was sent, the transport's own retries included."""
        self.asked = 0
        """Once or twice."""
        self.complaint: str | None = None
        """What was wrong with the first answer."""
        self.problem: str | None = None
        """What was wrong at last."""
        self.completion: Completion | None = None
        """The last answer."""
        self.parameters: Mapping[str, object] | None = None
        """What was sent at the last try beside the messages; None where that is not known."""
        self.left_out: tuple[str, ...] = ()
        """What was meant to be sent at the last try and was not taken."""
        self._prices = prices
        self._untold = False

    def add(self, completion: Completion) -> None:
        """Count an answer."""
        self.completion = completion
        self.sent(completion)
        self._untold |= completion.tokens_in is None or completion.tokens_out is None
        self.tokens_in += completion.tokens_in or 0
        self.tokens_out += completion.tokens_out or 0
        self.tries += completion.tries

    def sent(self, last: Completion | Failure) -> None:
        """Keep what the last try was sent with."""
        self.parameters, self.left_out = last.parameters, last.left_out

    @property
    def cost_usd(self) -> float | None:
        """None when the model's price is unknown, or it costs and did not tell its tokens."""
        return self._prices.cost_usd(
            self.model, None if self._untold else self.tokens_in, self.tokens_out
        )
