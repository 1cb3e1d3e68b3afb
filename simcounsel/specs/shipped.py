"""The worlds, personas and experiments that come along, wherever simcounsel is installed."""

from pathlib import Path
from typing import Literal

from simcounsel.errors import SpecError

Kind = Literal["worlds", "personas", "experiments"]
PACKAGE = Path(__file__).resolve().parents[1]


def folder(kind: Kind) -> Path:
    """Inside the installed package, or beside it in a checkout. SpecError where neither is."""
    for place in (PACKAGE / "shipped" / kind, PACKAGE.parent / kind):
        if place.is_dir():
            return place
    raise SpecError(
        [f"{PACKAGE}: the {kind} that come along are missing; install simcounsel again"]
    )


def files(kind: Kind) -> list[Path]:
    """All YAML files of the kind, by name."""
    return sorted(folder(kind).glob("*.yaml"))
