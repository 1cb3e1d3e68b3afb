"""A budget reserves: no request is sent unless the most that it can take still fits.

Every request on the wire is a call: second tries, the transport's retries and embeddings too. What
does not fit waits until the requests in flight are over, then it is refused, and the tick is given
up.
"""

import asyncio
import logging
import math
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from simcounsel.errors import BudgetSpent, ModelError
from simcounsel.llm.chat import messages
from simcounsel.llm.ledger import FILE, Amount, Ledger, Standing
from simcounsel.llm.prices import Prices
from simcounsel.llm.question import Question

OVERHEAD_TOKENS, MESSAGE_TOKENS = 256, 32
"""What a server's template adds, once (a system text of its own) and with each message (the marks
of its role). The largest known: Llama 3's date and knowledge cutoff, 25 tokens; 5 a message.
"""
NO_LIMIT = math.inf
"""In place of an amount: a limit that was given before holds no more."""
log = logging.getLogger(__name__)
_ASKED_AGAIN_S = 0.1
"""How often other processes are asked whether they have let go of something."""


class Account(Protocol):
    """Where a budget stands: a `Ledger`, or one that is reached otherwise."""

    @property
    def shared(self) -> bool:
        """Whether others claim from it too."""
        ...

    def begin(self, spent: Amount) -> None: ...

    def claim(
        self, ticket: int | None, most: Amount, calls: int | None, usd: float | None
    ) -> int | Standing: ...

    def settle(self, ticket: int, real: Amount) -> None: ...

    def close(self, ticket: int) -> None: ...

    def end(self) -> None: ...


class Budget:
    """So much may be spent; None: no limit.

    usd: 0 lets only what is free be asked. calls: requests on the wire. ledger: where the account
    stands; if None in memory. ModelError for what is no amount.
    """

    def __init__(
        self, *, usd: float | None = None, calls: int | None = None, ledger: Account | None = None
    ) -> None:
        self.usd, self.calls = usd, calls
        self._ledger: Account = ledger or Ledger()
        self._waiting: list[asyncio.Future[None]] = []
        if usd is not None and not (math.isfinite(usd) and usd >= 0):
            raise ModelError(
                f"a budget of {usd} USD is none; give a number from 0 on (0: only what is free), or"
                " none for no limit"
            )
        if calls is not None and calls < 1:
            raise ModelError(
                f"a budget of {calls} calls is none; give a number from 1 on, or none for no limit"
            )

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self.usd is not None or self.calls is not None

    def begin(self, spent: Amount) -> None:
        """Count on from what was spent before, while nobody else is at work."""
        self._ledger.begin(spent)

    def check_prices(self, models: Iterable[str], prices: Prices) -> None:
        """ModelError when the budget is in USD and the price of one of these models is unknown."""
        if self.usd is None:
            return
        for name in dict.fromkeys(models):
            if prices.cost_usd(name, 1, 1) is None:
                raise ModelError(
                    f"a budget of {self.usd:g} USD cannot be kept: the price of {name} is not"
                    " known; give it with --prices FILE, or use --budget-calls"
                )

    async def claim(self, ticket: int | None, most: Amount) -> int | None:
        """Claim the most that the next request of a question can take, once it fits; the ticket of
        the question's claim, None where there is no limit. BudgetSpent when nothing is in flight
        that could make room.
        """
        if not self.limited:
            return None
        while True:
            found = self._ledger.claim(ticket, most, self.calls, self.usd)
            if isinstance(found, int):
                return found
            if found.in_flight == Amount():
                raise BudgetSpent(*self._said(most, found))
            await self._change()

    def settle(self, ticket: int | None, real: Amount) -> None:
        """A request is over, and took this."""
        if ticket is not None:
            self._ledger.settle(ticket, real)
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)

    def close(self, ticket: int | None) -> None:
        """A question is over, and what it took is recorded."""
        if ticket is not None:
            self._ledger.close(ticket)

    def end(self) -> None:
        """Let go of the ledger."""
        self._ledger.end()

    async def _change(self) -> None:
        """Until a request is over here, or may be elsewhere."""
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(change)
        await asyncio.wait([change], timeout=_ASKED_AGAIN_S if self._ledger.shared else None)

    def _said(self, most: Amount, now: Standing) -> tuple[str, str]:
        """Why nothing more is asked, and what would go on."""
        spent = now.spent
        if self.calls is not None and spent.calls + most.calls > self.calls:
            return (
                f"the budget of {self.calls} calls is used up ({spent.calls} requests sent)",
                f"--budget-calls {2 * max(self.calls, spent.calls)}",
            )
        assert self.usd is not None
        return (
            f"the budget of {self.usd:g} USD does not reach for the next request, which may cost up"
            f" to {most.usd:.2g} USD ({spent.usd:.4f} spent)",
            f"--budget-usd {2 * max(self.usd, spent.usd + most.usd):.2g}",
        )


