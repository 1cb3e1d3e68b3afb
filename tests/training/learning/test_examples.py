"""Sessions as tokens: what is learned, how long sessions are cut, what a record's loss is."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install -e '.[test-all]'")
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simcounsel.corpus.dialogues import Dialogue, Turn
from simcounsel.corpus.teaching import Teaching
from tests.training.learning.conftest import session
from training.errors import TrainingError
from training.learning.base import AdaptedBase, load_base
from training.learning.examples import encode, records_of, together

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def base(tiny: Path) -> AdaptedBase:
    return load_base(str(tiny), device="cpu")


def said(base: AdaptedBase, ids: torch.Tensor, learned: torch.Tensor) -> str:
    return str(base.tokenizer.decode(ids[learned]))


def test_only_the_counselors_words_and_their_end_are_learned(base: AdaptedBase) -> None:
    ((ids, learned),) = encode(session(1, "a", 2), base.tokenizer, 2048)
    assert said(base, ids, learned) == "What kept you awake?<|im_end|>And what then?<|im_end|>"
    assert not learned[0]
    whole = base.tokenizer.decode(ids)
    assert whole.startswith("<|im_start|>system") and "Night 1.0" in whole


def test_words_that_the_client_said_first_are_not_learned_there(base: AdaptedBase) -> None:
    """The same words in the system prompt or in the client's mouth are not taken for the counselor's."""
    echo = Dialogue(
        id="e",
        client="a",
        turns=(
            Turn(speaker="client", text="And what then?"),
            Turn(speaker="counselor", text="And what then?"),
        ),
    )
    ((ids, learned),) = encode(echo, base.tokenizer, 2048)
    assert said(base, ids, learned) == "And what then?<|im_end|>"
    assert base.tokenizer.decode(ids[: int(learned.nonzero()[0])]).count("And what then?") == 1


def test_a_fallback_is_context_but_not_learned(base: AdaptedBase) -> None:
    turns = [*session(1, "a", 2).turns]
    turns[1] = turns[1].model_copy(update={"source": "fallback"})
    ((ids, learned),) = encode(
        session(1, "a", 2).model_copy(update={"turns": tuple(turns)}), base.tokenizer, 2048
    )
    assert said(base, ids, learned) == "And what then?<|im_end|>"
    assert "What kept you awake?" in base.tokenizer.decode(ids)


@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(exchanges=st.integers(1, 9), room=st.integers(170, 300))
def test_cutting_loses_no_word_and_keeps_to_the_room(
    base: AdaptedBase, exchanges: int, room: int
) -> None:
    one = session(1, "a", exchanges)
    parts = encode(one, base.tokenizer, room)
    assert all(len(ids) <= room for ids, _ in parts)
    assert all(base.tokenizer.decode(ids).startswith("<|im_start|>system") for ids, _ in parts)
    learned = "".join(said(base, ids, mask) for ids, mask in parts)
    assert learned == "".join(f"{line}<|im_end|>" for line in one.lines("counselor"))


def test_a_records_weights_make_the_mean_over_sessions(base: AdaptedBase) -> None:
    (record,) = records_of(
        [session(1, "a", 1), session(2, "a", 3)], base.tokenizer, 2048, by_client=True
    )
    for dialogue in ("s1", "s2"):
        of = [example for example in record.examples if example.dialogue == dialogue]
        assert sum(example.weight * int(example.learned.sum()) for example in of) == pytest.approx(
            0.5
        )
    by_session = records_of([session(1, "a", 1), session(2, "a", 3)], base.tokenizer, 190)
    assert [
        sum(example.weight * int(example.learned.sum()) for example in one.examples)
        for one in by_session
    ] == pytest.approx([1, 1])
    assert len(by_session[1].examples) > 1


def test_padding_is_hidden(base: AdaptedBase) -> None:
    records = records_of([session(1, "a", 1), session(2, "b", 3)], base.tokenizer, 2048)
    examples = [one.examples[0] for one in records]
    ids, attention, learned = together(examples, 0, torch.device("cpu"))
    assert attention.sum(dim=1).tolist() == [len(one.ids) for one in examples]
    assert not bool(learned[attention == 0].any()) and ids.shape == learned.shape


def test_nothing_to_learn_is_said(base: AdaptedBase) -> None:
    with pytest.raises(
        TrainingError, match="'s1' has no counselor's word to learn within 16 tokens"
    ):
        records_of([session(1, "a", 1)], base.tokenizer, 16)


def test_the_chat_is_what_export_writes(base: AdaptedBase) -> None:
    ((ids, _),) = encode(session(1, "a", 1), base.tokenizer, 2048)
    assert Teaching().system_of(session(1, "a")) in base.tokenizer.decode(ids)
