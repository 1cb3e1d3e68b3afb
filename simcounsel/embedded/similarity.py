"""Nearness of meaning: unit vectors of texts, kept, and a nearest-neighbour probe over labelled
sentences.
"""

import threading
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

KEPT = 20_000


class Similarity:
    """Vectors of texts from the embedding model, each text computed once."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known: dict[str, np.ndarray] = {}
        self._lock = threading.Lock()

    def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, shape (len(texts), dimensions)."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._known]
            if missing:
                if len(self._known) > KEPT:
                    self._known.clear()
                    missing = list(dict.fromkeys(texts))
                self._known.update(zip(missing, self._model.embed_now(missing), strict=True))
            return np.stack([self._known[text] for text in texts])

    def nearness(self, text: str, others: Sequence[str]) -> np.ndarray:
        """Cosine of a text to each of others, shape (len(others),)."""
        if not others:
            return np.zeros(0, dtype=np.float32)
        product: np.ndarray = self.vectors(others) @ self.vectors((text,))[0]
        return product

    def nearest(self, text: str, others: Sequence[str]) -> float:
        """The largest of those cosines; 0 when there are none."""
        return float(self.nearness(text, others).max()) if others else 0.0


class Probe:
    """Labels by the nearest labelled sentences, weighted by exp(sharpness * cosine)."""

    def __init__(
        self,
        similarity: Similarity,
        labelled: Sequence[tuple[str, Hashable]],
        neighbours: int = 8,
        sharpness: float = 12.0,
    ) -> None:
        self._similarity = similarity
        self._texts = [text for text, _ in labelled]
        self._labels = [label for _, label in labelled]
        self._neighbours = neighbours
        self._sharpness = sharpness

    def weights(self, text: str) -> dict[Any, float]:
        """Share of each label among the neighbours; shares add up to 1."""
        near = self._similarity.nearness(text, self._texts)
        best = np.argsort(-near, kind="stable")[: self._neighbours]
        weight = np.exp(self._sharpness * (near[best] - near[best[0]]))
        shares: dict[Any, float] = {}
        for index, share in zip(best, weight / weight.sum(), strict=True):
            shares[self._labels[index]] = shares.get(self._labels[index], 0.0) + float(share)
        return shares
