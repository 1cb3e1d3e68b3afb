"""Learn the scanners' numbers from the lines in `labelled/`, but for the test lines:

    python -m simcounsel.bots.scan.learning.train

Needs scikit-learn (pip install 'simcounsel[analysis]'), takes half a minute on one core and writes
LANGUAGE.npz, the same each time on one machine. Prints, for each mark, how its rule, its classifier
and what was chosen did on blocks of lines that the classifier had not seen.

Lines of one situation stand together, so lines are split by blocks of neighbours, never one by one.
The rules were tuned on the `tune` lines, which therefore say nothing of a rule: the choice between
rule and classifier is made on the `train` lines alone.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from simcounsel.bots.scan.checked import LABEL_OF, labelled
from simcounsel.bots.scan.features import BLOCKS, counted
from simcounsel.bots.scan.learned import HOW, WEIGHT_OF_FORM, weighed
from simcounsel.bots.scan.scanners import MARKS, by_rule
from simcounsel.danger.hearing.features import BUCKETS, Block
from simcounsel.specs.vocabulary import Language

HERE = Path(__file__).parent
FOLDS, NEIGHBOURS = 6, 20
"""How many parts the lines are split into, and how many lines are one block."""
STRENGTH, OF_THE_MARKED = 30.0, 2.0
"""C of the regressions (3 and 10 did a little worse), and the weight of a line with the label."""
KEPT = 9000
"""Features that are kept: those with the largest weights."""
PRECISE, SOME = 0.8, 0.3
"""The precision that is asked for, and the recall below which it is not to be had: then what is
chosen is the best by F0.5, which holds precision for twice as important as recall, else by F1.
"""
FEWEST = 5
"""Lines that must be found before a precision says anything."""
LEARNED_FROM = ("train", "tune")

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Lines:
    """The lines of a language, `train` before `tune`."""

    found: csr_matrix
    """Which features occur in each."""
    form: Floats
    labels: Bools
    """Shape (lines, marks), as `ruled`."""
    ruled: Bools
    """What the rules say."""
    untuned: int
    """How many, from the first on, the rules were not tuned on."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """What was learned from some lines."""

    places: Rows
    rarity: Floats
    weights: Floats
    bias: Floats

    def log_odds(self, lines: Lines, rows: Rows) -> Floats:
        """Shape (rows, marks)."""
        values = _values(lines, rows, self.places, self.rarity)
        odds: Floats = values @ self.weights + self.bias
        return odds


def fingerprint(language: Language) -> str:
    """SHA-256 of the lines and of what decides what is learned from them, by which a file of
    numbers is known to belong to them.
    """
    lines = [labelled(language, part) for part in LEARNED_FROM]
    here = files("simcounsel.bots.scan")
    names = ("features.py", "learned.py", "learning/train.py", "alike.yaml", "words.yaml")
    code = [here.joinpath(name).read_text(encoding="utf-8") for name in names]
    return hashlib.sha256(json.dumps([lines, code]).encode()).hexdigest()


def read(language: Language) -> Lines:
    """What is learned from."""
    parts = [labelled(language, part) for part in LEARNED_FROM]
    rows = [one for part in parts for one in part]
    features = [counted(one["line"], language, one["before"]) for one in rows]
    rules = [by_rule(one["line"], language) for one in rows]
    return Lines(
        found=_ones([np.concatenate(blocks) for blocks, _ in features]),
        form=np.array([form for _, form in features]),
        labels=np.array([[LABEL_OF.get(m, m) in one["labels"] for m in MARKS] for one in rows]),
        ruled=np.array([[mark in one for mark in MARKS] for one in rules]),
        untuned=len(parts[0]),
    )


def _ones(rows: Sequence[Block]) -> csr_matrix:
    starts = np.cumsum([0, *map(len, rows)])
    ones = np.ones(starts[-1])
    return csr_matrix((ones, np.concatenate(rows), starts), shape=(len(rows), BLOCKS * BUCKETS))


def _values(lines: Lines, rows: Rows, places: Rows, rarity: Floats) -> csr_matrix:
    """What the regressions see of some lines: as at run time, by the same `weighed`."""
    numbers, values, starts = [], [], [0]
    for row in rows:
        some = lines.found[row].indices
        for block in range(BLOCKS):
            kept, worth = weighed(some[some // BUCKETS == block], places, rarity)
            numbers.append(kept)
            values.append(worth)
        starts.append(starts[-1] + sum(map(len, numbers[-BLOCKS:])))
    shape = (len(rows), len(rarity))
    words = csr_matrix((np.concatenate(values), np.concatenate(numbers), starts), shape=shape)
    return hstack([words, csr_matrix(lines.form[rows] * WEIGHT_OF_FORM)]).tocsr()


def fitted(lines: Lines, rows: Rows) -> Weights:
    """Learn from some lines: from all features that occur twice, then from those that weighed
    most.
    """
    times = np.asarray(lines.found[rows].sum(axis=0)).ravel()
    features = np.flatnonzero(times >= 2)
    first = _regressed(lines, rows, features, times)
    largest = np.argsort(-(first.weights[: len(features)] ** 2).sum(axis=1), kind="stable")[:KEPT]
    return _regressed(lines, rows, np.sort(features[largest]), times)


def _regressed(lines: Lines, rows: Rows, features: Rows, times: Floats) -> Weights:
    places = np.full(BLOCKS * BUCKETS, -1, dtype=np.int64)
    places[features] = np.arange(len(features))
    rarity = np.log((1 + len(rows)) / (1 + times[features])) + 1
    values = _values(lines, rows, places, rarity)
    learned = [
        LogisticRegression(
            C=STRENGTH, solver="liblinear", class_weight={0: 1, 1: OF_THE_MARKED}, random_state=0
        ).fit(values, lines.labels[rows, at])
        for at in range(len(MARKS))
    ]
    return Weights(
        places=places,
        rarity=rarity,
        weights=np.concatenate([one.coef_ for one in learned]).T,
        bias=np.concatenate([one.intercept_ for one in learned]),
    )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How a mark is given, and how that did."""

    how: str
    limit: float
    precision: float
    recall: float

    @property
    def rank(self) -> tuple[bool, float]:
        """Precise enough first, by F1; the others by F0.5."""
        enough = self.precision >= PRECISE and self.recall >= SOME
        square = 1.0 if enough else 0.25
        both = square * self.precision + self.recall
        return enough, (1 + square) * self.precision * self.recall / both if both else 0.0


