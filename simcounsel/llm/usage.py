"""What has been asked and what it cost: of one question, and of a run so far."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol

from simcounsel.llm import tracing
from simcounsel.llm.budget import Budget, most_tokens_in
from simcounsel.llm.chat import Complaint
from simcounsel.llm.ledger import Amount
from simcounsel.llm.models import Completion, Failure, token_count
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Question
from simcounsel.runs.spending import BY_HAND, cost_text


class Meter(Protocol):
    """Counts the requests of one question."""

    async def sends(self, tokens_out: int) -> None:
        """A request is about to be sent; at most so many tokens come back. BudgetSpent when it must
        not be.
        """
        ...

    def billed(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """It was answered; None: the server does not tell."""
        ...

    def refused(self) -> None:
        """It was answered with a no, which costs nothing."""
        ...

    def unsent(self) -> None:
        """No connection was had; nothing was sent."""
        ...

    def lost(self) -> None:
        """It was sent and no answer came; it may be billed."""
        ...


class _Nobody:
    """Counts nothing, where a model is asked outside of a Switchboard."""

    async def sends(self, tokens_out: int) -> None: ...
    def billed(self, tokens_in: int | None, tokens_out: int | None) -> None: ...
    def refused(self) -> None: ...
    def unsent(self) -> None: ...
    def lost(self) -> None: ...


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


def meter() -> Meter:
    """Who counts what is asked now."""
    return _METER.get() or _Nobody()


@contextmanager
def counting(who: Meter) -> Iterator[None]:
    """Meanwhile requests of this task are counted by `who`."""
    token = _METER.set(who)
    try:
        yield
    finally:
        _METER.reset(token)


log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What has been asked so far."""

    calls: int = 0
    """Questions put to models, those for vectors left out."""
    requests: int = 0
    """Sent for them and for vectors: second tries and the transport's retries too."""
    replayed: int = 0
    """Answered out of a recording."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None when a price is unknown."""
    by_hand: int = 0
    """Calls that somebody answered."""
    fallbacks: int = 0
    second_tries: int = 0
    retries: int = 0
    """Of the transport."""
    chosen: int = 0
    generated: int = 0
    peak_in_flight: int = 0
    prompt_characters: int = 0

    def line(self) -> str:
        """In words."""
        return f"{self.requests} requests, {self.cost}"

    @property
    def cost(self) -> str:
        """What it cost, in words."""
        return cost_text(self.cost_usd, self.by_hand)

    def plus(self, spent: "Spent", source: str, characters: int) -> "Usage":
        """With one more call."""
        cost = spent.cost_usd
        unknown = cost is None or self.cost_usd is None
        return Usage(
            calls=self.calls + 1,
            requests=self.requests + spent.tries,
            replayed=self.replayed,
            tokens_in=self.tokens_in + spent.tokens_in,
            tokens_out=self.tokens_out + spent.tokens_out,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (cost or 0.0),
            by_hand=self.by_hand + spent.model.startswith(BY_HAND),
            fallbacks=self.fallbacks + (source == "fallback"),
            second_tries=self.second_tries + (spent.complaint is not None),
            retries=self.retries + max(0, spent.tries - spent.asked),
            chosen=self.chosen + (source == "chosen"),
            generated=self.generated + (source == "generated"),
            peak_in_flight=self.peak_in_flight,
            prompt_characters=self.prompt_characters + characters,
        )

    def plus_requests(self, spent: "Spent") -> "Usage":
        """With what was sent for a question that was broken off, or for vectors."""
        unknown = spent.cost_usd is None or self.cost_usd is None
        return replace(
            self,
            requests=self.requests + spent.tries,
            tokens_in=self.tokens_in + spent.tokens_in,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (spent.cost_usd or 0.0),
        )


