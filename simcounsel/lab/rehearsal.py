"""What rating a run would ask: the very questions, answered by a stand-in; nothing is written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.errors import NothingToMeasure, SimcounselError
from simcounsel.lab.rating_jobs import Wanted
from simcounsel.lab.shares import BYTES_A_TOKEN, REPLY_TOKENS, Forecast, Share, forecast_lines
from simcounsel.llm.catalog import open_chat
from simcounsel.llm.embeddings import HashEmbeddings
from simcounsel.llm.prices import Prices
from simcounsel.llm.switchboard import Switchboard
from simcounsel.measuring.rate import Rating
from simcounsel.runs.sources import recorded_vectors

NUMBER_TOKENS = (2.0, 16.0)
"""Of an answer that is a number or an option."""


class _Counter:
    """Counts what is sent, as a recorder that keeps nothing."""

    def __init__(self) -> None:
        self.low: dict[str, Share] = {}
        self.high: dict[str, Share] = {}

    def append_call(self, call: dict[str, Any]) -> None:
        """Take in one call."""
        embeds = call["verb"] == "embed"
        texts = call["texts"] if embeds else [one["content"] for one in call["messages"]]
        sent = sum(len(text.encode("utf-8", "replace")) for text in texts)
        came = REPLY_TOKENS if call["verb"] in ("fill", "write") else NUMBER_TOKENS
        for end, counted in enumerate((self.low, self.high)):
            share = Share(
                requests=1,
                tokens_in=sent / BYTES_A_TOKEN[end],
                tokens_out=0 if embeds else came[end],
            )
            counted[call["tier"]] = counted.get(call["tier"], Share()) + share


def rehearse(rating: Rating) -> tuple[Forecast, dict[str, str]]:
    """What a rating would take, and the model of each role. Second tries are not in it."""
    counter, judge, left = _Counter(), rating.judge, rating.left()
    roles = {"reason": judge, "quick": judge, "judge": judge, "embed": rating.roles()["embed"]}
    if judge:
        vectors = recorded_vectors(rating.run)
        dimensions = len(next(iter(vectors.values()))) if vectors else 64
        standin = open_chat("scripted")
        models = Switchboard(
            {role: standin for role in roles if role != "embed"},
            HashEmbeddings(dimensions),
            recorder=counter,
        )
        try:
            models.ask({f"{at:05d}": rating.asked(one) for at, one in enumerate(left)})
        finally:
            models.close()
    if Prices({}).in_process(roles["embed"]):
        counter.low.pop("embed", None)
        counter.high.pop("embed", None)
    basis = f"the questions for {len(left)} measurements, asked of nobody"
    return Forecast(low=counter.low, high=counter.high, basis=basis), roles


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """What rating many runs would take."""

    runs: int
    """Those in which something is left to measure."""
    measurements: int
    """That are left in them."""
    nothing: int
    """Runs in which there is nothing to measure."""
    rated: int
    """Runs that have as many finished ratings as are wanted."""
    broken: tuple[str, ...]
    """Why the others cannot be measured, a sentence each."""
    low: Share
    """`low`, `high`: of all, from few tokens to many."""
    high: Share
    cost_usd: tuple[float, float] | None
    """None when a price is unknown."""
    models: tuple[str, ...]
    """Who would be asked, each once, in order."""

    def lines(self) -> Iterator[str]:
        """In words."""
        more = [f"{self.rated} are rated already"] if self.rated else []
        more += [f"in {self.nothing} there is nothing to measure"] if self.nothing else []
        yield f"runs         {self.runs} to measure{''.join(f'; {one}' for one in more)}"
        yield from (f"left out     {why}" for why in self.broken)
        basis = f"the questions for {self.measurements} measurements, asked of nobody"
        yield from forecast_lines(self.low, self.high, self.cost_usd, basis)


def rehearse_all(
    folders: Sequence[Path], wanted: Wanted, prices: Prices, chat: str | None = None
) -> Rehearsed:
    """What measuring these runs would take, as far as it is not done yet. chat: one conversation of
    a single run alone.
    """
    low = high = Share()
    cost: tuple[float, float] | None = (0.0, 0.0)
    runs = measurements = nothing = rated = 0
    broken: list[str] = []
    models: set[str] = set()
    for folder in folders:
        try:
            rating = wanted.plan(folder, chat)
        except NothingToMeasure:
            nothing += 1
            continue
        except SimcounselError as error:
            broken.append(str(error))
            continue
        again = wanted.rounds - len(rating.finished)
        if again <= 0:
            rated += 1
            continue
        left, every = len(rating.left()), len(rating.targets)
        found, roles = rehearse(rating)
        # what is left of the rating under way, and whole ones after it
        factor = 1 + (again - 1) * every / left if left else 1.0
        few, many = found.total()
        low, high = low + few.times(factor), high + many.times(factor)
        usd = found.cost_usd(roles, prices)
        cost = (cost[0] + factor * usd[0], cost[1] + factor * usd[1]) if cost and usd else None
        runs, measurements = runs + 1, measurements + left + (again - 1) * every
        models |= set(rating.models())
    return Rehearsed(
        runs=runs,
        measurements=measurements,
        nothing=nothing,
        rated=rated,
        broken=tuple(broken),
        low=low,
        high=high,
        cost_usd=cost,
        models=tuple(sorted(models)),
    )
