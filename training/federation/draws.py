"""Who takes part in a round."""

import secrets
from collections.abc import Iterable
from typing import Literal

from training.privacy.noise import generator

Source = Literal["seeded", "secure"]
"""`secure`: from the operating system's cryptographic generator, which nobody can repeat."""


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
