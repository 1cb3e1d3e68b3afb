"""Chance, keyed by what it is for: nothing to save for a resume, and concurrency changes
nothing.
"""

import hashlib
import random


def seed_of(*key: object) -> int:
    """A 63-bit integer from a key such as (seed, tick, name, purpose); the same in every
    process.
    """
    text = "\x1f".join(str(part) for part in key)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def chance(*key: object) -> random.Random:
    """A random generator of its own for a key such as (seed, tick, name, purpose)."""
    return random.Random(seed_of(*key))