class Spent:
    """What one question took, and its claim on the budget. As a `Meter` it hears of each request.

    The most that a request can take is claimed before it is sent; the claim shrinks to what it took
    and is closed when the question's line is recorded.
    """

    def __init__(
        self, question: Question[Any], model: str, prices: Prices, budget: Budget | None = None
    ) -> None:
        self.model = model
        self.tokens_in = self.tokens_out = 0
        self.tries = 0
        """How often it was sent, the transport's own retries included."""
        self.asked = 0
        """Once or twice."""
        self.complaint: Complaint | None = None
        """What was wrong with the first answer, and the answer."""
        self.problem: str | None = None
        """What was wrong at last."""
        self.completion: Completion | None = None
        """The last answer."""
        self.parameters: Mapping[str, object] | None = None
        """What was sent at the last try beside the messages; None where that is not known."""
        self.left_out: tuple[str, ...] = ()
        """What was meant to be sent at the last try and was not taken."""
        self.most_usd = 0.0
        """What a budget counts: the cost, and the most of what may have been billed unseen."""
        self._question = question
        self._prices = prices
        self._budget = budget or Budget()
        self._ticket: int | None = None
        self._claimed: Amount | None = None
        self._in_flight: int | None = None
        self._metered = False
        self._untold = False
        self._span = tracing.Attempt()

    @asynccontextmanager
    async def attempt(self, tick: int | None = None) -> AsyncIterator[None]:
        """One attempt at an answer. It begins when its request fits into the budget, or not at all:
        BudgetSpent. Meanwhile the model tells of its requests. tick: of the run, for tracing.
        """
        await self._claim(0 if self._question.verb == "embed" else self._question.max_tokens)
        self._metered = False
        try:
            with (
                tracing.attempt(self._question, self.model, tick, self.complaint) as self._span,
                counting(self),
            ):
                yield
        except Failure as failure:
            self._failed(failure.tries)
            raise
        except BaseException:
            self._failed(0 if self._prices.in_process(self.model) else 1)
            raise

    async def sends(self, tokens_out: int) -> None:
        """A request is about to be sent. The first of an attempt has its claim already; where that
        is too small it is given back first, so that nobody holds a part and waits for the rest.
        """
        self._metered = True
        if self._claimed is None or self._most(tokens_out).usd > self._claimed.usd:
            if self._claimed is not None:
                self._settle(Amount())
            await self._claim(tokens_out)
        self._in_flight = tokens_out
        self.tries += 1

    def billed(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """The request in flight was answered; None: the server does not tell."""
        tokens_in, tokens_out = token_count(tokens_in), token_count(tokens_out)
        self._untold |= tokens_in is None or tokens_out is None
        self.tokens_in += tokens_in or 0
        self.tokens_out += tokens_out or 0
        cost = self._prices.cost_usd(self.model, tokens_in, tokens_out)
        if cost is None:
            cost = self._most_usd(self._in_flight)
        elif self._claimed is not None and self._budget.usd is not None:
            self._check_bill(cost, self._claimed.usd)
        self._settle(Amount(calls=1, usd=cost))

    def refused(self) -> None:
        """The request in flight was answered with a no, which costs nothing."""
        self._settle(Amount(calls=1))

    def unsent(self) -> None:
        """No connection was had: there was no request."""
        self.tries -= 1
        self._settle(Amount())

    def lost(self) -> None:
        """No answer came to the request in flight; it may be billed."""
        self._settle(Amount(calls=1, usd=self._most_usd(self._in_flight)))

    def unfit(self, problem: str, answer: str = "") -> None:
        """Nothing of use came, for this reason. A second try is told of the first answer, and what
        it was told stays.
        """
        self.problem = problem
        if self.asked == 1:
            self.complaint = Complaint(problem, answer)

    def answered(self, completion: Completion) -> None:
        """An attempt was answered."""
        self.completion = completion
        self._span.answered(completion)
        self.sent(completion)
        if not self._metered:
            self.tries += completion.tries
            self.billed(completion.tokens_in, completion.tokens_out)

    def embedded(self) -> None:
        """An attempt was answered with vectors. A model that tells nothing of its requests made
        one.
        """
        if not self._metered:
            self.tries += 1
            self.billed(None, 0)

    def done(self) -> None:
        """It is answered or given up, and what it took is recorded."""
        self._budget.close(self._ticket)
        self._ticket = None

    def sent(self, last: Completion | Failure) -> None:
        """Keep what the last try was sent with."""
        self.parameters, self.left_out = last.parameters, last.left_out

    @property
    def cost_usd(self) -> float | None:
        """None when the model's price is unknown, or it costs and did not tell its tokens."""
        return self._prices.cost_usd(
            self.model, None if self._untold else self.tokens_in, self.tokens_out
        )

    def _failed(self, tries: int) -> None:
        """An attempt came to nothing. A model that tells nothing of its requests made so many, and
        any of them may be billed.
        """
        if self._claimed is None:
            return
        if self._metered or not tries:
            self._settle(Amount())
        else:
            self.tries += tries
            self.lost()

    async def _claim(self, tokens_out: int) -> None:
        most = self._most(tokens_out)
        self._ticket = await self._budget.claim(self._ticket, most)
        self._claimed = most

    def _settle(self, real: Amount) -> None:
        self._budget.settle(self._ticket, real)
        self._claimed = self._in_flight = None
        self.most_usd += real.usd

    def _most(self, tokens_out: int) -> Amount:
        """What a budget must have room for before a request is sent."""
        priced = self._budget.usd is not None
        return Amount(calls=1, usd=self._most_usd(tokens_out) if priced else 0.0)

    def _most_usd(self, tokens_out: int | None) -> float:
        """What a request can cost; 0 where the price is unknown, which goes with no budget in
        USD.
        """
        if self._prices.cost_usd(self.model, 1, 1) in (None, 0.0):
            return 0.0
        most_in = most_tokens_in(self._question, self.complaint)
        most_out = self._question.max_tokens if tokens_out is None else tokens_out
        return self._prices.cost_usd(self.model, most_in, most_out) or 0.0

    def _check_bill(self, cost: float, most: float) -> None:
        if cost > most:
            log.warning(
                "%s: a request was billed %.4g USD, and with its max_tokens it could cost %.4g at"
                " most: the server does not keep to the limit, so the budget may be exceeded",
                self.model,
                cost,
                most,
            )
