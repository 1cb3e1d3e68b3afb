"""A manual from its file, if it can be run."""

from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, line_of, load_spec
from simcounsel.therapies.specs.manual import Manual
from simcounsel.therapies.specs.soundness import unsound


def load_manual(path: Path) -> Manual:
    """A manual's file; SpecError names every problem in it with its line."""
    manual, lines = load_spec(path, Manual)
    return sound(manual, path, lines)


def sound(manual: Manual, path: Path, lines: Lines) -> Manual:
    """The manual itself. SpecError when it cannot be run."""
    problems = [
        f"{path}:{line_of(lines, at)}: {'.'.join(map(str, at))}: {what}"
        for at, what in unsound(manual)
    ]
    if problems:
        raise SpecError(problems)
    return manual
