"""Where what is wrong in a world stands, once an experiment has changed it: in the world's file, or
in the experiment's.
"""

import re
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.load import Lines, read_yaml
from simcounsel.specs.patching import patch
from simcounsel.specs.problems import At, Problem, file_of
from simcounsel.specs.world_file import load_world

_BY_KEY = re.compile(r"--set (?P<key>[^:]+): ")


class Patched:
    """A world as one condition of an experiment changes it."""

    def __init__(
        self,
        experiment: Experiment,
        path: Path,
        lines: Lines,
        world: Path,
        changes: dict[str, Any],
        arm: str,
    ) -> None:
        """path, lines: the experiment's file. world: the world's. changes: by key. arm: the name of
        the condition, or `past`.
        """
        self.experiment, self.path, self.lines, self.world = experiment, path, lines, world
        self._changes = changes
        self._arm = arm

    def placed(self, problem: str, number: int, client: str | None) -> str:
        """A problem of the world that came of it, in the file and line where it is. number: which
        world of the experiment it is. client: the file of who takes a part in it.
        """
        if by_key := _BY_KEY.match(problem):
            return self._here(self._origin(by_key["key"]), problem)
        if isinstance(problem, Problem) and problem.file == self.world:
            for key, at in self._patches():
                if problem.at[: len(at)] == at:
                    return self._here((*self._origin(key), *problem.at[len(at) :]), problem.what)
        placed = file_of(problem) is not None
        if placed and (not isinstance(problem, Problem) or problem.file != self.world):
            return problem
        if problem in self._own():
            return problem if placed else self._here(("worlds", number), problem)
        if client and not placed:
            return self._here(("clients", self.experiment.clients.index(client)), problem)
        under = f"with condition {self._arm!r}{f' and client {client}' if client else ''}"
        return self._here(("worlds", number), f"{under}: {problem}")

    def _here(self, at: At, what: str) -> Problem:
        return Problem(self.path, self.lines, at, what)

    def _patches(self) -> list[tuple[str, At]]:
        """Each key that is changed and its place in the world's data, the last first."""
        data, _ = read_yaml(self.world)
        found: list[tuple[str, At]] = []
        for key, value in self._changes.items():
            try:
                found.insert(0, (key, patch(data, key, value)))
            except SpecError:
                continue
        return found

    def _own(self) -> list[str]:
        """What is wrong in the world's file by itself."""
        try:
            load_world(self.world)
        except SpecError as error:
            return error.problems
        return []

    def _origin(self, key: str) -> At:
        """Where the experiment changes that key."""
        for index, arm in enumerate(self.experiment.conditions):
            if arm.name == self._arm and key in arm.set:
                return ("conditions", index, "set", key)
        if self.experiment.paired_at is not None and key in self.experiment.past:
            return ("past", key)
        return ("set", key) if key in self.experiment.set else (key,)
