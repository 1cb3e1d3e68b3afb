"""What all questions of one session have in common."""

from collections.abc import Sequence
from dataclasses import dataclass

from simcounsel.chance import seed_of
from simcounsel.specs.synthesis import Synthesis

PERSON, COUNSELOR = "Person", "Counselor"
NOTHING = "(nothing yet; you begin)"
Line = tuple[str, str]
"""Who (`Person` or `Counselor`) and what."""


@dataclass(frozen=True, kw_only=True)
class SessionContext:
    """A session as its questions need it."""

    settings: Synthesis
    """Of the whole synthesis."""
    session: str
    """The session's name in the log: `S0001`."""
    key: tuple[object, ...]
    """What its random draws depend on."""

    @property
    def english(self) -> bool:
        """Whether lines can be checked as English."""
        return self.settings.language.casefold() == "english"

    def seed(self, role: str, message: int) -> int:
        """The seed of one question."""
        return seed_of(*self.key, role, message)


def talk(lines: Sequence[Line]) -> str:
    """What was said, a line each."""
    return "\n".join(f"{who}: {text}" for who, text in lines) or NOTHING
