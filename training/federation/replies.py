"""What comes back from sites, wherever they are: an answer, a failure, or a sum of answers;
and what a round has of them together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from training.federation.fixedpoint import Residues
from training.federation.updates import Weights, Wide


@dataclass(frozen=True)
class Failed:
    """A site that gave no answer; why, in words that may leave the site."""

    why: str


@dataclass(frozen=True, kw_only=True)
class Summed:
    """What a secure sum came to."""

    total: Residues | None
    """Modulo 2^32, of those who are not in `failed`; None if too few were left."""
    failed: Mapping[str, str]
    """Why, by site."""
    bytes_up: Mapping[str, int]
    """`bytes_up`, `bytes_down`: by site, as a site sends and receives them."""
    bytes_down: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class SiteReport:
    """What a site says of its update; None where it says nothing."""

    steps: int | None = None
    loss: float | None = None


@dataclass(kw_only=True)
class Gathered:
    """What the server has of a round."""

    deltas: dict[str, Weights] = field(default_factory=dict)
    """Of sites that it sees one by one."""
    total: Mapping[str, Wide] = field(default_factory=dict)
    """Sum of nominal weight times delta, of `answered`."""
    answered: dict[str, SiteReport] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    up: dict[str, int] = field(default_factory=dict)
    down: dict[str, int] = field(default_factory=dict)
    unusable: str | None = None
    """Why the sum cannot be used, although enough sites answered."""


class SiteLinks(Protocol):
    """Where tasks go to: `InProcess`, or a network."""

    def ask(self, tasks: Mapping[str, bytes], frozen: Weights) -> Mapping[str, bytes | Failed]:
        """Each site's answer to its task, as bytes, or why there is none. frozen: adapters that
        sites hold already.
        """
        ...

    def ask_sum(self, tasks: Mapping[str, bytes], frozen: Weights, size: int) -> Summed:
        """The sum of the sites' vectors, each seen by its `secure.Member` only. size: numbers in
        each vector.
        """
        ...
