"""A Gaussian mechanism in whole numbers, of which every member of a sum adds a share (the
distributed discrete Gaussian, Kairouz, Liu and Steinke 2021).

Vectors are cut down to whole multiples of a step, towards zero, so that no norm grows; to each,
discrete Gaussian noise of 2^bits steps is added, and sums are taken modulo 2^32. Reducing them, and
whatever is done later, is post-processing.

What it costs. The sum of m such shares has, up to a factor of 1 +- 10 m exp(-pi^2 2^(2 bits)), the
discrete Gaussian distribution with S = sqrt(m) 2^bits (their theorem 9), and that one lies, entry
by entry, within a factor of exp((1 + (x/S)^2) / (8 S^2)) of a normal draw that is rounded to whole
numbers. Whole vectors plus rounded normals are vectors plus normals, rounded: the Gaussian
mechanism, with all its accounts, sampling included. Over `MOST` entries and all rounds the factors
multiply to less than exp(`plan.EXCESS`) and fail with less than `SHORT` of delta; `Lattice.excess`
says how much, and a plan for which it is more is refused. It is counted for one share (m = 1), so
that it holds too for who knows or replaces all others.
"""

import math
from dataclasses import dataclass

from training.privacy.discrete import MOST_BITS

MODULUS = 2**32
TAILS = 10.0
"""Standard deviations of the noise that have room before a sum would wrap, which happens to an
entry with probability 1e-23 and costs no privacy.
"""
MOST = 2**25
"""Numbers that one vector may have."""
SHORT = 1e-3
"""The part of delta that is kept for whole numbers; `plan.EXCESS` is that of epsilon."""
_TAIL = 256.0
"""The logarithm of one over the probability that the noise is longer than the bound takes it to be;
exp(-256) is nothing beside any delta, times any number of rounds.
"""


@dataclass(frozen=True, kw_only=True)
class Lattice:
    """Multiples of a step, and the noise that each member adds to them."""

    step: float
    bits: int
    """The noise of one member is 2^bits steps."""
    answering: int
    """Of how many shares there is at least the agreed noise in a sum."""

    @property
    def share_std(self) -> float:
        """The noise of one member."""
        return self.step * 2.0**self.bits

    def excess(self, rounds: int, size: int = MOST) -> float:
        """What all rounds add at most to the epsilon of the Gaussian mechanism, with one share of
        the noise as with more: a lying server may see a sum with one only (`trust`).

        size: numbers that a vector has at most.
        """
        square = 4.0**self.bits
        apart = (3 * size + 4 * math.sqrt(size * _TAIL) + 4 * _TAIL) / (8 * square)
        return 2 * rounds * apart


def lattice(*, reach: float, std: float, members: int, answering: int) -> Lattice | None:
    """The finest one. reach: the largest entry of a sum without noise; std: of the noise that
    `answering` members must add together. None where sums modulo 2^32 leave no room for it.
    """
    share = std / math.sqrt(answering) * (1 + 2**-30)  # never less by rounding
    room = reach + TAILS * share * math.sqrt(members)
    bits = min(math.floor(math.log2(MODULUS / 2 * share / room)), MOST_BITS)
    if bits < 0:
        return None
    return Lattice(step=share / 2.0**bits, bits=bits, answering=answering)
