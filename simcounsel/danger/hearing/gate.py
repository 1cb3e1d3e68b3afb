"""How likely danger is in a line, by a small classifier beside the detector's words: a gate that
decides when a model is asked.

Five logistic regressions (any danger, and each danger against all else) hear pieces of words and
words, and the same features are counted as naive Bayes does; where there is a vector of the line by
MiniLM, a kernel machine compares it with those of the lines that it learned from. One more
regression weighs them against what the detector's words made of the line. They were learned by
`simcounsel.danger.hearing.learning.train` from lines written for it, the last on what the others
said of batches that they had not seen, so that its probabilities are calibrated for lines such as
those: half of them with danger, most others hard. Everyday talk holds far less danger, so a
probability is too high there; the thresholds were chosen on it.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from simcounsel.danger.hearing.features import Block, pieces_and_words
from simcounsel.specs.vocabulary import DANGERS, Danger

HEADS = 1 + len(DANGERS)
"""Any danger, then each of DANGERS."""
DIMENSIONS = 384
"""Of MiniLM's vectors, which have length 1."""
VECTORS_BY = "embedded"
"""The name of the `embed` model whose vectors it knows: MiniLM."""
LEARNED = ("en", "zh")
"""Languages with lines to learn from."""
WITH_VECTORS = ("en",)
"""Those that MiniLM knows."""
BLOCKS = ("pieces", "words")
SURE = 0.95
"""From this probability on a line that is only in doubt waits for no second one: held out by batch,
4 in 1,000 harmless everyday lines reach it.
"""
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
class Kernel:
    """A support vector machine with a Gaussian kernel (Cortes and Vapnik 1995) over vectors."""

    lines: Floats
    """Vectors of lines that it learned from, shape (lines, DIMENSIONS)."""
    weights: Floats
    """Of each line: above 0 for danger."""
    bias: float
    gamma: float
    """How fast likeness falls with distance."""

    def says(self, vectors: NDArray[np.floating]) -> Floats:
        """Above 0 for danger, for each of the vectors, shape (n, DIMENSIONS), of length 1."""
        like = np.asarray(vectors, dtype=np.float64) @ self.lines.T
        far = 1 + (self.lines**2).sum(axis=1) - 2 * like
        said: Floats = np.exp(-self.gamma * far) @ self.weights + self.bias
        return said


@dataclass(frozen=True, kw_only=True, eq=False)
class Gate:
    """What was learned for a language, with vectors or without."""

    rarity: tuple[Floats, Floats]
    """Of each feature of the two blocks: its inverse document frequency, shape (BUCKETS,)."""
    weights: tuple[Floats, Floats]
    """Of each feature for each head, shape (HEADS, BUCKETS)."""
    ratio: tuple[Floats, Floats]
    """Of each feature: the log of how much more often lines with danger have it, shape
    (BUCKETS,).
    """
    kernel: Kernel | None
    """What compares vectors; None where it goes without."""
    bias: Floats
    """Of each head."""
    last: Floats
    """Of the last regression: bias, then what `seen_together` makes of the rest."""
    ask: float
    """From this probability on a model is asked."""
    flag: float
    """From this one on the line counts as danger by itself."""

    def log_odds(self, text: str) -> Floats:
        """Of each head, shape (HEADS,), and the sum of the ratios, in one row."""
        odds, ratio = self.bias.copy(), 0.0
        for place, block in enumerate(pieces_and_words(text)):
            odds += self.weights[place][:, block] @ weighed(block, self.rarity[place])
            ratio += float(self.ratio[place][block].sum())
        return np.append(odds, ratio)

    def chance(self, text: str, said: Floats, vector: NDArray[np.float32] | None = None) -> Chance:
        """said: what the words made of it (`features.words_say`). vector: of the line, for the gate
        that was learned with vectors.
        """
        odds, compared = self.log_odds(text), None
        if self.kernel is not None:
            assert vector is not None
            compared = self.kernel.says(vector[None])
        seen = seen_together(odds[None], said[None], compared)
        total = float(self.last @ np.concatenate([[1.0], seen[0]]))
        danger = float(1 / (1 + np.exp(-total)))
        return Chance(
            danger=danger,
            kind=DANGERS[int(np.argmax(odds[1:HEADS]))],
            asks=danger >= self.ask,
            flags=danger >= self.flag,
        )


def weighed(block: Block, rarity: Floats) -> Floats:
    """The values of the features that occur, of length 1 together, or all 0 where none of them was
    ever seen.
    """
    worth = rarity[block]
    return worth / float(np.linalg.norm(worth) or 1.0)


def seen_together(odds: Floats, said: Floats, compared: Floats | None) -> Floats:
    """What the last regression is given, for each line: the heads' log-odds and the sum of the
    ratios, the highest log-odds of one danger, what the words say, and what the kernel machine
    does. odds: shape (lines, HEADS + 1); said: (lines, OF_WORDS); compared: (lines,), or None where
    there are no vectors.
    """
    some = [odds, odds[:, 1:HEADS].max(axis=1), said]
    return np.column_stack(some if compared is None else [*some, compared])


@cache
def gate_of(language: str, *, vectors: bool = False) -> Gate | None:
    """The gate of a language by its code; None where nothing was learned for it. vectors: the one
    that is given vectors too, where the language has one.
    """
    if language not in LEARNED:
        return None
    vectors = vectors and language in WITH_VECTORS
    with (
        as_file(files("simcounsel.danger.hearing.learning").joinpath(f"{language}.npz")) as path,
        np.load(path, allow_pickle=False) as file,
    ):
        kept = {name: file[name] for name in file.files}
    name = "beside" if vectors else "alone"

    def numbers(key: str) -> Floats:
        return np.asarray(kept[key] * kept[f"{key}_unit"], dtype=np.float64)

    kernel = (
        Kernel(
            lines=numbers("kernel_lines"),
            weights=numbers("kernel_weights"),
            bias=float(kept["kernel_bias"]),
            gamma=float(kept["kernel_gamma"]),
        )
        if vectors
        else None
    )
    ask, flag = kept[f"{name}_limits"]
    return Gate(
        rarity=(numbers("rarity_pieces"), numbers("rarity_words")),
        weights=(numbers("heads_pieces"), numbers("heads_words")),
        ratio=(numbers("ratio_pieces"), numbers("ratio_words")),
        kernel=kernel,
        bias=kept["heads_bias"],
        last=kept[f"{name}_last"],
        ask=float(ask),
        flag=float(flag),
    )
