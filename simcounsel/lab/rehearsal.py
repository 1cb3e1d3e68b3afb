"""What rating a run would ask: the very questions, answered by a stand-in; nothing is written."""

from typing import Any

from simcounsel.lab.shares import BYTES_A_TOKEN, REPLY_TOKENS, Forecast, Share
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
