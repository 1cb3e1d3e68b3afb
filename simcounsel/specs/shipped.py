"""The worlds, personas and experiments that are included, wherever simcounsel is installed."""

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
        [f"{PACKAGE}: the {kind} that are included are missing; install simcounsel again"]
    )


def files(kind: Kind) -> list[Path]:
    """All YAML files of the kind, by name."""
    return sorted(folder(kind).glob("*.yaml"))


def names(kind: Kind) -> list[str]:
    """What each is called on the command line: its file's name without the ending."""
    return [file.stem for file in files(kind)]


def found(kind: Kind, path: Path) -> Path:
    """The file that is meant: what lies at the path, else what is included under that bare name
    (`insomnia`), else the path itself. Whatever is there at the path comes first.
    """
    return of_folder(folder(kind), path)


def of_folder(place: Path, path: Path, ending: str = ".yaml") -> Path:
    """The same for any folder of files that are included."""
    if path.name != str(path) or path.suffix or path.exists():
        return path
    here = place / f"{path.name}{ending}"
    return here if here.is_file() else path


def of_that_name(path: Path) -> str | None:
    """The bare name of what is included and is called like a file that is not there, so that
    somebody who names `worlds/insomnia.yaml` away from a checkout is told; None if nothing is.
    """
    kinds: tuple[Kind, ...] = ("worlds", "experiments")
    return next((path.stem for kind in kinds if path.stem in names(kind)), None)