def choices(labels: Bools, ruled: Bools, odds: Floats) -> Iterator[Choice]:
    """Every way to give a mark, with every limit."""
    for how, limit, found in _ways(ruled, odds):
        right = int((found & labels).sum())
        if found.sum() >= FEWEST:
            yield Choice(
                how=how,
                limit=limit,
                precision=right / int(found.sum()),
                recall=right / int(labels.sum()),
            )


def _ways(ruled: Bools, odds: Floats) -> Iterator[tuple[str, float, Bools]]:
    yield "rule", np.inf, ruled
    for limit in np.unique(odds[odds > -3]):
        says = odds >= limit
        yield "learned", limit, says
        yield "either", limit, ruled | says
        yield "both", limit, ruled & says


def learn(language: Language) -> None:
    """Learn, tell how it did on what it had not seen, and write what was learned."""
    lines = read(language)
    everything = np.arange(len(lines.labels))
    odds = np.zeros(lines.labels.shape)
    for known, new in GroupKFold(FOLDS).split(everything, groups=everything // NEIGHBOURS):
        odds[new] = fitted(lines, known).log_odds(lines, new)
    chosen = [_told(language, lines, odds, at) for at in range(len(MARKS))]
    final = fitted(lines, everything)
    np.savez_compressed(
        HERE / f"{language}.npz",
        lines=np.array(fingerprint(language)),
        marks=np.array(MARKS),
        how=np.array([HOW.index(one.how) for one in chosen], dtype=np.int8),
        limits=np.array([one.limit for one in chosen], dtype=np.float16),
        features=np.flatnonzero(final.places >= 0).astype(np.int32),
        rarity=final.rarity.astype(np.float16),
        weights=final.weights.astype(np.float16),
        bias=final.bias.astype(np.float16),
    )


def _told(language: Language, lines: Lines, odds: Floats, at: int) -> Choice:
    """The best choice for a mark, printed beside its rule, its classifier, and the classifier on
    the `tune` lines.
    """
    untuned = slice(lines.untuned)
    some = list(choices(lines.labels[untuned, at], lines.ruled[untuned, at], odds[untuned, at]))
    best = max(some, key=lambda one: one.rank)
    rule: Mapping[str, Any] = {one.how: one for one in some if one.how == "rule"}
    alone = max((one for one in some if one.how == "learned"), key=lambda one: one.rank)
    seen = odds[lines.untuned :, at] >= alone.limit
    tuned = lines.labels[lines.untuned :, at]
    said = [f"{language} {MARKS[at]:20}", f"{int(lines.labels[untuned, at].sum()):4}"]
    for name, one in (("rule", rule.get("rule")), ("learned", alone), (best.how, best)):
        said.append(f"{name} P {one.precision:.2f} R {one.recall:.2f}" if one else f"{name} none")
    right = int((seen & tuned).sum())
    said.append(f"tune P {right / max(1, int(seen.sum())):.2f} R {right / int(tuned.sum()):.2f}")
    typer.echo("; ".join(said))
    return best


if __name__ == "__main__":
    for code in get_args(Language):
        learn(code)
