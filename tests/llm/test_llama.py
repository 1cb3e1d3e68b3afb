"""The embedded language model: the same answer every time, whatever was asked before."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp")

from simcounsel.errors import ModelError
from simcounsel.llm.llama import (
    RANDOM_SEED,
    Chat,
    Generated,
    Llama,
    default_threads,
    grammar_of_options,
    grammar_of_schema,
)
from simcounsel.llm.models import Failure
from simcounsel.llm.weights import path_of
from tests.each import each

PROMPT = (
    "Mara tells her counselor how she has slept.\nCounselor: How was your week?\n"
    "Mara: I lay awake, and in the morning I was too tired to go to the lecture.\n"
    "Counselor: What went through your mind while you lay awake?\nMara:"
)

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def llama() -> Iterator[Llama]:
    model = Llama(path_of("smollm2"))
    yield model
    model.close()


def say(
    llama: Llama, prompt: str = PROMPT, *, seed: int = 7, temperature: float = 0.8
) -> Generated:
    return llama.complete(prompt, max_tokens=12, temperature=temperature, seed=seed, n_probs=1)


def forget_and_say(llama: Llama, prompt: str, temperature: float = 0.8) -> Generated:
    """Asked after something that shares no token with it."""
    llama.complete("\n\n123", max_tokens=1, temperature=0, seed=0)
    return say(llama, prompt, temperature=temperature)


def test_a_known_fact(llama: Llama) -> None:
    said = llama.complete(
        "The capital of France is", max_tokens=1, temperature=0, seed=0, n_probs=3
    )
    assert said.text == " Paris"
    assert (said.tokens_in, said.tokens_out, said.end) == (5, 1, "length")
    assert said.tokens[0].text == " Paris" and said.tokens[0].logprob > -1
    assert len(said.tokens[0].top) == 3 and said.tokens[0].top[0] == (
        " Paris",
        said.tokens[0].logprob,
    )


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_the_cache_changes_no_bit(llama: Llama, temperature: float) -> None:
    cold = forget_and_say(llama, PROMPT, temperature)
    assert cold.tokens_cached == 0
    warm = say(llama, temperature=temperature)
    assert warm.tokens_cached == warm.tokens_in - 1
    assert (warm.text, warm.tokens) == (cold.text, cold.tokens)
    for kept in (30, 100, 201, len(PROMPT) - 7):
        say(llama, PROMPT[:kept] + " and then something else")
        partly = say(llama, temperature=temperature)
        assert 0 < partly.tokens_cached < partly.tokens_in - 1
        assert (partly.text, partly.tokens) == (cold.text, cold.tokens)


@each("prompt", [PROMPT, "One day a boy", "Sleep, he said, is", "The rain fell on the roof and"])
def test_what_was_generated_may_be_cached_too(llama: Llama, prompt: str) -> None:
    longer = prompt + say(llama, prompt).text + "\nCounselor:"
    warm = say(llama, longer)
    cold = forget_and_say(llama, longer)
    assert warm.tokens_cached > cold.tokens_cached == 0
    assert (warm.text, warm.tokens) == (cold.text, cold.tokens)


def test_the_number_of_threads_changes_no_bit(llama: Llama) -> None:
    prompt = "She could not sleep because"
    other = Llama(path_of("smollm2"), threads=llama.threads + 1, context_tokens=256)
    other_said = other.complete(prompt, max_tokens=2, temperature=0, seed=0, n_probs=5)
    other.close()
    assert (
        other_said.tokens
        == llama.complete(prompt, max_tokens=2, temperature=0, seed=0, n_probs=5).tokens
    )


def test_seeds_differ_and_repeat(llama: Llama) -> None:
    texts = [
        say(llama, seed=seed).text
        for seed in (1, 2, 3, 1, RANDOM_SEED, RANDOM_SEED, 1 + 2**40 * RANDOM_SEED)
    ]
    assert len(set(texts[:3])) > 1
    assert texts[3] == texts[0] == texts[6]
    assert texts[4] == texts[5], "the seed that means 'at random' to llama.cpp must not reach it"


def test_stop_ends_the_text_and_is_left_out(llama: Llama) -> None:
    said = llama.complete("1, 2, 3, 4,", max_tokens=30, temperature=0, seed=0, stop=["7"])
    assert said.text.strip() == "5, 6,"
    assert said.end == "stop"


def test_grammars(llama: Llama) -> None:
    options = (" joy", " sadness", ' "odd" \\ name')
    for seed in range(3):
        said = llama.complete(
            "She feels",
            max_tokens=20,
            temperature=2,
            seed=seed,
            grammar=grammar_of_options(options),
        )
        assert said.text in options and said.end == "stop"
    schema = {
        "type": "object",
        "properties": {"sad": {"type": "boolean"}},
        "required": ["sad"],
        "additionalProperties": False,
    }
    said = llama.complete(
        "As JSON:", max_tokens=60, temperature=0, seed=0, grammar=grammar_of_schema(schema)
    )
    assert said.text.lstrip().startswith("{")


def test_chat(llama: Llama) -> None:
    said = llama.complete(
        "Say hello.",
        chat=Chat(system="You are brief."),
        max_tokens=16,
        temperature=0,
        seed=0,
        n_probs=2,
    )
    assert "hello" in said.text.lower()
    assert len(said.tokens) > 0 and len(said.tokens[0].top) == 2


def test_likelihood_prefers_what_fits(llama: Llama) -> None:
    fits = llama.loglikelihood(PROMPT, " I kept thinking about the exam and could not stop.")
    odd = llama.loglikelihood(PROMPT, " Purple telephones calculate under seven bananas.")
    assert fits is not None and odd is not None
    assert odd + 1 < fits < 0
    assert (
        llama.loglikelihood(PROMPT, " I kept thinking about the exam and could not stop.") == fits
    )
    assert llama.loglikelihood(PROMPT, "") is None
    assert llama.loglikelihood(PROMPT, ' He said "no",\n\\and é 你 🙂') is not None


def test_likelihood_is_that_of_the_generated_tokens(llama: Llama) -> None:
    free = llama.complete(PROMPT, max_tokens=8, temperature=0, seed=0, n_probs=1)
    mean = sum(token.logprob for token in free.tokens) / len(free.tokens)
    assert llama.loglikelihood(PROMPT, free.text) == pytest.approx(mean, abs=1e-9)


def test_a_prompt_that_is_too_long(llama: Llama) -> None:
    with pytest.raises(Failure, match="exceeds the available context size"):
        say(llama, "word " * 3000)


def test_a_wrong_grammar(llama: Llama) -> None:
    with pytest.raises(Failure, match="grammar"):
        llama.complete("a", max_tokens=2, temperature=0, seed=0, grammar="root ::= (((")


def test_threads_wait_for_each_other_and_others_go_on(llama: Llama) -> None:
    alone = {seed: say(llama, seed=seed).text for seed in (1, 2, 3)}
    got: dict[int, str] = {}

    def ask(seed: int) -> None:
        got[seed] = say(llama, seed=seed).text

    askers = [threading.Thread(target=ask, args=(seed,)) for seed in alone]
    for asker in askers:
        asker.start()
    turns = 0
    while any(asker.is_alive() for asker in askers):
        time.sleep(0.001)
        turns += 1
    assert got == alone
    assert turns > 10, "the interpreter lock is free while the model computes"


def test_closing(llama: Llama) -> None:
    other = Llama(path_of("smollm2"), context_tokens=256)
    other.close()
    other.close()
    with pytest.raises(ModelError, match="has been closed"):
        say(other)


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "no.gguf"
    path.write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"no\.gguf: not a model.*fetches pinned ones"):
        Llama(path)


def test_the_interpreter_ends_without_close_and_without_a_word() -> None:
    script = (
        "from simcounsel.llm.llama import Llama; from simcounsel.llm.weights import path_of\n"
        "kept = Llama(path_of('smollm2'))\n"
        "print(kept.complete('The capital of France is', max_tokens=1, temperature=0, seed=0).text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == " Paris\n"
    assert done.stderr == ""


def test_threads_are_between_one_and_four() -> None:
    assert 1 <= default_threads() <= 4
