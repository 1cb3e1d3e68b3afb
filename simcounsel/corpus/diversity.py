"""How much dialogues differ from each other: distinct n-grams, self-BLEU, spread of embeddings.

All three change with the number of texts, so corpora are compared on equally many: `Equal` says on
how many dialogues and units, drawn by a key, the numbers of each corpus rest.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcounsel.chance import seed_of
from simcounsel.corpus.dialogues import Dialogue
from simcounsel.corpus.measures import Number, units

Vectors = NDArray[np.floating]
Embed = Callable[[Sequence[str]], Vectors]
MOST_TEXTS = 200
"""Dialogues that are drawn for self-BLEU and for embeddings, at most."""
ORDERS = 4
EPSILON = 0.1
"""Counted in place of an n-gram precision's zero (Chen and Cherry 2014, smoothing 1, as Texygen
uses it).
"""


@dataclass(frozen=True, kw_only=True)
class Equal:
    """On how much each corpus is judged."""

    dialogues: int
    """For self-BLEU and embeddings."""
    lengths: int
    """Units of the counselors' lines, for distinct-n."""


def equal_for(corpora: Sequence[Sequence[Dialogue]]) -> Equal:
    """What the smallest of several corpora has, at most 200 dialogues."""
    sizes = [len(one) for one in corpora if one] or [0]
    lengths = [
        sum(len(units(text)) for dialogue in one for text in _counselor(dialogue))
        for one in corpora
        if one
    ] or [0]
    return Equal(dialogues=min(MOST_TEXTS, *sizes), lengths=min(lengths))


def diversity(
    dialogues: Sequence[Dialogue],
    equal: Equal | None = None,
    embed: Embed | None = None,
    seed: int = 0,
) -> dict[str, Number]:
    """distinct_1, distinct_2, distinct_3, self_bleu over the counselors' lines; spread over all
    lines, where vectors can be had.
    """
    size = equal or equal_for([dialogues])
    drawn = draw_in_order(dialogues, seed)
    some = drawn[: size.dialogues]
    found = {f"distinct_{n}": distinct(drawn, n, size.lengths) for n in (1, 2, 3)}
    found["self_bleu"] = self_bleu(
        [[one for text in _counselor(dialogue) for one in units(text)] for dialogue in some]
    )
    found["spread"] = (
        Number(value=None, reason="no embeddings were asked for")
        if embed is None
        else spread(dialogue_vectors(some, embed))
    )
    return found


def draw_in_order(dialogues: Sequence[Dialogue], seed: int) -> list[Dialogue]:
    """The dialogues in an order drawn by seed and id, so that any first part is a sample."""
    return sorted(dialogues, key=lambda one: (seed_of(seed, "measured", one.id), one.id))


def distinct(dialogues: Sequence[Dialogue], n: int, lengths: int | None = None) -> Number:
    """Different n-grams in all n-grams of the counselors' lines (Li et al. 2016, section 5.2:
    distinct-1, distinct-2).

    No n-gram reaches over the end of a line. lengths: at most how many units are looked at, since
    the share falls the longer a text is.
    """
    grams: Counter[tuple[str, ...]] = Counter()
    left = lengths if lengths is not None else math.inf
    for text in (text for dialogue in dialogues for text in _counselor(dialogue)):
        if left <= 0:
            break
        words = units(text)[: int(min(left, len(text)))]
        left -= len(words)
        grams.update(zip(*(words[start:] for start in range(n)), strict=False))
    total = sum(grams.values())
    return (
        Number(value=len(grams) / total, n=total)
        if total
        else Number(value=None, reason=f"no line of a counselor has {n} units")
    )


def self_bleu(texts: Sequence[Sequence[str]]) -> Number:
    """Mean BLEU-4 of each text against all others as references (Zhu et al. 2018, Texygen): from 0,
    all different, to 1, all the same.

    Precisions are clipped at the greatest count in any one other text; a zero precision counts as
    0.1 of an n-gram. Linear in the number of texts, since of each n-gram only the two greatest
    counts are kept. Texts without units are left out.
    """
    kept = [tuple(text) for text in texts if text]
    if len(kept) < 2:
        return Number(value=None, n=len(kept), reason=f"{len(kept)} texts; two are needed")
    counts = [[_grams(text, n) for n in range(1, ORDERS + 1)] for text in kept]
    greatest = [_two_greatest([count[n] for count in counts]) for n in range(ORDERS)]
    scores = [
        _bleu(number, counts[number], greatest, [len(text) for text in kept])
        for number in range(len(kept))
    ]
    return Number(value=sum(scores) / len(scores), n=len(scores))


def _grams(text: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(text[start:] for start in range(n)), strict=False))


Greatest = dict[tuple[str, ...], tuple[int, int, int]]


def _two_greatest(counts: Sequence[Counter[tuple[str, ...]]]) -> Greatest:
    """Of each n-gram: its greatest count, in which text, and the greatest count in any other
    text.
    """
    found: Greatest = {}
    for number, count in enumerate(counts):
        for gram, times in count.items():
            most, holder, second = found.get(gram, (0, -1, 0))
            found[gram] = (
                (times, number, most) if times > most else (most, holder, max(second, times))
            )
    return found


def _bleu(
    number: int,
    counts: Sequence[Counter[tuple[str, ...]]],
    greatest: Sequence[Greatest],
    lengths: Sequence[int],
) -> float:
    """BLEU-4 of one text (Papineni et al. 2002) against all others, smoothed."""
    logs = 0.0
    for count, most in zip(counts, greatest, strict=True):
        hits = sum(
            min(times, most[gram][2] if most[gram][1] == number else most[gram][0])
            for gram, times in count.items()
        )
        if not hits and count is counts[0]:
            return 0.0
        logs += math.log((hits or EPSILON) / max(1, sum(count.values()))) / ORDERS
    own = lengths[number]
    nearest = min(
        (abs(length - own), length) for place, length in enumerate(lengths) if place != number
    )[1]
    return math.exp(logs) * (1.0 if own > nearest else math.exp(1 - nearest / own))


def spread(vectors: Vectors) -> Number:
    """Mean cosine distance over all pairs of texts: 0, all alike, to about 1, unrelated.

    Of unit vectors u_i the mean cosine over pairs is (|sum u_i|^2 - n) / (n (n - 1)), so no pair is
    formed.
    """
    n = len(vectors)
    if n < 2:
        return Number(value=None, n=n, reason=f"{n} texts; two are needed")
    unit = _unit(np.asarray(vectors, dtype=np.float64))
    whole = unit.sum(axis=0)
    return Number(
        value=float(1 - (whole @ whole - float((unit * unit).sum())) / (n * (n - 1))), n=n
    )


def dialogue_vectors(dialogues: Sequence[Dialogue], embed: Embed) -> Vectors:
    """One vector a dialogue: the mean of its lines' unit vectors, since a model of sentences reads
    only the beginning of a long text.
    """
    lines = [text for dialogue in dialogues for text in dialogue.lines()]
    if not lines:
        return np.zeros((0, 1))
    rows = _unit(np.asarray(embed(lines), dtype=np.float64))
    ends = np.cumsum([len(dialogue.turns) for dialogue in dialogues])
    parts = np.split(rows, ends[:-1])
    return np.array([part.mean(axis=0) for part in parts if len(part)])


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _counselor(dialogue: Dialogue) -> list[str]:
    return dialogue.lines("counselor", "layperson")
