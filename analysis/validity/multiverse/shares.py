"""Of the variance of the effect over specifications, how much comes from each choice.

Sums of squares of a crossed design, each of what it adds to the other choices (type II), so that
they add up to the whole where every combination is there. What differs between seeds of the same
choices is noise: it is the share that nobody chose, and what a choice must exceed. A choice that
needs runs of its own (prompts, model, temperature) varies between runs, and so it is held against
what differs between seeds; a choice of analysis varies within the same runs, and is held against
what it does differently from seed to seed (a split plot).
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis.validity.multiverse.effects import SEED
from analysis.validity.multiverse.universes import LIVED

Floats = NDArray[np.float64]
NOISE = "seed (noise)"
TIMES = " x "
HIGHER = "three and more choices together"
SHARED = "cannot be told apart (combinations are missing)"


@dataclass(frozen=True, kw_only=True)
class VarianceShare:
    """What one choice, or two together, do to the effect."""

    of: str
    """The choice; `prompts x model` for what two do together."""
    df: int
    squares: float
    """Sum of squares."""
    share: float | None
    """Of the whole; None where the effect does not vary."""
    beyond: float | None = None
    """The same without what noise alone would give it; None where there is no telling."""
    f: float | None = None
    """Mean square over that of noise; None also where noise is none."""
    p: float | None = None
    """Of F, as if seeds were drawn from a normal distribution."""

    @property
    def together(self) -> bool:
        """Whether it is of several choices together."""
        return TIMES in self.of or self.of in (HIGHER, SHARED)


@dataclass(frozen=True, kw_only=True)
class _Fit:
    rest: float
    """Sum of squares that is left."""
    rank: int


def shares(table: pd.DataFrame, chosen: Sequence[str]) -> list[VarianceShare]:
    """table: a column a choice and `estimate`. chosen: the choices of more than one level."""
    known = table.dropna(subset=["estimate"])
    y = known["estimate"].to_numpy(dtype=float)
    free = [one for one in chosen if one != SEED]
    lived = [one for one in free if one in LIVED]
    fits = _Fits(known, y)
    whole = fits.of(()).rest
    noise = _noise(fits, free, lived, SEED in chosen)
    pairs = list(itertools.combinations(free, 2))
    mains = [(one,) for one in free]
    found: list[VarianceShare] = []
    for terms, others in ((mains, ()), (pairs, tuple(mains))):
        full = fits.of((*others, *terms))
        for term in terms:
            without = fits.of((*others, *(one for one in terms if one != term)))
            squares, df = without.rest - full.rest, full.rank - without.rank
            if df:
                between = all(one in LIVED for one in term)
                found.append(_share(TIMES.join(term), df, squares, whole, noise[not between]))
    last, saturated = fits.of((*mains, *pairs)), fits.of((tuple(free),))
    rest = [
        (HIGHER, saturated.rank - last.rank, last.rest - saturated.rest),
        (NOISE, len(y) - saturated.rank, saturated.rest),
    ]
    found += [_share(name, df, max(squares, 0.0), whole) for name, df, squares in rest if df]
    missing = whole - sum(one.squares for one in found)
    if abs(missing) > 1e-9 * max(whole, 1e-12):
        found.append(_share(SHARED, 0, missing, whole))
    return found


def _share(
    name: str, df: int, squares: float, whole: float, noise: tuple[float, int] | None = None
) -> VarianceShare:
    squares = 0.0 if abs(squares) < 1e-12 * max(whole, 1e-12) else squares
    if whole <= 1e-18:
        return VarianceShare(of=name, df=df, squares=0.0, share=None)
    blank = VarianceShare(of=name, df=df, squares=squares, share=squares / whole)
    if noise is None:
        return blank
    mean, left = noise[0] / noise[1], noise[1]
    beyond = max(0.0, squares - df * mean) / whole
    f = squares / df / mean if mean > 1e-12 * whole else None
    p = float(stats.f.sf(f, df, left)) if f is not None else float(squares < 1e-9 * whole)
    return VarianceShare(
        of=name, df=df, squares=squares, share=squares / whole, beyond=beyond, f=f, p=p
    )


def _noise(
    fits: "_Fits", free: Sequence[str], lived: Sequence[str], seeds: bool
) -> tuple[tuple[float, int] | None, tuple[float, int] | None]:
    """Sum of squares and df of what seeds do: between runs, and within them."""
    if not seeds:
        return None, None
    config, way, run = (tuple(free),), (tuple(lived),), ((*lived, SEED),)
    within = fits.of((*run, *config))
    between = fits.of(config), fits.of(way), fits.of(run)
    inside = (within.rest, len(fits.y) - within.rank)
    outside = (between[1].rest - between[2].rest, between[2].rank - between[1].rank)
    return (outside if outside[1] else None), (inside if inside[1] else None)


class _Fits:
    """Least squares over choices, each set of terms once."""

    def __init__(self, table: pd.DataFrame, y: Floats) -> None:
        self.y = y
        self._table = table
        self._done: dict[frozenset[frozenset[str]], _Fit] = {}

    def of(self, terms: Sequence[Sequence[str]]) -> _Fit:
        """With a mean for each combination of levels of each term; () is the mean of all."""
        key = frozenset(frozenset(term) for term in terms)
        if key not in self._done:
            self._done[key] = self._fit([sorted(term) for term in key])
        return self._done[key]

    def _fit(self, terms: Sequence[Sequence[str]]) -> _Fit:
        design = np.column_stack([np.ones(len(self.y)), *self._columns(terms)])
        solved, _, rank, _ = np.linalg.lstsq(design, self.y, rcond=None)
        rest = self.y - design @ solved
        return _Fit(rest=float(rest @ rest), rank=int(rank))

    def _columns(self, terms: Sequence[Sequence[str]]) -> Iterator[Floats]:
        for term in terms:
            if term:
                codes = self._table.groupby(list(term), observed=True).ngroup().to_numpy()
                yield (codes[:, None] == np.unique(codes)[None, :]).astype(np.float64)
