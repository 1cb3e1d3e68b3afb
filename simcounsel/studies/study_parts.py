"""What there is to see of an item of a study."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A piece of a study's files: frozen, no unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Line(Part):
    """A line of a transcript, names taken out."""

    speaker: str
    text: str


class Version(Part):
    """A version of a persona's text, names taken out."""

    background: str
    characteristic: str
    recent_feeling: str


class Passage(Part):
    """A part of a persona's file, or of what somebody did, names taken out."""

    heading: str
    """Empty where it has none; the time, of what was done."""
    text: str


class Seen(Part):
    """What there is to see of an item."""

    lines: tuple[Line, ...] = ()
    """Of a transcript; before a moment of recall the last ones."""
    texts: tuple[Version, ...] = ()
    """The two versions of a persona."""
    sheet: tuple[Passage, ...] = ()
    """A persona's file."""
    did: tuple[Passage, ...] = ()
    """What the person did on the day of the talk until then."""
    mood: str = ""
    """What the person feels at a moment of recall."""
    recalls: tuple[tuple[str, ...], ...] = ()
    """The memories that come to mind in either of two ways, best first."""
