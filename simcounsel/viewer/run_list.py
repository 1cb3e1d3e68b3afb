"""The runs that a site shows: one, or all in a folder."""

from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.runs.log import Log


class RunList:
    """Runs by name. A name is looked up among the folders that are there, so it cannot leave
    them.
    """

    def __init__(self, path: Path) -> None:
        """path: a run's folder, or a folder of runs. RunError when it is neither."""
        self.single = (path / "manifest.json").is_file() or (path / "events.jsonl").is_file()
        if not self.single and not path.is_dir():
            raise RunError(f"{path}: no such folder; `simcounsel run WORLD` makes a run")
        self.root = path.resolve().parent if self.single else path.resolve()
        self.only = path.resolve().name if self.single else None
        self._logs: dict[str, Log] = {}

    def names(self) -> list[str]:
        """The runs that are there now, the newest last."""
        if self.only is not None:
            beside = [self.only]
        else:
            beside = [
                p.name
                for p in self.root.iterdir()
                if (p / "manifest.json").is_file() or (p / "events.jsonl").is_file()
            ]
        return sorted(beside, key=lambda name: ((self.root / name).stat().st_mtime, name))

    def log(self, name: str) -> Log:
        """That run's log. KeyError when there is no run of that name."""
        if name not in self.names():
            raise KeyError(name)
        if name not in self._logs:
            self._logs[name] = Log(self.root / name)
        return self._logs[name]
