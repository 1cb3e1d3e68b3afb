"""Texts of bounded length out of a stated set of characters, as Gymnasium wants them.

What the set does not hold (emoji, other scripts, control characters) is replaced by STRANGE; a text
that is too long loses its beginning, since what was said last matters most.
"""

import re
import unicodedata
from copy import copy
from dataclasses import dataclass
from functools import cache

from gymnasium.spaces import Text

ACTION_CHARACTERS = 2000
HEARD_CHARACTERS = 4000
HISTORY_CHARACTERS = 32_000
KNOWN_CHARACTERS = 64_000
NAME_CHARACTERS = 60
STRANGE = "\N{REPLACEMENT CHARACTER}"
RANGES = (
    (0x0020, 0x007E),
    (0x00A0, 0x024F),  # Latin
    (0x1E00, 0x1EFF),  # more of it, as Vietnamese has
    (0x2010, 0x2027),
    (0x2030, 0x205E),
    (0x20A0, 0x20BF),  # punctuation, money
    (0x3000, 0x303F),
    (0x3040, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xFF01, 0xFF60),  # Chinese and Japanese, full-width forms
)
CHARACTERS = (
    "\n" + "".join(chr(code) for first, last in RANGES for code in range(first, last + 1)) + STRANGE
)
_KNOWN = frozenset(CHARACTERS)
_SPACES = re.compile(r"[^\S\n]+")


class Writing(Text):
    """Text out of CHARACTERS; it may be empty. `writing` makes one."""

    def __repr__(self) -> str:
        """Short: the set has more than twenty thousand characters."""
        return f"Writing({self.max_length})"


@cache
def _first() -> Writing:
    """Never drawn from: the copies share its tables of characters (5 MB), and each has a random
    generator of its own.
    """
    return Writing(1, min_length=0, charset=CHARACTERS)


def writing(most: int) -> Writing:
    """A space of texts of at most so many characters."""
    space = copy(_first())
    space.max_length = most
    return space


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A text within its bounds, and how many characters were cut off its beginning."""

    text: str
    cut: int


def fit(text: str, most: int) -> Fitted:
    """The text in the space's own characters, at most so long."""
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text).replace("\r\n", "\n"))
    plain = "".join(character if character in _KNOWN else STRANGE for character in plain)
    if len(plain) <= most:
        return Fitted(text=plain, cut=0)
    kept = "…" + plain[len(plain) - most + 1 :]
    return Fitted(text=kept, cut=len(plain) - most + 1)
