"""Secrets in shares: any `threshold` of them give the secret back, fewer say nothing about it
(Shamir 1979).
"""

import secrets
from collections.abc import Mapping

PRIME = 2**521 - 1
"""A Mersenne prime; secrets are numbers below it, such as keys of 32 bytes."""
SHARE_BYTES = 66


def shares_of(secret: bytes, threshold: int, members: int) -> dict[int, int]:
    """By point 1 to `members`: values of a random polynomial of degree threshold - 1 that is the
    secret at 0.
    """
    number = int.from_bytes(secret, "big")
    if not (1 <= threshold <= members and number < PRIME):
        raise ValueError(
            f"threshold {threshold} of {members} members, secret of {len(secret)} bytes (at"
            " most 65)"
        )
    coefficients = [number, *(secrets.randbelow(PRIME) for _ in range(threshold - 1))]
    return {point: _value(coefficients, point) for point in range(1, members + 1)}


def _value(coefficients: list[int], point: int) -> int:
    """By Horner's scheme."""
    value = 0
    for coefficient in reversed(coefficients):
        value = (value * point + coefficient) % PRIME
    return value


def secret_from(shares: Mapping[int, int], size: int) -> bytes:
    """The secret of `size` bytes, by Lagrange interpolation at 0. OverflowError if the shares do
    not belong together (almost surely).
    """
    total = 0
    for point, value in shares.items():
        above = below = 1
        for other in shares:
            if other != point:
                above = above * other % PRIME
                below = below * (other - point) % PRIME
        total += value * above * pow(below, -1, PRIME)
    return (total % PRIME).to_bytes(size, "big")
