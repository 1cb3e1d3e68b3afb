"""How likely danger is in a line, by a small classifier beside the detector's words: a gate that
decides when a model is asked.

Five logistic regressions (any danger, and each danger against all else) hear pieces of words, words
and, where there is one, the vector of the line by MiniLM; one more weighs them against what the
detector's words made of the line. They were learned by `simcounsel.safety.learning.train` from
lines written for it, the last on what the five said of batches that they had not seen, so that its
probabilities are calibrated for lines such as those: half of them with danger, most others hard.
Everyday talk holds far less danger, so a probability is too high there; the thresholds were chosen
on it.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from simcounsel.safety.features import Block, pieces_and_words
from simcounsel.specs.vocabulary import DANGERS, Danger

HEADS = 1 + len(DANGERS)
"""Any danger, then each of DANGERS."""
DIMENSIONS = 384
"""Of MiniLM's vectors, which have length 1."""
VECTORS_BY = "embedded"
"""The name of the `embed` model whose vectors it knows: MiniLM."""
VECTOR_WEIGHT = 2.0
"""A vector is multiplied by this beside the features, of which each block has length 1."""
LEARNED = ("en", "zh")
"""Languages with lines to learn from."""
WITH_VECTORS = ("en",)
"""Those that MiniLM knows."""
BLOCKS = ("pieces", "words")
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Chance:
    """What the classifier says of a line."""

    danger: float
    """The probability of any danger, from 0 to 1."""
    kind: Danger
    """The likeliest, if there is any."""
    asks: bool
    """Whether a model is to be asked."""
    flags: bool
    """Whether it counts as danger without a model."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Gate:
    """What was learned for a language, with vectors or without."""

    rarity: tuple[Floats, Floats]
    """Of each feature of the two blocks: its inverse document frequency, shape (BUCKETS,)."""
    weights: tuple[Floats, Floats]
    """Of each feature for each head, shape (HEADS, BUCKETS)."""
    of_vector: Floats | None
    """Of the vector for each head, shape (HEADS, DIMENSIONS)."""
    bias: Floats
    """Of each head."""
    last: Floats
    """Of the last regression: bias, then what `seen_together` makes of the rest."""
    ask: float
    """From this probability on a model is asked."""
    flag: float
    """From this one on the line counts as danger by itself."""

    def log_odds(self, text: str, vector: NDArray[np.float32] | None = None) -> Floats:
        """Of each head, shape (HEADS,)."""
        odds = self.bias.copy()
        for block, rarity, weights in zip(
            pieces_and_words(text), self.rarity, self.weights, strict=True
        ):
            odds += weights[:, block] @ weighed(block, rarity)
        if self.of_vector is not None and vector is not None:
            odds += self.of_vector @ (VECTOR_WEIGHT * vector.astype(np.float64))
        return odds

    def chance(self, text: str, said: Floats, vector: NDArray[np.float32] | None = None) -> Chance:
        """said: what the words made of it (`features.words_say`). vector: of the line, for the gate
        that was learned with vectors.
        """
        odds = self.log_odds(text, vector)
        total = float(self.last @ np.concatenate([[1.0], seen_together(odds[None], said[None])[0]]))
        danger = float(1 / (1 + np.exp(-total)))
        return Chance(
            danger=danger,
            kind=DANGERS[int(np.argmax(odds[1:]))],
            asks=danger >= self.ask,
            flags=danger >= self.flag,
        )


def weighed(block: Block, rarity: Floats) -> Floats:
    """The values of the features that occur, of length 1 together, or all 0 where none of them was
    ever seen.
    """
    worth = rarity[block]
    return worth / float(np.linalg.norm(worth) or 1.0)


def seen_together(odds: Floats, said: Floats) -> Floats:
    """What the last regression is given, for each line: the heads' log-odds, the highest of those
    of one danger, and what the words say. odds: shape (lines, HEADS); said: (lines, OF_WORDS).
    """
    return np.column_stack([odds, odds[:, 1:].max(axis=1), said])


@cache
def gate_of(language: str, *, vectors: bool = False) -> Gate | None:
    """The gate of a language by its code; None where nothing was learned for it. vectors: the one
    that is given vectors too, where the language has one.
    """
    if language not in LEARNED:
        return None
    vectors = vectors and language in WITH_VECTORS
    with (
        as_file(files("simcounsel.safety.learning").joinpath(f"{language}.npz")) as path,
        np.load(path, allow_pickle=False) as file,
    ):
        kept = {name: file[name] for name in file.files}
    name = "beside" if vectors else "alone"

    def numbers(key: str) -> Floats:
        return np.asarray(kept[key] * kept[f"{key}_unit"], dtype=np.float64)

    ask, flag = kept[f"{name}_limits"]
    return Gate(
        rarity=(numbers("rarity_pieces"), numbers("rarity_words")),
        weights=(numbers(f"{name}_pieces"), numbers(f"{name}_words")),
        of_vector=numbers(f"{name}_vector") if vectors else None,
        bias=kept[f"{name}_bias"],
        last=kept[f"{name}_last"],
        ask=float(ask),
        flag=float(flag),
    )
