"""What `verify` says of a run, and of the ratings of a corpus."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simcounsel.runs import rating_lines
from simcounsel.runs.folder import ways_on


@dataclass(frozen=True, kw_only=True)
class RatingsVerdict:
    """What was found in a folder of ratings."""

    folder: Path
    files: int
    measurements: int
    """That can be read."""
    damages: tuple[str, ...]
    """What does not hold, each with its file and line."""
    notes: tuple[str, ...]
    """What is no damage, but should be known."""

    def lines(self) -> Iterator[str]:
        """For people: a line on the whole, then one for each thing found."""
        places = f"{len(self.damages)} place{'s' if len(self.damages) > 1 else ''}"
        state = f"damaged in {places}" if self.damages else "holds"
        yield f"{self.folder}  {state}: {self.measurements} measurements in {self.files} files"
        yield from (f"  {damage}" for damage in self.damages)
        yield from self.remedies()
        yield from (f"  note: {note}" for note in self.notes)

    def remedies(self) -> Iterator[str]:
        """What can be done about its damages."""
        if self.damages:
            yield f"  remedy: {rating_lines.ways_on(self.folder)}"


@dataclass
class Verdict:
    """What was found in one run."""

    folder: Path
    checked: bool = True
    """Whether its log has this version; else that is what `damages` says, and nothing more."""
    damages: list[str] = field(default_factory=list)
    """What does not hold, each with its file and line."""
    notes: list[str] = field(default_factory=list)
    """What is no damage, but should be known."""
    ticks: int = 0
    """That are complete."""
    sound_ticks: int = 0
    """That hold, from the beginning, before the first damage of the log."""
    log_damaged: bool = False
    """Whether the log itself is not as it was written."""
    events: int = 0
    calls: int = 0
    """In its own calls.jsonl."""
    memories: int = 0
    rated: RatingsVerdict | None = None
    """On what was measured afterwards; None where that was not looked at."""

    def lines(self) -> Iterator[str]:
        """For people: a line on the whole, then one for each thing found."""
        counts = (
            f"{self.ticks} ticks, {self.events} events, {self.calls} calls, {self.memories}"
            " memories"
        )
        if self.rated and self.rated.files:
            counts += f", {self.rated.measurements} measurements made afterwards"
        if not self.checked:
            yield f"{self.folder}  cannot be checked"
        elif not self.damages:
            yield f"{self.folder}  holds: {counts}"
        else:
            places = f"{len(self.damages)} place{'s' if len(self.damages) > 1 else ''}"
            yield f"{self.folder}  damaged in {places}: {counts}"
        yield from (f"  {damage}" for damage in self.damages)
        if self.log_damaged:
            yield f"  remedy: {ways_on(self.folder, self.sound_ticks)}"
        if self.rated:
            yield from self.rated.remedies()
        yield from (f"  note: {note}" for note in self.notes)
