"""Vectors: of length 1, the same in whatever company, and near where meaning is near."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from simcounsel.llm.embeddings import HashEmbeddings, MiniLM, Vectors

SENTENCES = (
    "I could not fall asleep last night.",
    "My insomnia keeps me awake until dawn.",
    "The exam in mathematics went badly.",
    "He failed his algebra test.",
    "We cooked soup and ate dinner together.",
    "Our family shared an evening meal.",
)
NEAREST = (1, 0, 3, 2, 5, 4)
"""Of each sentence, by hand: the one that means nearly the same, in other words."""

COMPANY = (
    *SENTENCES,
    "",
    "a",
    "é 你好 🙂",
    "word " * 40,
    "a much longer text, which is cut off " * 60,
)


def nearest(vectors: Vectors) -> tuple[int, ...]:
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1)
    return tuple(int(one) for one in likeness.argmax(axis=1))


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


@pytest.mark.weights
def test_nearest_neighbours_are_those_of_a_person(minilm: MiniLM) -> None:
    assert nearest(minilm.embed_now(SENTENCES)) == NEAREST


@pytest.mark.weights
def test_shape_type_and_length(minilm: MiniLM) -> None:
    vectors = asyncio.run(minilm.embed(COMPANY))
    assert vectors.shape == (len(COMPANY), 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert minilm.embed_now([]).shape == (0, 384)


@pytest.mark.weights
def test_company_changes_no_bit(minilm: MiniLM) -> None:
    alone = np.vstack([minilm.embed_now([text]) for text in COMPANY])
    together = minilm.embed_now(COMPANY)
    assert (together.astype(np.float16) == alone.astype(np.float16)).all()
    assert (together == alone).all()
    backwards = minilm.embed_now(COMPANY[::-1])[::-1]
    assert (backwards == alone).all()


@pytest.mark.weights
def test_many_at_once_and_after_closing(minilm: MiniLM) -> None:
    async def both() -> list[Vectors]:
        return list(await asyncio.gather(minilm.embed(SENTENCES), minilm.embed(SENTENCES[:1])))

    many, one = asyncio.run(both())
    assert (many[0] == one[0]).all()
    asyncio.run(minilm.close())
    assert (minilm.embed_now(SENTENCES[:1]) == one).all()


@pytest.mark.weights
def test_threads_change_no_bit(minilm: MiniLM) -> None:
    assert (MiniLM(threads=1).embed_now(COMPANY) == minilm.embed_now(COMPANY)).all()


@pytest.mark.weights
def test_at_most_256_tokens_count(minilm: MiniLM) -> None:
    first, second = minilm.embed_now(["sleep " * 254 + "tail", "sleep " * 254 + "other ends"])
    assert (first == second).all()


def test_nothing_is_loaded_before_the_first_text() -> None:
    assert MiniLM(model=Path("/nowhere")).name == "embedded"


def test_hashed_vectors() -> None:
    model = HashEmbeddings()
    texts = ("The exam went badly.", "the EXAM went badly", "Soup for dinner", "", "...")
    vectors = asyncio.run(model.embed(texts))
    assert vectors.shape == (5, 64) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (vectors[0] == vectors[1]).all()
    assert vectors[0] @ vectors[2] < 0.5
    assert (HashEmbeddings().embed_now(texts[::-1])[::-1] == vectors).all()
    assert (vectors[3] == vectors[4]).all()


def test_hashed_vectors_are_those_of_every_process() -> None:
    vector = HashEmbeddings(8).embed_now(["the exam went badly"])[0]
    assert [round(float(one), 4) for one in vector] == GOLDEN


def test_shared_stems_are_near() -> None:
    one, two, other = HashEmbeddings().embed_now(
        ["sleeping badly", "sleeps badly", "mathematics homework"]
    )
    assert one @ two > one @ other + 0.2


GOLDEN = [-0.6292, 0.1995, -0.0309, -0.1995, -0.3989, -0.1995, 0.2205, 0.5254]
