"""The recipes that are included, by name (`smoke`), wherever simcounsel is installed."""

from pathlib import Path

from simcounsel.specs import shipped

FOLDER = Path(__file__).parent / "configs"


def recipes() -> list[str]:
    """What each is called on the command line."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def recipe(path: Path) -> Path:
    """The recipe that is meant: what lies at the path comes first, then what is included."""
    return shipped.of_folder(FOLDER, path)


def named(path: Path) -> str:
    """What somebody types to mean this recipe."""
    return path.stem if path.parent == FOLDER else str(path)


def offered(incomplete: str) -> list[str]:
    """For the completion of a shell."""
    return [name for name in recipes() if name.startswith(incomplete)]
