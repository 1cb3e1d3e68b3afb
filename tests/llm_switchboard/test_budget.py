"""A budget reserves before it is spent: whatever the order of requests and answers, it is never exceeded."""

import asyncio
import random
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from simcounsel.agents.tasks import FeelingAnswer
from simcounsel.errors import BudgetSpent, ModelError
from simcounsel.llm.budget import Budget, most_tokens_in, spent_in
from simcounsel.llm.ledger import Amount, Ledger
from simcounsel.llm.prices import Price, Prices
from simcounsel.llm.question import Question
from tests.each import each

PRICES = Prices({"paid": Price.model_validate({"in": 10, "out": 100})})


def test_what_fits_is_let_through_and_the_rest_is_refused() -> None:
    async def spend() -> None:
        budget = Budget(usd=1.0, calls=3)
        first = await budget.claim(None, Amount(calls=1, usd=0.6))
        with pytest.raises(asyncio.TimeoutError):  # it waits, since the first may turn out cheaper
            await asyncio.wait_for(budget.claim(None, Amount(calls=1, usd=0.6)), 0.05)
        budget.settle(first, Amount(calls=1, usd=0.1))
        second = await budget.claim(None, Amount(calls=1, usd=0.9))
        budget.settle(second, Amount(calls=1, usd=0.85))
        with pytest.raises(BudgetSpent, match=r"budget of 1 USD .* up to 0.6 USD \(0.9500 spent\)"):
            await budget.claim(None, Amount(calls=1, usd=0.6))
        budget.settle(await budget.claim(None, Amount(calls=1)), Amount(calls=1))
        with pytest.raises(BudgetSpent, match=r"budget of 3 calls is used up \(3 requests sent\)"):
            await budget.claim(None, Amount(calls=1))

    asyncio.run(spend())


def test_who_waits_goes_on_when_there_is_room() -> None:
    async def spend() -> list[str]:
        budget, said = Budget(calls=2), []

        async def one(name: str) -> None:
            ticket = await budget.claim(None, Amount(calls=1))
            await asyncio.sleep(0.01)
            said.append(name)
            budget.settle(ticket, Amount(calls=0))  # no connection: it took nothing

        await asyncio.gather(*(one(name) for name in "abcde"))
        return said

    assert sorted(asyncio.run(spend())) == list("abcde")


requests = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["billed", "refused", "unsent", "lost"])),
    min_size=1,
    max_size=3,
)


@given(
    questions=st.lists(requests, min_size=1, max_size=12),
    usd=st.one_of(st.none(), st.floats(0, 3)),
    calls=st.one_of(st.none(), st.integers(1, 12)),
    seed=st.integers(0, 10_000),
)
def test_no_interleaving_exceeds(
    questions: list[list[tuple[float, str]]], usd: float | None, calls: int | None, seed: int
) -> None:
    """Each question sends its requests one after the other; each takes as much as it may, or less."""
    chance = random.Random(seed)
    taken = Amount()

    async def question(budget: Budget, wanted: list[tuple[float, str]]) -> None:
        nonlocal taken
        ticket = None
        for most, end in wanted:
            ticket = await budget.claim(ticket, Amount(calls=1, usd=most))
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            real = {
                "billed": Amount(calls=1, usd=most * chance.random()),
                "refused": Amount(calls=1),
                "unsent": Amount(),
                "lost": Amount(calls=1, usd=most),
            }[end]
            taken += real
            budget.settle(ticket, real)
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
        budget.close(ticket)

    async def all_of_them() -> bool:
        budget = Budget(usd=usd, calls=calls)
        ends = await asyncio.gather(
            *(question(budget, one) for one in questions), return_exceptions=True
        )
        assert all(isinstance(end, BudgetSpent | None) for end in ends)
        return any(ends)

    stopped = asyncio.run(all_of_them())
    assert usd is None or taken.usd <= usd + 1e-9
    assert calls is None or taken.calls <= calls
    if usd is None and calls is None:
        assert not stopped


def test_a_ledger_keeps_what_a_killed_process_had_in_flight(tmp_path: Path) -> None:
    killed = Ledger(tmp_path / "ledger", owner="one")
    ticket = killed.claim(None, Amount(calls=1, usd=0.5), None, None)
    assert isinstance(ticket, int)
    killed.settle(ticket, Amount(calls=1, usd=0.25))
    killed.claim(ticket, Amount(calls=1, usd=0.5), None, None)
    other = Ledger(tmp_path / "ledger", owner="two")
    recorded = other.claim(None, Amount(calls=1, usd=1.0), None, None)
    assert isinstance(recorded, int)
    other.settle(recorded, Amount(calls=1, usd=1.0))
    other.close(recorded)
    assert other.standing().spent == Amount(calls=2, usd=1.25)
    assert other.standing().in_flight == Amount(calls=1, usd=0.5)
    other.lose("one")
    assert (other.standing().spent, other.standing().in_flight) == (
        Amount(calls=3, usd=1.75),
        Amount(),
    )
    again = Ledger(tmp_path / "ledger")
    again.begin(Amount(calls=1, usd=1.0))
    assert again.standing().spent == Amount(calls=3, usd=1.75), "recorded, and lost for ever"


