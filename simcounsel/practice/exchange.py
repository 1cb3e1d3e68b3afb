"""What a practice session consists of: a trainee's line, what the client did with it, feedback."""

from collections.abc import Sequence
from dataclasses import dataclass

from simcounsel.events import ClientShifted
from simcounsel.instruments.material import CLIENT, COUNSELOR

RULES = "rules"


@dataclass(frozen=True, kw_only=True)
class Shift:
    """Where the client was before and with its answer, as only the client knows."""

    before: float
    """Openness, 0 (keeps everything back) to 10."""
    after: float
    """The same with the answer."""
    quote: str | None
    """The trainee's words that touched something; None: none did."""
    about: str | None
    """What they touched of the client's file, in words."""
    held_back: str | None
    """What the client did not say; for the report alone."""

    @classmethod
    def of(cls, event: ClientShifted) -> "Shift":
        """As the client's own event has it."""
        return cls(
            before=event.before,
            after=event.openness,
            quote=event.quote,
            about=event.about,
            held_back=event.held_back,
        )


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What the trainee reads about a line. Never a score."""

    skill: str
    """The id of the helping skill that the line is."""
    name: str
    """What that is called."""
    noticed: str
    """What the line does; '' from the rules, which cannot tell."""
    effect: str
    """What the client did with it, in words; '' from the rules."""
    alternative: str
    """One line in its place; '' where the line may stay, or where the rules have none."""
    example: bool
    """Whether the alternative is a line from a skill's file, about another client."""
    reason: str
    """Why."""
    source: str
    """The skill or manual that it comes from, in words."""
    fits: str
    """The id of the skill that was called for: the line's own, or that of the alternative."""
    by: str
    """`rules`, or the model's name."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A trainee's line and what the client answered."""

    number: int
    """Of the trainee's lines, from 1; one that was said in place of another has its number."""
    said: str
    leaves: bool = False
    """Whether the trainee takes leave with it."""
    answers: tuple[str, ...] = ()
    """The client's; () where the session ended with the line."""
    parting: bool = False
    """Whether somebody has taken leave: one more line of the other, and the session is over."""
    shift: Shift | None = None
    """None where the client's state does not move in this world."""
    feedback: Feedback | None = None
    """None where none was asked for."""


def lines_in(exchanges: Sequence[Exchange]) -> tuple[tuple[str, str], ...]:
    """All lines as (`Client` or `Counselor`, text)."""
    return tuple(
        pair
        for one in exchanges
        for pair in ((COUNSELOR, one.said), *((CLIENT, text) for text in one.answers))
    )