def budget_in(folder: Path, *, usd: float | None, calls: float | None) -> Budget:
    """A budget of what is kept in a folder. Its account lies there, if there is a limit, so that
    what was in flight when a process was killed stays counted, and so does the limit: what is None
    is as it was given last, which is said; NO_LIMIT lifts it.
    """
    file = folder / FILE
    wanted_now = budget_of(usd=usd, calls=calls)
    if not file.exists() and not wanted_now.limited:
        return wanted_now
    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(file)
    limits = ledger.limits()
    for what, wanted in (("usd", usd), ("calls", calls)):
        if wanted == NO_LIMIT:
            limits.pop(what, None)
        elif wanted is not None:
            limits[what] = wanted
        elif what in limits:
            unit = "USD" if what == "usd" else what
            log.warning(
                "the budget of %g %s that was given before still holds; --budget-%s none lifts it",
                limits[what],
                unit,
                what,
            )
    ledger.remember(limits)
    if not limits:
        ledger.end()
        return Budget()
    most = limits.get("calls")
    return Budget(usd=limits.get("usd"), calls=None if most is None else int(most), ledger=ledger)


def budget_of(*, usd: float | None, calls: float | None = None) -> Budget:
    """A budget of what has no account of its own; NO_LIMIT is as None."""
    return Budget(
        usd=None if usd == NO_LIMIT else usd,
        calls=None if calls is None or calls == NO_LIMIT else int(calls),
    )


def check_budget(
    usd: float | None, calls: float | None, models: Iterable[str], prices: Prices
) -> None:
    """Before anything is made: ModelError for what is no amount, and for an unknown price."""
    budget_of(usd=usd, calls=calls).check_prices(models, prices)


def most_tokens_in(question: Question[Any], complaint: str | None) -> int:
    """More tokens than any server can count for what is sent.

    A token of a byte-level vocabulary stands for a byte at least, and so does one of SentencePiece
    or WordPiece, which has a single sign for a character or for each of its bytes. Some of these
    write characters out first (NFKC), so the longer form counts. The template's own tokens come on
    top. The schema of a `fill` counts wherever it is sent.
    """
    if question.verb == "embed":
        texts = list(question.texts)
    else:
        texts = [message["content"] for message in messages(question, complaint)]
    return OVERHEAD_TOKENS + sum(MESSAGE_TOKENS + _bytes(text) for text in texts)


def _bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return max(
        len(form.encode("utf-8", "backslashreplace"))
        for form in (text, unicodedata.normalize("NFKC", text))
    )


def spent_in(calls: Iterable[Mapping[str, Any]], prices: Prices) -> Amount:
    """What recorded calls took, at most, without those that a fork took over from its parent.
    ModelError when the price of one is unknown.
    """
    total = Amount()
    for call in calls:
        if not call.get("copied"):
            total += _spent_on(call, prices)
    return total


def _spent_on(call: Mapping[str, Any], prices: Prices) -> Amount:
    """`most_usd` says what the budget counted where that is not the cost. Lines that were written
    before there was a field for it are priced by their tokens, or by their length.
    """
    model = str(call.get("model"))
    tries = call.get("tries")
    usd = call.get("most_usd", call.get("cost_usd"))
    embeds = call.get("verb") == "embed"
    if tries is None:
        tries = 0 if embeds and prices.in_process(model) else 1
    if usd is None:
        usd = prices.cost_usd(model, call.get("tokens_in"), call.get("tokens_out"))
    if usd is None:
        texts = call.get("texts") or [one["content"] for one in call.get("messages") or ()]
        usd = prices.cost_usd(
            model,
            OVERHEAD_TOKENS + sum(MESSAGE_TOKENS + _bytes(text) for text in texts),
            _bytes(call.get("reply") or ""),
        )
    if usd is None:
        raise ModelError(
            f"{model} was asked earlier, and its price is not known, so that a budget in USD cannot"
            " be counted on; give it with --prices FILE, or use --budget-calls"
        )
    return Amount(calls=int(tries), usd=float(usd))
