"""Scoring by a tiny model against brute force: masks, padding, the distribution over the vocabulary, adapters on and off."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install -e '.[test-all]'")

from peft import LoraConfig, get_peft_model  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

from simcounsel.corpus.dialogues import Dialogue, Turn  # noqa: E402
from training.audit import scores  # noqa: E402
from training.audit.scoring import Encoded, _numbers, encoded, score, score_base  # noqa: E402
from training.errors import TrainingError  # noqa: E402
from training.learning.examples import Piece  # noqa: E402
from training.learning.quiet import quietly  # noqa: E402

pytestmark = pytest.mark.slow

TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"


def tiny_tokenizer(*texts: str) -> Any:
    """A token a byte; or longer ones, learned from texts, so that these are short."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    if texts:
        inner.train_from_iterator(
            texts,
            trainers.BpeTrainer(vocab_size=900, initial_alphabet=letters, show_progress=False),
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )
    made.chat_template = TEMPLATE
    return made


def tiny_model(vocabulary: int = 300, seed: int = 0) -> Any:
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    config = LlamaConfig(
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=vocabulary,
        max_position_embeddings=2048,
        initializer_range=0.5,
    )
    return LlamaForCausalLM(config).eval()


def with_lora(model: Any, dropout: float = 0.0) -> Any:
    with quietly():
        made = get_peft_model(
            model,
            LoraConfig(
                r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], lora_dropout=dropout
            ),
        )
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if "lora_B" in name:
                parameter.normal_(0, 0.5)
    return made


def part(ids: list[int], scored: list[int]) -> Piece:
    mask = torch.zeros(len(ids), dtype=torch.bool)
    mask[scored] = True
    return Piece(torch.tensor(ids), mask, 1.0, "x")


def session(name: str, *parts: Piece) -> Encoded:
    return Encoded(id=name, client=name, text="words", parts=parts)


SESSIONS = [
    session("a", part([5, 6, 7, 8, 9, 10, 11], [3, 4, 6])),
    session("b", part([12, 13, 14], [1, 2]), part([9, 9, 250, 31, 7], [4])),
    session("c"),
]


def test_numbers_are_those_of_a_loop_over_the_vocabulary() -> None:
    model = tiny_model()
    found = score(model, SESSIONS, at_once=3, padding=299)
    with torch.no_grad():
        logits = model(torch.tensor([[9, 9, 250, 31]])).logits[0, -1].double()
    p = np.exp(logits.numpy() - np.logaddexp.reduce(logits.numpy()))
    mean = sum(q * np.log(q) for q in p)
    assert found[1].logp[2] == pytest.approx(np.log(p[7]), abs=1e-4)
    assert found[1].mean[2] == pytest.approx(mean, abs=1e-4)
    assert found[1].std[2] == pytest.approx(
        np.sqrt(sum(q * (np.log(q) - mean) ** 2 for q in p)), abs=1e-4
    )
    uniform = np.log(p).std()
    assert abs(found[1].std[2] - uniform) > 0.1  # the peer's deviation is another number
    assert [one.tokens for one in found] == [3, 3, 0]
    assert scores.loss(found[2]).why_not == "no token to score"


def test_a_word_without_any_probability_makes_no_nan() -> None:
    logits = torch.tensor([[0.0, -float("inf"), 1.0], [0.0, -1e30, 0.0]])
    logp, mean, std = _numbers(logits, torch.tensor([2, 0]))
    assert logp.tolist() == pytest.approx([-0.3133, -0.6931], abs=1e-4)
    assert mean.tolist() == pytest.approx([-0.5822, -0.6931], abs=1e-4)
    assert std.tolist() == pytest.approx([0.4434, 0.0], abs=1e-4)


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_padding_changes_nothing_and_the_attention_mask_reaches_the_model(at_once: int) -> None:
    """A peer computes attention masks and never passes them on."""
    model, seen = tiny_model(), []
    wanted = score(model, SESSIONS, at_once=1)
    inner = getattr(model, model.base_model_prefix)
    forward = inner.forward

    def watched(*args: Any, **kwargs: Any) -> Any:
        seen.append(kwargs["attention_mask"].sum(dim=1).tolist())
        return forward(*args, **kwargs)

    inner.forward = watched
    for one, other in zip(score(model, SESSIONS, at_once=at_once, padding=42), wanted, strict=True):
        assert one.id == other.id
        np.testing.assert_allclose(one.logp, other.logp, atol=1e-5)
        np.testing.assert_allclose(one.std, other.std, atol=1e-5)
    assert sorted(length for lengths in seen for length in lengths) == [3, 5, 7]


