"""Whether a model goes on as a session went on, more for sessions that it was trained on than for
others.

ROUGE-1 recall (Lin 2004): the share of the true reply's words that are in the model's; cosine: of
the embeddings of the two. Both are as high for a stock phrase as for a memory, so only the
difference between members and others, and against the base model, tells.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from rouge_score import rouge_scorer

from training.audit.curves import BootstrapInterval, numbered, resampled
from training.audit.scored import Floats
from training.errors import TrainingError

WORD = re.compile(r"[⺀-鿿豈-﫿가-힯぀-ヿ]|[^\W_]+(?:['’][^\W_]+)*")
"""A word, or one character of a script that is written without spaces."""
Measure = Literal["rouge1_recall", "cosine"]
Embed = Callable[[Sequence[str]], "np.ndarray"]
"""Texts to vectors, (texts, dimensions)."""


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """How a counselor's turn was completed."""

    id: str
    client: str
    truth: str
    """The counselor's reply in the session, as long as the model was allowed to be."""
    made: str
    """The model's, given all before it."""


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """Means over continuations (0 to 1; cosine from -1), and their difference with its 95%
    bootstrap interval, clients resampled.
    """

    measure: Measure
    members: float
    others: float
    difference: float
    interval: BootstrapInterval | None
    n_members: int
    n_others: int
    left_out: int = 0
    """True replies without a word."""


class RougeWords:
    """Words as ROUGE counts them: in small letters, and each character of a script without spaces
    for itself. The library's own tokenizer knows Latin letters only, and finds nothing in Chinese.
    """

    def tokenize(self, text: str) -> list[str]:
        """The words of a text."""
        return [match.group().lower() for match in WORD.finditer(text)]


_SCORER = rouge_scorer.RougeScorer(["rouge1"], tokenizer=RougeWords())


def rouge1_recall(truth: str, made: str) -> float | None:
    """The share of the truth's words that the other has, each as often as it has it; None if the
    truth has no word.
    """
    return float(_SCORER.score(truth, made)["rouge1"].recall) if WORD.search(truth) else None


def cosines(pairs: Sequence[tuple[str, str]], embed: Embed) -> Floats:
    """The cosine of each pair of texts, (pairs,). 0 where nothing was said."""
    if not pairs:
        return np.zeros(0)
    first, second = (np.asarray(embed(list(texts)), float) for texts in zip(*pairs, strict=True))
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    found: Floats = np.divide(
        (first * second).sum(axis=1), norms, out=np.zeros(len(pairs)), where=norms > 0
    )
    return found


def likeness(
    members: Sequence[Continuation],
    others: Sequence[Continuation],
    *,
    embed: Embed | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> tuple[Likeness, ...]:
    """How alike replies are for members and others, by ROUGE-1 recall and, with `embed`, by cosine.
    TrainingError without either.
    """
    inside, outside = (
        [one for one in side if WORD.search(one.truth)] for side in (members, others)
    )
    if not inside or not outside:
        raise TrainingError(
            "no reply with a word among members, or among others; memorization is told by comparing"
            " the two"
        )
    lost = len(members) + len(others) - len(inside) - len(outside)
    found = []
    measures: tuple[Measure, ...] = ("rouge1_recall", "cosine") if embed else ("rouge1_recall",)
    for measure in measures:
        values = [_measured(side, measure, embed) for side in (inside, outside)]
        interval = (
            _interval(
                values,
                [[one.client for one in side] for side in (inside, outside)],
                bootstrap,
                seed,
            )
            if bootstrap
            else None
        )
        means = [float(side.mean()) for side in values]
        found.append(
            Likeness(
                measure=measure,
                members=means[0],
                others=means[1],
                difference=means[0] - means[1],
                interval=interval,
                n_members=len(inside),
                n_others=len(outside),
                left_out=lost,
            )
        )
    return tuple(found)


def _measured(side: Sequence[Continuation], measure: Measure, embed: Embed | None) -> Floats:
    if measure == "cosine" and embed is not None:
        return cosines([(one.truth, one.made) for one in side], embed)
    return np.array([rouge1_recall(one.truth, one.made) for one in side], dtype=float)


def _interval(
    values: Sequence[Floats], clients: Sequence[Sequence[str]], times: int, seed: int
) -> BootstrapInterval:
    """Members' and others' clients are drawn apart."""
    rng = np.random.default_rng([seed, 0x40E])
    means = []
    for side, of in zip(values, clients, strict=True):
        weights = resampled(numbered(of, len(side)), times, rng)
        means.append(weights @ side / weights.sum(axis=1))
    low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
    return BootstrapInterval(low=float(low), high=float(high))
