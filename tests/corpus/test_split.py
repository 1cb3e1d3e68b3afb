"""A client's split depends on nothing but the seed and the client."""

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcounsel.corpus.split import SPLITS, Shares, split_dialogues, split_of
from simcounsel.errors import CorpusError
from tests.corpus.made import dialogue
from tests.corpus.stories import NAMES
from tests.each import each


@settings(deadline=None)
@given(clients=st.lists(NAMES, max_size=20), seed=st.integers(0, 99))
def test_a_client_is_in_one_split(clients: list[str], seed: int) -> None:
    split = split_dialogues(
        [dialogue(str(number), "a", "b", client=client) for number, client in enumerate(clients)],
        Shares(),
        seed,
    )
    assert len(split) == len(clients)
    for client in clients:
        assert len({one.split for one in split if one.client == client}) == 1


@settings(deadline=None)
@given(clients=st.lists(NAMES, min_size=1, max_size=20, unique=True), more=NAMES)
def test_adding_a_client_moves_no_other(clients: list[str], more: str) -> None:
    before = {client: split_of(client, Shares(), 1) for client in clients}
    after = split_dialogues(
        [dialogue(client, "a", "b", client=client) for client in (more, *clients)], Shares(), 1
    )
    assert before.items() <= {one.client: one.split for one in after}.items()


@pytest.mark.parametrize("spelled", ["RENÉ MARIT", " rené marit\n", "Rene\u0301 Marit"])
def test_two_spellings_are_one_client(spelled: str) -> None:
    for seed in range(40):
        assert split_of(spelled, Shares(train=1, validation=1, test=1), seed) == split_of(
            "René Marit", Shares(train=1, validation=1, test=1), seed
        )


def test_shares_hold_in_the_long_run() -> None:
    """Of 20,000 clients each split gets its share, to four standard errors (1.2 points of 80, 0.9 of 10)."""
    drawn = Counter(split_of(f"client {number}", Shares(), 7) for number in range(20_000))
    assert abs(drawn["train"] / 200 - 80) < 1.2
    assert all(abs(drawn[split] / 200 - 10) < 0.9 for split in SPLITS[1:])


@pytest.mark.parametrize(
    ("shares", "only"), [("100,0,0", "train"), ("0,1,0", "validation"), ("0,0,0.5", "test")]
)
def test_a_share_of_nothing_gets_nobody(shares: str, only: str) -> None:
    assert {split_of(str(number), Shares.parse(shares), 1) for number in range(2000)} == {only}


def test_another_seed_is_another_split() -> None:
    assert [split_of(str(n), Shares(), 1) for n in range(50)] != [
        split_of(str(n), Shares(), 2) for n in range(50)
    ]


def test_the_same_in_any_process() -> None:
    """Whatever the hash seed."""
    code = "from simcounsel.corpus.split import *; print([split_of(str(n), Shares(), 1) for n in range(50)])"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert told == {f"{[split_of(str(n), Shares(), 1) for n in range(50)]}\n"}


@each("words", ["80,10", "a,b,c", "80,10,-1", "0,0,0", "nan,1,1", "inf,1,1"])
def test_shares_that_are_none(words: str) -> None:
    with pytest.raises(CorpusError, match="such as 80,10,10"):
        Shares.parse(words)
