"""What must be said of runs wherever their numbers stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.finding import find


@dataclass(frozen=True, kw_only=True)
class SaidOf:
    """Of the runs among some places."""

    toys: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def said_of(places: Sequence[Path]) -> SaidOf:
    """Of runs which models are no evidence, and their labels; nothing of what is no run."""
    runs = [one for one in places if one.is_dir() and _has_runs(one)]
    if not runs:
        return SaidOf()
    sample = find(runs)
    return SaidOf(
        toys=tuple(sample.toys()),
        labels=sample.labels,
        notes=tuple(f"Left out: {one.run}: {one.why}" for one in sample.excluded),
    )


def _has_runs(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() or any(folder.glob("*/manifest.json"))
