"""Likeness of replies: the words of any script, differences with intervals, and replies that a model really gives."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -e '.[test-all]'")

from simcounsel.corpus.dialogues import Dialogue, Turn  # noqa: E402
from simcounsel.llm.embeddings import HashEmbeddings  # noqa: E402
from tests.training.test_audit_scoring import tiny_model, tiny_tokenizer  # noqa: E402
from training.audit.memorization import Continuation, cosines, likeness, rouge1_recall  # noqa: E402
from training.audit.running import LONGEST, beginnings, complete  # noqa: E402
from training.errors import TrainingError  # noqa: E402

pytestmark = pytest.mark.slow


def test_recall_is_the_share_of_the_truths_words() -> None:
    assert rouge1_recall("Take your time, please.", "your TIME is now") == pytest.approx(2 / 4)
    assert rouge1_recall("no no no yes", "no yes yes") == pytest.approx(2 / 4)
    assert rouge1_recall("hello", "") == 0
    assert rouge1_recall("...", "hello") is None


def test_chinese_is_compared_by_the_character() -> None:
    """By the library's own tokenizer even the same sentence has a recall of 0."""
    assert rouge1_recall("你好吗", "你好吗") == 1
    assert rouge1_recall("你睡得好吗？", "你好。") == pytest.approx(2 / 5)
    assert rouge1_recall("Привет, мир", "мир") == pytest.approx(1 / 2)


def _said(client: str, truth: str, made: str) -> Continuation:
    return Continuation(id=f"of {client}", client=client, truth=truth, made=made)


def test_the_difference_between_members_and_others_has_an_interval_by_client() -> None:
    members = [
        _said(
            f"m{n % 8}",
            "the old stone bridge",
            "the old stone bridge" if n % 2 else "the old horse",
        )
        for n in range(16)
    ]
    others = [
        _said(f"o{n}", "the old stone bridge", "a horse" if n % 4 else "the horse")
        for n in range(16)
    ]
    recall, cosine = likeness(members, others, embed=HashEmbeddings().embed_now, bootstrap=500)
    assert (recall.members, recall.others) == (pytest.approx(0.75), pytest.approx(1 / 16))
    assert recall.difference == pytest.approx(0.75 - 1 / 16)
    assert (
        recall.interval is not None
        and recall.interval.low < recall.difference < recall.interval.high
    )
    assert recall.interval.low > 0.4
    assert cosine.measure == "cosine" and cosine.members > cosine.others
    [alone] = likeness([*members, _said("m9", "...", "x")], others, bootstrap=0)
    assert (alone.n_members, alone.left_out, alone.interval) == (16, 1, None)
    with pytest.raises(TrainingError, match="no reply with a word"):
        likeness([], others)


def test_cosines_by_hand() -> None:
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0], "": [0.0, 0.0]}
    found = cosines(
        [("a", "b"), ("a", "a"), ("a", "")],
        lambda texts: np.array([vectors[text] for text in texts]),
    )
    assert found.tolist() == pytest.approx([1 / np.sqrt(2), 1, 0])


TALK = Dialogue(
    id="d",
    client="Ana",
    turns=tuple(
        Turn(speaker="counselor" if n % 2 else "client", text=text)
        for n, text in enumerate(
            [
                "I sleep badly.",
                "Since when?",
                "Since May.",
                "What was in May?",
                "My sister left.",
                "Tell me about her.",
            ]
        )
    ),
)


def test_a_beginning_ends_before_the_counselors_turn_and_holds_nothing_after_it() -> None:
    tokenizer = tiny_tokenizer()
    [middle] = beginnings(TALK, tokenizer, 4096)
    text = tokenizer.decode(middle.ids)
    assert middle.truth == "What was in May?"
    assert text.endswith("Since May.</s>\n<s>assistant\n")
    assert "What was" not in text and "sister" not in text
    assert [one.truth for one in beginnings(TALK, tokenizer, 4096, many=3)] == [
        "Since when?",
        "What was in May?",
        "Tell me about her.",
    ]
    assert len(beginnings(TALK, tokenizer, 4096, many=9)) == 3
    short = beginnings(TALK, tokenizer, len(middle.ids) - 5)[0]
    assert "Since when?" not in tokenizer.decode(short.ids) and tokenizer.decode(
        short.ids
    ).endswith("Since May.</s>\n<s>assistant\n")
    long = TALK.model_copy(
        update={"turns": (TALK.turns[0], Turn(speaker="counselor", text="x" * 500))}
    )
    assert beginnings(long, tokenizer, 4096)[0].truth == "x" * LONGEST


def test_replies_are_the_same_alone_and_together() -> None:
    tokenizer, model = tiny_tokenizer(), tiny_model()
    model.generation_config.eos_token_id = None
    begun = beginnings(TALK, tokenizer, 600, many=3)
    together, alone = (
        complete(model, tokenizer, begun, at_once=3),
        complete(model, tokenizer, begun, at_once=1),
    )
    assert together == alone
    assert [one.truth for one in together] == [one.truth for one in begun]
    with torch.no_grad():
        ids = torch.tensor([begun[0].ids])
        first = int(model(ids).logits[0, -1].argmax())
    assert tokenizer.decode([first]).strip() in ("", together[0].made[:1])
