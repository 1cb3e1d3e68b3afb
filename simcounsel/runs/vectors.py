"""Vectors as text, for a line of calls.jsonl."""

import base64

import numpy as np


def encode_vectors(vectors: np.ndarray) -> str:
    """Vectors as base64 of little-endian float16, for a line of calls.jsonl."""
    return base64.b64encode(vectors.astype("<f2").tobytes()).decode()


def decode_vectors(text: str, count: int) -> np.ndarray:
    """The inverse of `encode_vectors`: float32, shape (count, dimensions)."""
    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32).reshape(count, -1)
