"""Learn the gate's numbers from the lines beside this file:

    python -m simcounsel.safety.learning.train

Needs scikit-learn (pip install 'simcounsel[analysis]') and MiniLM's weights, takes two minutes and
writes LANGUAGE.npz, the same each time on one machine. Prints how the gate would have heard batches
that it had not seen: a batch is one writer's manner, so all is split by batch, never by line.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from simcounsel.llm.embeddings import HashEmbeddings, MiniLM
from simcounsel.safety.detector import as_learned, heard_by_words, said_by
from simcounsel.safety.features import BUCKETS, pieces_and_words
from simcounsel.safety.gate import (
    BLOCKS,
    HEADS,
    LEARNED,
    VECTOR_WEIGHT,
    WITH_VECTORS,
    seen_together,
)
from simcounsel.specs.vocabulary import DANGERS

HERE = Path(__file__).parent
FOLDS = 8
OF_A_COPY = 0.5
"""The weight of a line's copy with slips of the pen."""
STRENGTH = 10.0
"""C of the heads; of 4, 10 and 30 all did as well."""
ASKED, FLAGGED = 0.095, 0.01
"""The shares of harmless everyday lines of which a model is asked, and which count as danger."""

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


def read(language: str) -> Lines:
    """All batches of a language."""
    rows: list[dict[str, str]] = []
    batches: list[int] = []
    for number, file in enumerate(sorted((HERE / "lines").glob(f"{language}_*.jsonl"))):
        some = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        rows += some
        batches += [number] * len(some)
    names = ("none", *DANGERS)
    return Lines(
        texts=[row["text"] for row in rows],
        dangers=np.array([names.index(row["danger"]) for row in rows]),
        everyday=np.array([row["form"] == "everyday" for row in rows]),
        batches=np.array(batches),
    )


def fingerprint(lines: Lines) -> str:
    """SHA-256 of what is learned from: by it a file of numbers is known to belong to the lines."""
    said = json.dumps([lines.texts, lines.dangers.tolist(), lines.everyday.tolist()])
    return hashlib.sha256(said.encode()).hexdigest()


def with_slips(text: str, chance: Random) -> str:
    """A line as somebody types it in haste: small letters, no apostrophes, letters left out,
    swapped, doubled or wrong.
    """
    text = text.lower() if chance.random() < 0.6 else text
    text = text.replace("'", "") if chance.random() < 0.6 else text
    words = (text.rstrip(".") if chance.random() < 0.5 else text).split()
    for place, word in enumerate(words):
        if len(word) > 3 and chance.random() < 0.25:
            at = chance.randrange(1, len(word) - 1)
            words[place] = chance.choice(
                (
                    word[:at] + word[at + 1 :],
                    word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :],
                    word[: at + 1] + word[at:],
                    word[:at] + chance.choice("aeiourstln") + word[at + 1 :],
                )
            )
    return " ".join(words)


class Table:
    """The lines, then their copies with slips, as features."""

    def __init__(self, texts: list[str], vectors: NDArray[np.float32]) -> None:
        found = [pieces_and_words(text) for text in texts]
        self.blocks = [_ones([one[block] for one in found]) for block in range(len(BLOCKS))]
        self.vectors = csr_matrix(vectors * VECTOR_WEIGHT)

    def rarity(self, rows: Rows) -> list[Floats]:
        """The inverse document frequency of each feature, 0 of one that the rows never have."""
        times = [np.asarray(block[rows].sum(axis=0)).ravel() for block in self.blocks]
        return [np.where(n > 0, np.log((1 + len(rows)) / (1 + n)) + 1, 0.0) for n in times]

    def values(self, rows: Rows, rarity: list[Floats], *, vectors: bool) -> csr_matrix:
        """Each block of a row of length 1, and its vector."""
        parts = []
        for block, rare in zip(self.blocks, rarity, strict=True):
            values = block[rows].multiply(rare).tocsr()
            lengths = np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())
            parts.append(values.multiply(1 / np.where(lengths == 0, 1.0, lengths)[:, None]))
        return hstack([*parts, self.vectors[rows]] if vectors else parts).tocsr()


def _ones(columns: list[Rows]) -> csr_matrix:
    starts = np.cumsum([0, *map(len, columns)])
    numbers = np.concatenate(columns)
    return csr_matrix((np.ones(len(numbers)), numbers, starts), shape=(len(columns), BUCKETS))


@dataclass(frozen=True, kw_only=True)
class Heads:
    """The five regressions, learned from some lines and their copies."""

    rarity: list[Floats]
    coef: Floats
    """Shape (HEADS, features)."""
    bias: Floats
    vectors: bool

    def log_odds(self, table: Table, rows: Rows) -> Floats:
        """Shape (rows, HEADS)."""
        values = table.values(rows, self.rarity, vectors=self.vectors)
        return np.asarray(values @ self.coef.T + self.bias)


