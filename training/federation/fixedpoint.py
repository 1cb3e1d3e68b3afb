"""Real vectors as whole numbers modulo 2^32, so that masks can be added to them and taken away
without a trace.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError
from training.federation.updates import Wide
from training.privacy.discrete import discrete_normals
from training.privacy.lattice import MOST, Lattice
from training.privacy.noise import Key

Residues = npt.NDArray[np.uint32]
HALF = 2**31


@dataclass(frozen=True, kw_only=True)
class FixedPoint:
    """Numbers as integers modulo 2^32, so that they can be summed under masks."""

    largest: float
    """Absolute value that an entry of one member's vector may have."""
    members: int
    """Who are summed at most."""
    lattice: Lattice | None = None
    """Where every member adds noise, which then sets the step."""

    @property
    def step(self) -> float:
        """The resolution; without a lattice a power of two, the smallest with which the largest
        sum still fits. A member's entry is rounded towards zero, so it is off by less than this and
        no norm grows; the sum is off by less than `members` times this.
        """
        if self.lattice is not None:
            return self.lattice.step
        return 2.0 ** (math.floor(math.log2(self.largest * self.members / HALF)) + 1)

    def encode(self, vector: npt.NDArray[Any]) -> Residues:
        """TrainingError for an entry that is not finite or above `largest`: it would come out of
        the sum as another number.
        """
        if not np.isfinite(vector).all():
            raise TrainingError("an update with NaN or infinite entries cannot be summed")
        top = float(np.abs(vector).max(initial=0))
        if top > self.largest:
            raise TrainingError(
                f"an entry of {top:.6g} is beyond {self.largest:g}, the range of the secure sum; it"
                " would overflow"
            )
        return (np.trunc(vector.astype(np.float64) / self.step).astype(np.int64) % 2**32).astype(
            np.uint32
        )

    def shared_noise(self, size: int, key: Key | None) -> Residues:
        """One member's share of the noise, to be added to its encoded vector. key: as for
        `privacy.noise.normals`. TrainingError for a vector longer than was accounted for.
        """
        if self.lattice is None:
            raise ValueError("no noise was agreed for this sum")
        if size > MOST:
            raise TrainingError(
                f"{size} numbers in an update, and noise in whole numbers is accounted for up to"
                f" {MOST}; take a smaller rank or fewer targets"
            )
        drawn = discrete_normals(size, self.lattice.bits, key)
        return (drawn % 2**32).astype(np.uint32)

    def decode(self, total: Residues) -> Wide:
        """Of a sum of encoded vectors."""
        return total.view(np.int32).astype(np.float64) * self.step
