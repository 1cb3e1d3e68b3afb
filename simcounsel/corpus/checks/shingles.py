"""Which texts share much of their wording, among many: MinHash finds candidates, exact counting
decides.

A text is the set of its shingles, runs of SHINGLE characters of its letters and digits in lower
case, so that the same measure serves languages with and without spaces. Alike is the Jaccard
similarity of two sets: what is in both, divided by what is in either.

MinHash (Broder 1997) sketches come from rensa, half a megabyte without dependencies; datasketch
would bring scipy into the core. Bands of the sketch (Leskovec, Rajaraman and Ullman 2020, section
3.4) make candidates, and each candidate is counted exactly, so a near-duplicate may be missed but
none is made up.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rensa import RMinHash

SHINGLE = 8
SKETCH, ROWS, SEED = 128, 4, 20_231
"""Numbers in a sketch; rows in a band: a pair with Jaccard s becomes a candidate with probability 1
- (1 - s^4)^32, 0.99987 at 0.7, 0.5 at 0.38.
"""
CHOSEN = 4
"""How many candidates, those with the best estimate, are counted exactly."""
SLACK = 0.2
"""A candidate whose estimate is this far below what is asked is not counted: five standard errors
of an estimate at 0.7.
"""
CROWD = 256
"""How many texts are kept under one value of a band, the earliest: of more that are alike but no
near-duplicates each would be a candidate of each. A near-duplicate shares eight bands at 0.7, so it
is missed only where all of them are crowded.
"""
RECENT = 512
"""Of how many texts, the last that were compared with, the shingles are kept."""
BATCH = 1024
_PRIME = np.uint64(0x9E3779B97F4A7C15)
Hashes = NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Text `later` is alike to `earlier` (places in what was compared)."""

    later: int
    earlier: int
    estimated: float
    """By the sketches."""
    exact: float
    """By counting; both 0 to 1."""


def shingles(text: str) -> Hashes:
    """The hashes of a text's shingles, sorted, each once; of a shorter text the one hash of all of
    it; none of a text without letters.
    """
    letters = "".join(filter(str.isalnum, text.lower())).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(letters, dtype=np.uint32).astype(np.uint64)
    size = min(SHINGLE, len(codes))
    if size == 0:
        return np.empty(0, dtype=np.uint64)
    hashed = np.zeros(len(codes) - size + 1, dtype=np.uint64)
    for place in range(size):
        hashed = hashed * _PRIME + codes[place : place + len(hashed)]
    hashed ^= hashed >> np.uint64(29)
    return np.unique(hashed * _PRIME)


def jaccard(one: Hashes, other: Hashes) -> float:
    """Exact similarity of two sets of shingles; 0 if either is empty."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both) if both else 0.0


def sketches(texts: Iterable[str]) -> NDArray[np.uint32]:
    """One row of SKETCH numbers a text."""
    rows: list[NDArray[np.uint32]] = []
    batch: list[Hashes] = []
    for text in texts:
        batch.append(shingles(text))
        if len(batch) == BATCH:
            rows.append(_sketched(batch))
            batch = []
    return (
        np.concatenate([*rows, _sketched(batch)])
        if rows or batch
        else np.empty((0, SKETCH), dtype=np.uint32)
    )


def _sketched(batch: Sequence[Hashes]) -> NDArray[np.uint32]:
    if not batch:
        return np.empty((0, SKETCH), dtype=np.uint32)
    ends = np.cumsum([0, *map(len, batch)], dtype=np.uint64)
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        np.concatenate(batch), ends, SKETCH, SEED
    )
    return np.array(matrix.to_rows(), dtype=np.uint32)


def near_duplicates(texts: Sequence[str], least: float) -> Iterator[Alike]:
    """Each text that is alike, by `least` or more, to an earlier one that is itself no
    near-duplicate; with the most alike of those.

    So among the texts that are left no two are alike, as far as sketches find them. Time and memory
    grow with the number of texts, whatever the number of duplicates, and however alike the others
    are (see CROWD).
    """
    known = lru_cache(maxsize=RECENT)(lambda place: shingles(texts[place]))
    sketched = sketches(texts)
    bands = [sketched[:, start : start + ROWS].astype("<u4") for start in range(0, SKETCH, ROWS)]
    keys = [np.ascontiguousarray(band).view("V16").ravel() for band in bands]
    first: list[dict[bytes, list[int]]] = [{} for _ in bands]
    for number, text in enumerate(texts):
        mine = [key[number].tobytes() for key in keys]
        candidates = sorted(
            {other for index, key in zip(first, mine, strict=True) for other in index.get(key, ())}
        )
        alike = (
            _most_alike(number, candidates, sketched, known, least)
            if candidates and any(map(str.isalnum, text))
            else None
        )
        if alike:
            yield alike
            continue
        for index, key in zip(first, mine, strict=True):
            crowd = index.setdefault(key, [])
            if len(crowd) < CROWD:
                crowd.append(number)


def _most_alike(
    number: int,
    candidates: list[int],
    sketched: NDArray[np.uint32],
    known: Callable[[int], Hashes],
    least: float,
) -> Alike | None:
    estimated = (sketched[candidates] == sketched[number]).mean(axis=1)
    order = [
        place
        for place in np.lexsort((candidates, -estimated))[:CHOSEN]
        if estimated[place] >= least - SLACK
    ]
    counted = [
        Alike(
            later=number, earlier=other, estimated=share, exact=jaccard(known(number), known(other))
        )
        for other, share in ((candidates[place], float(estimated[place])) for place in order)
    ]
    best = max(counted, key=lambda alike: (alike.exact, -alike.earlier), default=None)
    return best if best and best.exact >= least else None
