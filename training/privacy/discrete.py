"""Whole numbers with a discrete Gaussian distribution, drawn exactly (Canonne, Kamath and Steinke
2020, algorithms 1 to 3).

The probability of x is proportional to exp(-x^2 / (2 s^2)) over all integers. The parameter s is a
power of two, 2^bits: then every probability that the algorithm needs is a whole number over a power
of two of at most 63 bits, and whole arrays are drawn by comparing random words, without a single
floating-point number whose rounding would have to be accounted for.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from training.privacy.noise import Key, generator

Words = Callable[[int], NDArray[np.uint64]]
"""So many independent uniform words of 64 bits."""
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
MOST_BITS = 30
AT_ONCE = 1 << 17


def discrete_normals(size: int, bits: int, key: Key | None) -> Whole:
    """`size` independent draws with s = 2^bits. key: names the release, as for `noise.normals`;
    None: from the operating system's cryptographic generator.
    """
    if not 0 <= bits <= MOST_BITS:
        raise ValueError(f"2^{bits} is out of range: from 2^0 to 2^{MOST_BITS}")
    words = _words(key)
    found, have = [np.zeros(0, np.int64)], 0
    while have < size:
        found.append(_accepted(min(3 * (size - have) + 16, AT_ONCE), bits, words))
        have += found[-1].size
    return np.concatenate(found)[:size]


def _words(key: Key | None) -> Words:
    if key is None:
        return lambda size: np.frombuffer(os.urandom(8 * size), np.uint64)
    rng = generator(key)
    return lambda size: rng.integers(0, 2**64, size, dtype=np.uint64)


def _accepted(tried: int, bits: int, words: Words) -> Whole:
    """Algorithm 3 with t = s: discrete Laplace draws |y| = u + s v, let through with probability
    exp(-(|y| - s)^2 / (2 s^2)).
    """
    u = words(tried) >> np.uint64(64 - bits) if bits else np.zeros(tried, np.uint64)
    u = u[_exp_minus(u, bits, words)]
    v = _runs(u.size, words)
    negative = words(u.size) >> np.uint64(63) == 1
    kept = ~(negative & (u == 0) & (v == 0))
    u, v, negative = u[kept], v[kept], negative[kept]
    kept = _near(u, v, bits, words)
    magnitude = u[kept].astype(np.int64) + (v[kept] << bits)
    found: Whole = np.where(negative[kept], -magnitude, magnitude)
    return found


def _runs(size: int, words: Words) -> Whole:
    """How many coins of probability exp(-1) come up in a row (algorithm 2)."""
    found, live = np.zeros(size, np.int64), np.arange(size)
    while live.size:
        live = live[_exp_minus(np.ones(live.size, np.uint64), 0, words)]
        found[live] += 1
    return found


def _near(u: NDArray[np.uint64], v: Whole, bits: int, words: Words) -> Flags:
    """With probability exp(-(v - 1 + u/s)^2 / 2). For v = 0 that is exp(-(1 - u/s)^2 / 2); else, w
    = v - 1, the product of exp(-(u/s)^2 / 2), w times exp(-u/s), and w^2 times exp(-1/2).
    """
    off = np.where(v == 0, np.uint64(1 << bits) - u, u)
    kept = _exp_minus(off * off, 2 * bits + 1, words)
    w = np.maximum(v - 1, 0)
    for time in range(int(w.max(initial=0))):
        live = np.flatnonzero(kept & (w > time))
        kept[live] = _exp_minus(u[live], bits, words)
    for time in range(int((w * w).max(initial=0))):
        live = np.flatnonzero(kept & (w * w > time))
        kept[live] = _exp_minus(np.ones(live.size, np.uint64), 1, words)
    return kept


def _exp_minus(numerator: NDArray[np.uint64], bits: int, words: Words) -> Flags:
    """True with probability exp(-numerator / 2^bits), for a fraction of at most 1 (algorithm 1):
    coins of probability fraction / k, for k = 1, 2, ... until one fails; whether that k is odd.
    """
    odd = np.zeros(numerator.size, bool)
    live, k = np.arange(numerator.size), 1
    while live.size:
        won = _fraction(numerator[live], bits, words) & _one_in(k, live.size, words)
        odd[live[~won]] = k % 2 == 1
        live, k = live[won], k + 1
    return odd


def _fraction(numerator: NDArray[np.uint64], bits: int, words: Words) -> Flags:
    """True with probability numerator / 2^bits."""
    if bits == 0:
        return numerator >= 1
    below: Flags = words(numerator.size) >> np.uint64(64 - bits) < numerator
    return below


def _one_in(k: int, size: int, words: Words) -> Flags:
    """True with probability 1 / k."""
    drawn = words(size).copy()
    whole = (1 << 64) // k * k
    while whole < 1 << 64 and (beyond := np.flatnonzero(drawn >= np.uint64(whole))).size:
        drawn[beyond] = words(beyond.size)
    divides: Flags = drawn % np.uint64(k) == 0
    return divides
