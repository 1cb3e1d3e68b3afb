"""The two kinds of what a run is about, and what they are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["world", "synthesis"]
"""As a manifest names them: a world is lived, the dialogues of a synthesis are written."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """How a kind of run is spoken of."""

    run: str
    runs: str
    unit: str
    """What its length is counted in."""
    done: str
    """What was done with its units."""
    again: str
    """What `resume` does with one."""
    otherwise: str
    """How it was done, where the file says something else by now."""


WORDS: Mapping[Kind, Words] = {
    "world": Words(
        run="run",
        runs="runs",
        unit="tick",
        done="lived",
        again="lives",
        otherwise="in another world",
    ),
    "synthesis": Words(
        run="synthesis",
        runs="syntheses",
        unit="wave",
        done="written",
        again="writes",
        otherwise="with other settings",
    ),
}
