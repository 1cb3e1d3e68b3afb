"""A small commented world and persona to start from (`simcounsel init`)."""

from importlib.resources import files
from pathlib import Path

from simcounsel.disk import write_text
from simcounsel.errors import SpecError

FILES = ("world.yaml", "client.yaml", "friend.yaml")


def write_starter(folder: Path) -> list[Path]:
    """Write the starter files into a new or empty folder; return them. SpecError when it is in
    use.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError([f"{folder}: exists and is not an empty folder; choose another DIR"])
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            text = (
                files("simcounsel.cli").joinpath("starter_files", name).read_text(encoding="utf-8")
            )
            write_text(folder / name, text)
            written.append(folder / name)
    except OSError as error:
        raise SpecError(
            [f"{folder}: cannot be written ({error.strerror}); choose another DIR"]
        ) from None
    return written
