"""What a run cost, in words."""

from simcounsel.llm.prices import Prices
from simcounsel.llm.usage import Spent, Usage
from simcounsel.runs.spending import Spending, cost_text
from tests.each import each
from tests.llm_switchboard.test_switchboard import WRITE

BY_HAND = {"verb": "write", "model": "byhand:q", "tries": 0}
PAID = {"verb": "write", "model": "openai:gpt-4o", "tokens_in": 5, "tokens_out": 1, "tries": 1}


@each(
    ("calls", "told"),
    [
        ([BY_HAND | {"cost_usd": None}], "no price: answered by hand"),
        ([BY_HAND | {"cost_usd": 0.0}], "no price: answered by hand"),
        ([BY_HAND, PAID | {"cost_usd": 0.25}], "0.2500 USD"),
        ([BY_HAND, PAID | {"cost_usd": None}], "price unknown (see --prices)"),
        ([], "0.0000 USD"),
    ],
)
def test_what_somebody_answers_has_no_price(calls: list[dict[str, object]], told: str) -> None:
    assert Spending.of(calls).line().endswith(f" tokens, {told}")


def test_what_is_answered_on_this_machine_is_free() -> None:
    told = Spending.of([BY_HAND | {"model": "scripted", "cost_usd": 0.0}]).line()
    assert told == "model calls    1, answered on this machine for free"


def test_while_it_goes_on() -> None:
    usage = Usage().plus(Spent(WRITE, "byhand:q", Prices.load()), "generated", 10)
    assert (usage.cost, usage.line()) == (cost_text(0.0, 1), f"0 requests, {cost_text(0.0, 1)}")
    assert Usage().cost == "0.0000 USD"
