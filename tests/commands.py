"""What running the command line within a test comes to. The fixture `simcounsel` runs it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from simcounsel.runs.run import Run


class Ended(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Ended]


def only_run(out: Path) -> Run:
    (folder,) = out.iterdir()
    return Run.open(folder)
