"""Vectors of texts: MiniLM inside this process, and hashed words for tests."""

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

MOST_TOKENS = 256


class MiniLM:
    """all-MiniLM-L6-v2, int8 ONNX: 384 dimensions, mean over the tokens, unit length.

    Texts are computed one by one: with dynamic int8 quantisation a text's vector would depend on
    what else is in its batch, and the log must not.
    """

    name = "embedded"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32, shape (len(texts), 384)."""
        with self._lock:
            if self._session is None:
                self._open()
            return np.stack([self._vector(text) for text in texts])

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The same, in a thread."""
        return await asyncio.to_thread(self.vectors, texts)

    async def close(self) -> None:
        """Free the model."""
        self._session = None

    def _open(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        from simcounsel.llm.weights import path_of

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path_of("minilm")), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(path_of("minilm-tokenizer")))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def _vector(self, text: str) -> np.ndarray:
        encoded = self._tokenizer.encode(text)
        ids = np.array([encoded.ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = {part.name: given[part.name] for part in self._session.get_inputs()}
        hidden = self._session.run(None, wanted)[0]
        mean = hidden[0].mean(axis=0) if hidden.ndim == 3 else hidden[0]
        unit: np.ndarray = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return unit


class HashEmbeddings:
    """Signed feature hashing of words and of their three-letter parts: instant, the same everywhere,
    and near only in spelling. For tests and benchmarks."""

    name = "scripted"

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32, shape (len(texts), dimensions)."""
        made = np.stack([self._sum(text) for text in texts])
        norms: np.ndarray = np.linalg.norm(made, axis=1, keepdims=True)
        unit: np.ndarray = made / np.maximum(norms, 1e-12)
        return unit

    async def close(self) -> None:
        """Nothing to free."""

    def _sum(self, text: str) -> np.ndarray:
        total = np.zeros(self._dimensions, dtype=np.float32)
        for word in text.lower().split():
            total += _hashed(word, self._dimensions)
        if not total.any():
            total[0] = 1
        return total


@lru_cache(maxsize=50_000)
def _hashed(word: str, dimensions: int) -> np.ndarray:
    """A word's signed features: itself and its trigrams."""
    made = np.zeros(dimensions, dtype=np.float32)
    for part in (word, *(word[i : i + 3] for i in range(len(word) - 2))):
        number = int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        made[number % dimensions] += 1 if number >> 63 else -1
    return made
