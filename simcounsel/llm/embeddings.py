"""Texts become unit vectors: MiniLM on the CPU, or hashed features where no model is wanted.

The vector of a text does not depend on the texts beside it, so a log does not depend on how
its requests were batched.
"""

import asyncio
import hashlib
import re
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simcounsel.llm.weights import Progress, path_of

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

Vectors = NDArray[np.float32]

MAX_TOKENS = 256
"""The longest text of all-MiniLM-L6-v2's training, [CLS] and [SEP] included; the rest is cut
off.
"""
BATCH = 32


class MiniLM:
    """all-MiniLM-L6-v2 with int8 weights, mean pooling; 384 dimensions.

    The weights are fetched and loaded on the first `embed`. In this file the int8 weights are
    widened before the multiplication and activations stay float32 (no dynamic quantisation), so
    padding and neighbours change no bit of a vector; `test_embeddings.py` holds it to that.
    threads: of one inference. Two threads give the same bits as one.
    """

    name = "embedded"
    dimensions = 384

    def __init__(
        self,
        *,
        model: Path | None = None,
        tokenizer: Path | None = None,
        threads: int = 2,
        progress: Progress | None = None,
    ) -> None:
        self._paths = (model, tokenizer)
        self._threads = threads
        self._progress = progress
        self._lock = threading.Lock()
        self._loaded: tuple[InferenceSession, Tokenizer] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (len(texts), 384). Raises WeightsError when there are no
        weights.
        """
        return await asyncio.to_thread(self.embed_now, tuple(texts))

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """The same without an event loop; callers in several threads wait for each other."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        with self._lock:
            session, tokenizer = self._load()
            encoded = tokenizer.encode_batch(list(texts))
            order = sorted(range(len(encoded)), key=lambda index: len(encoded[index].ids))
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                vectors[rows] = _pooled(session, [encoded[row] for row in rows])
        return vectors

    async def close(self) -> None:
        """Free the model; the next `embed` would load it again."""
        await asyncio.to_thread(self._free)

    def _free(self) -> None:
        with self._lock:
            self._loaded = None

    def _load(self) -> "tuple[InferenceSession, Tokenizer]":
        if self._loaded is None:
            model, tokenizer = self._paths
            model = model or path_of("minilm", self._progress)
            tokenizer = tokenizer or path_of("minilm-tokenizer", self._progress)
            self._loaded = (_session(model, self._threads), _tokenizer(tokenizer))
        return self._loaded


class HashEmbeddings:
    """Signed feature hashing of lowercase words and their character trigrams; for tests and
    benchmarks.

    Texts that share words or stems are near each other; meaning plays no part. Weinberger et al.
    2009.
    """

    name = "scripted"

    def __init__(self, dimensions: int = 64) -> None:
        self.dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (len(texts), dimensions); never fails."""
        return self.embed_now(texts)

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        """The same without an event loop."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = _hashed(text, self.dimensions)
        return vectors

    async def close(self) -> None:
        """Nothing to let go of."""


def _session(path: Path, threads: int) -> "InferenceSession":
    """Threads that wait do not spin: they share their cores with the language model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _tokenizer(path: Path) -> "Tokenizer":
    """The file itself asks for 128 tokens, always padded; the model's own limit is 256."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _pooled(session: "InferenceSession", encoded: "list[Encoding]") -> Vectors:
    """Mean over each text's own tokens, then length 1; shape (len(encoded), 384)."""
    longest = max(len(one.ids) for one in encoded)
    ids = np.zeros((len(encoded), longest), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, one in enumerate(encoded):
        ids[row, : len(one.ids)] = one.ids
        mask[row, : len(one.ids)] = 1
    feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    states: Vectors = session.run(["last_hidden_state"], feeds)[0]
    means = [
        states[row, : len(one.ids)].mean(axis=0, dtype=np.float64)
        for row, one in enumerate(encoded)
    ]
    return np.stack([mean / np.linalg.norm(mean) for mean in means]).astype(np.float32)


def _hashed(text: str, dimensions: int) -> Vectors:
    """A text without words, or whose features cancel, gets the first axis."""
    total = np.zeros(dimensions, dtype=np.float64)
    for word in re.findall(r"\w+", text.lower()):
        total += _hashed_word(word, dimensions)
    length = np.linalg.norm(total)
    if length == 0:
        total[0] = length = np.float64(1)
    return (total / length).astype(np.float32)


@cache
def _hashed_word(word: str, dimensions: int) -> NDArray[np.float64]:
    """One word: itself and its trigrams (with its ends marked), half the weight each; read-only."""
    framed = f"^{word}$"
    trigrams = [framed[start : start + 3] for start in range(len(framed) - 2)]
    vector = np.zeros(dimensions)
    for feature, weight in [
        (f"w:{word}", 1.0),
        *((f"t:{one}", 1 / np.sqrt(len(trigrams))) for one in trigrams),
    ]:
        digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[(number >> 1) % dimensions] += weight if number & 1 else -weight
    vector.flags.writeable = False
    return vector