def heads_of(table: Table, lines: Lines, some: Rows, *, vectors: bool) -> Heads:
    """Learn them from some of the lines, by number, and their copies."""
    rows = np.concatenate([some, some + len(lines.texts)])
    weights = np.repeat([1.0, OF_A_COPY], len(some))
    labels, rarity = np.tile(lines.dangers[some], 2), table.rarity(some)
    values = table.values(rows, rarity, vectors=vectors)
    learned = [
        LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0).fit(
            values, labels > 0 if head == 0 else labels == head, sample_weight=weights
        )
        for head in range(HEADS)
    ]
    return Heads(
        rarity=rarity,
        coef=np.concatenate([one.coef_ for one in learned]),
        bias=np.concatenate([one.intercept_ for one in learned]),
        vectors=vectors,
    )


def learn(language: str) -> None:
    """Learn, tell how it did on batches that it had not seen, and write what was learned."""
    lines, chance = read(language), Random(5)
    texts = lines.texts + [with_slips(text, chance) for text in lines.texts]
    known_by_minilm = language in WITH_VECTORS
    vectors_of = MiniLM().embed_now if known_by_minilm else HashEmbeddings(1).embed_now
    table = Table([as_learned(text, language) for text in texts], vectors_of(texts))
    heard = [heard_by_words(text, language) for text in lines.texts]
    said = np.stack([said_by(one) for one in heard])
    open_ = np.array([one.floor != "none" for one in heard])
    everything = np.arange(len(lines.texts))
    kept: dict[str, NDArray[np.generic]] = {"lines": np.array(fingerprint(lines))}
    for name, vectors in (("alone", False), ("beside", True))[: 1 + known_by_minilm]:
        folds = list(GroupKFold(FOLDS).split(everything, groups=lines.batches))
        odds = np.zeros((len(everything), HEADS))
        for known, new in folds:
            odds[new] = heads_of(table, lines, known, vectors=vectors).log_odds(table, new)
        together, guesses = seen_together(odds, said), np.zeros(len(everything))
        for known, new in folds:
            last = _last(together[known], lines.dangerous[known])
            guesses[new] = last.predict_proba(together[new])[:, 1]
        last = _last(together, lines.dangerous)
        heads = heads_of(table, lines, everything, vectors=vectors)
        kept |= _kept(name, heads) | {
            f"{name}_bias": heads.bias,
            f"{name}_last": np.concatenate([last.intercept_, last.coef_[0]]),
            f"{name}_limits": told(language, name, guesses, lines, open_),
        }
    np.savez_compressed(HERE / f"{language}.npz", **kept)  # type: ignore[arg-type]


def _last(together: Floats, danger: NDArray[np.bool_]) -> LogisticRegression:
    return LogisticRegression(C=1.0, max_iter=2000).fit(together, danger)


def told(
    language: str, name: str, guesses: Floats, lines: Lines, open_: NDArray[np.bool_]
) -> Floats:
    """Print how it did on what it had not seen; the thresholds to ask and to flag.

    open_: what the words alone flag.
    """
    danger, calm = lines.dangerous, lines.everyday & ~lines.dangerous
    typer.echo(
        f"{language}, {name}: {len(danger)} lines, {danger.sum()} with danger, {calm.sum()} of"
        f" everyday; AUC {roc_auc_score(danger, guesses):.3f}"
    )
    highest = np.sort(guesses[calm])[::-1]
    for share in (0.0, 0.002, 0.005, FLAGGED, 0.02, 0.03, 0.05, ASKED):
        limit = highest[int(len(highest) * share)]
        flagged = (guesses > limit) | open_
        typer.echo(
            f"  above {limit:.3f} {(guesses > limit)[calm].mean():6.1%} of everyday;"
            f" with open words {flagged[calm].mean():6.1%} of everyday,"
            f" recall {flagged[danger].mean():.3f}, precision {danger[flagged].mean():.3f}"
        )
    return np.array([highest[int(len(highest) * share)] for share in (ASKED, FLAGGED)])


def _kept(name: str, heads: Heads) -> dict[str, NDArray[np.generic]]:
    """Rounded to a byte each."""
    some = {f"rarity_{block}": heads.rarity[number] for number, block in enumerate(BLOCKS)}
    for number, block in enumerate((*BLOCKS, *(["vector"] if heads.vectors else []))):
        some[f"{name}_{block}"] = heads.coef[:, number * BUCKETS : (number + 1) * BUCKETS]
    kept: dict[str, NDArray[np.generic]] = {}
    for key, numbers in some.items():
        unit = float(np.abs(numbers).max() / 127)
        kept |= {key: np.round(numbers / unit).astype(np.int8), f"{key}_unit": np.array(unit)}
    return kept


if __name__ == "__main__":
    for code in LEARNED:
        learn(code)
