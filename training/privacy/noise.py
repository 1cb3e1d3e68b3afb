"""Gaussian noise for a release, repeatable or from the system's generator.

Repeatable noise (a key) is for research on data that anyone may see: who knows the seed can
subtract it. Secure noise comes from `os.urandom`, and each value is the sum of four independent
normals over two, which hides the gaps between floating-point numbers that betray a single one
(Mironov 2012; Holohan and Braghin 2021, as in Opacus' secure mode).
"""

import hashlib
import os

import numpy as np
from numpy.typing import NDArray

PARTS = 4
Key = tuple[str | int, ...]


def normals(size: int, std: float, key: Key | None) -> NDArray[np.float64]:
    """`size` independent draws from N(0, std^2). key: names the release (seed, site, step ...), and
    no two may share one; None: secure.
    """
    if not std >= 0:
        raise ValueError(f"a standard deviation of {std:g}; it must be 0 or more")
    return std * (generator(key).standard_normal(size) if key is not None else _secure(size))


def generator(key: Key) -> np.random.Generator:
    """A generator of its own for each key."""
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))


def secure_generator() -> np.random.Generator:
    """For draws that decide who takes part: seeded by the system, of which nothing is kept."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(os.urandom(16), "little")))


def _secure(size: int) -> NDArray[np.float64]:
    """Box and Muller, from 53 random bits for each uniform."""
    pairs = -(-size * PARTS // 2)
    bits = np.frombuffer(os.urandom(16 * pairs), dtype=np.uint64).reshape(2, pairs) >> np.uint64(11)
    uniform = (bits.astype(np.float64) + 0.5) / 2**53
    radius, angle = np.sqrt(-2 * np.log(uniform[0])), 2 * np.pi * uniform[1]
    drawn = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[: size * PARTS]
    return np.asarray(drawn.reshape(PARTS, size).sum(axis=0) / np.sqrt(PARTS))
