"""What is drawn in a round: who takes part, and the Gaussian noise on what a site, or a sum over
sites, releases. How much noise always comes from `training.privacy.budget`.

Seeded noise repeats, for experiments: it hides nothing from whoever knows the seed. Secure noise
comes from the operating system's cryptographic generator. Floating-point noise leaks in its lowest
bits which number it was added to, since not every float can be reached from every start (Mironov
2012). Against that, secure noise is a sum of several normals (`training.privacy.noise`; Holohan and
Braghin 2021), and here what is released is also rounded to a grid of about a millionth of the
standard deviation (a power of two), so that the lowest bits are the same whatever the update was.
The time that drawing takes is not hidden.
"""

import math
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from training.errors import TrainingError
from training.federation.updates import Wide
from training.privacy.noise import generator, normals

Source = Literal["seeded", "secure"]
"""`secure`: from the operating system's cryptographic generator, which nobody can repeat."""
GRID_BITS = 20


def poisson(
    sites: Iterable[str], rate: float, seed: int, round: int, source: Source
) -> tuple[str, ...]:
    """Each site alone, with this probability (Poisson sampling), so that no site's part depends on
    another's; in order of names.

    source: `secure` where the account counts on the draw being unknown, as a seed would tell it;
    each site then draws for itself.
    """
    return tuple(site for site in sorted(sites) if _uniform(seed, round, site, source) < rate)


def _uniform(seed: int, round: int, site: str, source: Source) -> float:
    """In [0, 1), 53 bits."""
    return (
        secrets.randbits(53) / 2**53
        if source == "secure"
        else float(generator((seed, "takes part", round, site)).random())
    )


def noised(
    values: Mapping[str, npt.NDArray[Any]],
    std: float,
    *,
    seed: int,
    round: int,
    site: str,
    source: Source,
) -> dict[str, Wide]:
    """The same tensors with independent Gaussian noise on every coordinate, as float64.

    std: `training.privacy.budget.noise_std`. site: whose update; empty for the sum over sites.
    TrainingError unless std is above 0.
    """
    if not (math.isfinite(std) and std > 0):
        raise TrainingError(
            f"noise with standard deviation {std:g} protects nothing; the account gives a finite"
            " number above 0"
        )
    found = {}
    for key in sorted(values):
        drawn = normals(
            values[key].size,
            std,
            (seed, "site noise", round, site, key) if source == "seeded" else None,
        )
        exact = values[key].astype(np.float64) + drawn.reshape(values[key].shape)
        found[key] = exact if source == "seeded" else on_grid(exact, std)
    return found


def on_grid(values: Wide, std: float) -> Wide:
    """Rounded to the nearest multiple of a power of two, at most 2^-20 of the standard
    deviation.
    """
    step = 2.0 ** (math.floor(math.log2(std)) - GRID_BITS)
    return np.round(values / step) * step
