"""The runs that a site shows: one, or all in a folder and in the folders below it."""

from collections.abc import Iterator
from pathlib import Path

from simcounsel.errors import RunError
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

    def __init__(self, path: Path) -> None:
        """path: a run's folder, or a folder of runs, of sweeps, of folders of these. RunError when
        it is neither.
        """
        self.single = is_record(path)
        if not self.single and not path.is_dir():
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
            self._logs[name] = Log(self._folders()[name])
        return self._logs[name]

    def _folders(self) -> dict[str, Path]:
        if self.only is not None:
            return {self.only: self.root / self.only}
        return {
            BELOW.join(folder.relative_to(self.root).parts): folder for folder in _runs(self.root)
        }


def _runs(folder: Path, depth: int = 0) -> Iterator[Path]:
    """In a folder of runs, and below it."""
    for inner in folder.iterdir():
        if is_record(inner):
            yield inner
        elif depth < DEEPEST and inner.is_dir() and not inner.is_symlink():
            yield from _runs(inner, depth + 1)