def test_what_was_recorded_where_nobody_can_read_it_stays_counted(tmp_path: Path) -> None:
    """The recording of a run lay on a node that was lost; the ledger still knows what it took."""
    first = Ledger(tmp_path / "ledger")
    first.begin(Amount())
    for _ in range(4):
        ticket = first.claim(None, Amount(calls=1, usd=0.5), 10, None)
        assert isinstance(ticket, int)
        first.settle(ticket, Amount(calls=1, usd=0.25))
        first.close(ticket)
    first.end()
    for _ in range(2):
        again = Ledger(tmp_path / "ledger")
        again.begin(Amount(calls=1, usd=0.25))
        assert again.standing().spent == Amount(calls=4, usd=1.0)
        again.end()


def test_a_ledger_that_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "ledger").write_bytes(b"something else entirely, longer than a header" * 30)
    with pytest.raises(
        ModelError, match=r"ledger: the account of the budget cannot be kept \(file is"
    ):
        Ledger(tmp_path / "ledger")


@pytest.mark.parametrize("usd", [float("nan"), float("inf"), -1.0])
def test_what_is_no_amount(usd: float) -> None:
    with pytest.raises(ModelError, match=r"is none; give a number from 0 on"):
        Budget(usd=usd)
    with pytest.raises(ModelError, match=r"a budget of 0 calls is none; give a number from 1 on"):
        Budget(calls=0)


def test_an_unknown_price_is_refused_with_the_remedy() -> None:
    with pytest.raises(ModelError, match=r"price of dear is not known; .*--prices.*--budget-calls"):
        Budget(usd=1).check_prices(["paid", "dear"], PRICES)
    Budget(calls=1).check_prices(["paid", "dear"], PRICES)
    Budget(usd=0).check_prices(["paid", "scripted", "http://localhost:1/v1/x"], PRICES)


@each(
    "text",
    [
        "It is hard for me to begin.",
        "\u6211\u665a\u4e0a\u7761\u4e0d\u7740",
        "\ufdfa\ufdfa",
        "\U0001f636\u200d\U0001f32b\ufe0f \x00 \u0378",
        "",
    ],
)
def test_bound_holds_for_tokenizers(text: str, embedded_tokenizers: list[Tokenizer]) -> None:
    question = Question(
        verb="fill", purpose="x", who="x", schema=FeelingAnswer, prompt=text, fallback=None
    )
    for tokenizer in embedded_tokenizers:
        sent = [one["content"] for one in question.messages]
        for form in (str, lambda t: unicodedata.normalize("NFKC", t)):
            assert sum(len(tokenizer.encode(form(one)).ids) for one in sent) < most_tokens_in(
                question, None
            )


@pytest.fixture(scope="module")
def embedded_tokenizers() -> list[Tokenizer]:
    """A tokenizer that has nothing but bytes: no other can need more tokens."""
    from tokenizers import models, pre_tokenizers

    bytes_only = Tokenizer(
        models.BPE(
            vocab={c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))},
            merges=[],
        )
    )
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return [bytes_only]


def test_counts_on_from_recorded_lines() -> None:
    lines = [
        {"model": "paid", "cost_usd": 0.5, "tries": 3},
        {"model": "paid", "cost_usd": None, "most_usd": 0.25, "tries": 1},
        {"model": "paid", "cost_usd": 9.0, "tries": 9, "copied": True},
        {"model": "paid", "cost_usd": None, "tokens_in": 1000, "tokens_out": 100, "tries": 1},
        {"model": "embedded", "verb": "embed", "texts": ["a"]},
    ]
    assert spent_in(lines, PRICES) == Amount(calls=5, usd=0.5 + 0.25 + 0.02)
    untold = {"model": "paid", "messages": [{"content": "x" * 100}], "reply": "y" * 10, "tries": 1}
    assert spent_in([untold], PRICES).usd == pytest.approx(((256 + 132) * 10 + 10 * 100) / 1e6)
    with pytest.raises(ModelError, match=r"dear was asked earlier, and its price is not known"):
        spent_in([{"model": "dear", "tries": 1}], PRICES)
