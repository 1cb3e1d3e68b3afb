"""One thing that `simcounsel doctor` found."""

from dataclasses import dataclass
from typing import Literal

Mark = Literal["ok", "none", "problem"]
"""none: it is not there and need not be."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the examination."""

    part: str
    """What it belongs to: python, packages, weights, disk, keys, models, browser."""
    subject: str
    mark: Mark
    says: str
    remedy: str = ""
    """What to type or set; empty where there is nothing to repair."""
