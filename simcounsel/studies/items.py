"""An item of a study before it has an id, and what may be chosen from runs and corpora."""

from dataclasses import dataclass
from typing import Literal

from simcounsel.studies.study import Origin
from simcounsel.studies.study_parts import Seen

Partner = Literal["counselor", "layperson", "client"]
FEWEST_LINES = 4
"""A conversation of fewer lines gives a rater nothing to judge."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is taken from each run, or of each corpus and condition."""

    who: str | None = None
    """Only this client."""
    partners: tuple[Partner, ...] = ("counselor", "layperson")
    """Whom the client talks with."""
    most: int | None = None
    """At most so many items, drawn by chance (of a corpus by theme), `None` for all."""
    fewest_lines: int = FEWEST_LINES
    """Shorter conversations are left out."""
    chats: frozenset[str] | None = None
    """Only these dialogues of a corpus, by id; None: all."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """An item before it has an id."""

    origin: Origin
    """Where it comes from."""
    seen: Seen
    """What a rater sees of it."""