def test_the_base_is_the_model_with_the_adapters_off_and_on_again_afterwards() -> None:
    plain = score(tiny_model(), SESSIONS)
    model = with_lora(tiny_model())
    adapted, base, again = (
        score(model, SESSIONS),
        score_base(model, SESSIONS),
        score(model, SESSIONS),
    )
    np.testing.assert_allclose(base[0].logp, plain[0].logp, atol=1e-6)
    assert np.abs(adapted[0].logp - base[0].logp).max() > 0.01
    np.testing.assert_array_equal(adapted[0].logp, again[0].logp)
    with pytest.raises(TrainingError, match="no adapters that could be switched off"):
        score_base(tiny_model(), SESSIONS)


def test_dropout_is_off_while_scoring_and_on_again_afterwards() -> None:
    model = with_lora(tiny_model(), dropout=0.5)
    model.train()
    first, second = score(model, SESSIONS), score(model, SESSIONS)
    np.testing.assert_array_equal(first[0].logp, second[0].logp)
    assert model.training


def test_the_counselors_words_are_scored_or_all() -> None:
    dialogue = Dialogue(
        id="d",
        client="Ana",
        turns=(
            Turn(speaker="client", text="I sleep badly."),
            Turn(speaker="counselor", text="Since when?"),
            Turn(speaker="client", text="Since May."),
            Turn(speaker="counselor", text="What was in May?"),
        ),
    )
    tokenizer = tiny_tokenizer()
    [counselor], [everything] = (
        encoded([dialogue], tokenizer, 4096),
        encoded([dialogue], tokenizer, 4096, "all"),
    )
    assert counselor.text == "Since when?\nWhat was in May?"
    told = tokenizer.decode(torch.cat([one.ids[one.learned] for one in counselor.parts]))
    assert told.replace("</s>", "\n").strip() == counselor.text
    assert everything.text.startswith("I sleep badly.\nSince when?")
    assert sum(int(one.learned.sum()) for one in everything.parts) == sum(
        len(one.ids) - 1 for one in everything.parts
    )
    [cut] = encoded([dialogue], tokenizer, len(everything.parts[0].ids) - 5)
    assert len(cut.parts) == 2
    assert sum(int(one.learned.sum()) for one in cut.parts) == sum(
        int(one.learned.sum()) for one in counselor.parts
    )


def test_what_was_learned_by_heart_is_found() -> None:
    """Twelve sessions of random tokens, six of them learned: every attack tells them apart, and the base model does not."""
    rng = np.random.default_rng(0)
    every = [
        session(f"s{n}", part([int(t) for t in rng.integers(0, 300, 24)], list(range(1, 24))))
        for n in range(12)
    ]
    model = with_lora(tiny_model())
    optimizer = torch.optim.Adam(
        [p for name, p in model.named_parameters() if "lora" in name], lr=3e-2
    )
    batch = torch.stack([one.parts[0].ids for one in every[:6]])
    for _ in range(60):
        loss = torch.nn.functional.cross_entropy(
            model(batch).logits[:, :-1].flatten(0, 1), batch[:, 1:].flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    trained, base = score(model, every), score_base(model, every)
    for name in ("loss", "min_k", "min_k_plus_plus", "reference"):
        values = [one.value for one in scores.attack(name, trained, base)]
        assert min(values[:6]) > max(values[6:]), name  # type: ignore[type-var]
    untouched = [one.value for one in scores.attack("loss", base)]
    assert not min(untouched[:6]) > max(untouched[6:])  # type: ignore[type-var]
