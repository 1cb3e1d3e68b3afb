"""What the gate's numbers are learned by: regressions and ratios over features, a kernel machine
over vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from simcounsel.danger.hearing.features import BUCKETS, pieces_and_words
from simcounsel.danger.hearing.gate import BLOCKS, HEADS, Kernel

OF_A_COPY = 0.5
"""The weight of a line's copy with slips of the pen."""
STRENGTH = 10.0
"""C of the heads; of 4, 10 and 30 all did as well."""
FIRMNESS, NEARNESS = 4.0, 2.0
"""C and gamma of the kernel machine; 2 and 1, 10 and 1 did nearly as well, a regression on the
vectors found 6 in 100 fewer lines at the threshold to ask.
"""
FEW = 0.3
"""Added to every count before a ratio is taken."""

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of a language."""

    texts: list[str]
    """As written."""
    dangers: Rows
    """0 for none, else 1 + the place in DANGERS."""
    everyday: NDArray[np.bool_]
    """Harmless, and no hard one."""
    batches: Rows
    """Which file each is from."""

    @property
    def dangerous(self) -> NDArray[np.bool_]:
        """Which have danger."""
        return self.dangers > 0


class Table:
    """The lines, then their copies with slips, as features."""

    def __init__(self, texts: list[str]) -> None:
        found = [pieces_and_words(text) for text in texts]
        self.blocks = [_ones([one[block] for one in found]) for block in range(len(BLOCKS))]

    def rarity(self, rows: Rows) -> list[Floats]:
        """The inverse document frequency of each feature, 0 of one that the rows never have."""
        times = [np.asarray(block[rows].sum(axis=0)).ravel() for block in self.blocks]
        return [np.where(n > 0, np.log((1 + len(rows)) / (1 + n)) + 1, 0.0) for n in times]

    def values(self, rows: Rows, rarity: list[Floats]) -> csr_matrix:
        """Each block of a row of length 1."""
        parts = []
        for block, rare in zip(self.blocks, rarity, strict=True):
            values = block[rows].multiply(rare).tocsr()
            lengths = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
            parts.append(values.multiply(1 / np.where(lengths == 0, 1.0, lengths)[:, None]))
        return hstack(parts).tocsr()

    def ratio(self, rows: Rows, danger: NDArray[np.bool_]) -> list[Floats]:
        """Of each feature: the log of how much more often those of the rows with danger have it
        than the others, 0 of one that the rows never have.
        """
        found = []
        for block in self.blocks:
            some = block[rows]
            mine, others = (np.asarray(some[of].sum(axis=0)).ravel() for of in (danger, ~danger))
            shares = [(n + FEW) / (n + FEW).sum() for n in (mine, others)]
            found.append(np.where(mine + others > 0, np.log(shares[0] / shares[1]), 0.0))
        return found


def _ones(columns: list[Rows]) -> csr_matrix:
    starts = np.cumsum([0, *map(len, columns)])
    numbers = np.concatenate(columns)
    return csr_matrix((np.ones(len(numbers)), numbers, starts), shape=(len(columns), BUCKETS))


@dataclass(frozen=True, kw_only=True)
class Heads:
    """The five regressions and the ratios, learned from some lines and their copies."""

    rarity: list[Floats]
    coef: Floats
    """Shape (HEADS, features)."""
    bias: Floats
    ratio: list[Floats]

    def log_odds(self, table: Table, rows: Rows) -> Floats:
        """Shape (rows, HEADS + 1): of the heads, and the sums of the ratios."""
        odds = table.values(rows, self.rarity) @ self.coef.T + self.bias
        sums = sum(
            block[rows] @ ratio for block, ratio in zip(table.blocks, self.ratio, strict=True)
        )
        return np.column_stack([odds, sums])


def heads_of(table: Table, lines: Lines, some: Rows) -> Heads:
    """Learn them from some of the lines, by number, and their copies."""
    rows = np.concatenate([some, some + len(lines.texts)])
    weights = np.repeat([1.0, OF_A_COPY], len(some))
    labels, rarity = np.tile(lines.dangers[some], 2), table.rarity(some)
    values = table.values(rows, rarity)
    learned = [
        LogisticRegression(C=STRENGTH, solver="liblinear", tol=1e-3, random_state=0).fit(
            values, labels > 0 if head == 0 else labels == head, sample_weight=weights
        )
        for head in range(HEADS)
    ]
    return Heads(
        rarity=rarity,
        coef=np.concatenate([one.coef_ for one in learned]),
        bias=np.concatenate([one.intercept_ for one in learned]),
        ratio=table.ratio(some, lines.dangerous[some]),
    )


def kernel_of(vectors: Floats, danger: NDArray[np.bool_]) -> Kernel:
    """Learn the machine that compares vectors."""
    learned = SVC(C=FIRMNESS, gamma=NEARNESS).fit(vectors, danger)
    return Kernel(
        lines=learned.support_vectors_,
        weights=learned.dual_coef_[0],
        bias=float(learned.intercept_[0]),
        gamma=NEARNESS,
    )
