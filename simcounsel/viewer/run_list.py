"""The runs that a site shows: one, or all in a folder and in the folders below it; and by its name
each run of the gallery, which is in no list.
"""

from collections.abc import Iterator
from pathlib import Path

from simcounsel.errors import RunError, SpecError
from simcounsel.gallery import PREFIX, exhibits, folder_of
from simcounsel.record_kinds import is_record
from simcounsel.runs.log import Log

BELOW = ":"
"""Between the folders in the name of a run that lies deeper, such as `sweep:run`; an address holds
it as it is.
"""
DEEPEST = 4
"""Folders below the one that was named."""


class RunList:
    """Runs by name. A name is looked up among the folders that are there, so it cannot leave
    them.
    """

    def __init__(self, path: Path, *, may_lack: bool = False) -> None:
        """path: a run's folder, or a folder of runs, of sweeps, of folders of these. RunError when
        it is neither, unless it may lack: then the list is empty.
        """
        self.single = is_record(path)
        if not self.single and not path.is_dir() and not may_lack:
            raise RunError(f"{path}: no such folder; `simcounsel run WORLD` makes a run")
        self.root = path.resolve().parent if self.single else path.resolve()
        self.only = path.resolve().name if self.single else None
        self._logs: dict[str, Log] = {}

    def names(self) -> list[str]:
        """The runs that are there now, the newest last."""
        found = self._folders()
        return sorted(found, key=lambda name: (found[name].stat().st_mtime, name))

    def log(self, name: str) -> Log:
        """That run's log. KeyError when there is no run of that name."""
        if name not in self._logs or not is_record(self._logs[name].folder):
            shown = name.startswith(PREFIX)
            self._logs[name] = Log(_exhibit(name) if shown else self._folders()[name])
        return self._logs[name]

    def _folders(self) -> dict[str, Path]:
        if not self.root.is_dir():
            return {}
        if self.only is not None:
            return {self.only: self.root / self.only}
        return {
            BELOW.join(folder.relative_to(self.root).parts): folder for folder in _runs(self.root)
        }


def _exhibit(name: str) -> Path:
    """The folder of a run of the gallery. KeyError when there is none of that name."""
    try:
        return folder_of(name.removeprefix(PREFIX))
    except SpecError:
        raise KeyError(name) from None


def shown_in_gallery() -> list[dict[str, str]]:
    """Name, what it shows and how it was made, of each run of the gallery."""
    return [
        {"name": f"{PREFIX}{one.name}", "line": one.line, "made": one.made}
        for one in exhibits().values()
    ]


def _runs(folder: Path, depth: int = 0) -> Iterator[Path]:
    """In a folder of runs, and below it."""
    for inner in folder.iterdir():
        if is_record(inner):
            yield inner
        elif depth < DEEPEST and inner.is_dir() and not inner.is_symlink():
            yield from _runs(inner, depth + 1)
