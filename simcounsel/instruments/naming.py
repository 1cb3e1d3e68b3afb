"""Instruments as worlds and experiments name them: looked up when a file is checked or a sweep is
planned, since packages may bring more.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.instruments.scale import INSTRUMENTS, unknown_instrument
from simcounsel.specs.file_text import Lines
from simcounsel.specs.load import read_yaml
from simcounsel.specs.patching import names_a_file
from simcounsel.specs.problems import At, Problem

WHERE_MEASURED = ("hypotheses", "multiverse")
"""Parts of an experiment that name what is measured elsewhere in it, which is checked there."""


def check_instruments(*files: Path) -> None:
    """See that worlds and experiments name only instruments that there are. SpecError."""
    problems = [one for file in files for one in unknown_instruments(file, *read_yaml(file))]
    if problems:
        raise SpecError(list(problems))


def unknown_instruments(path: Path, data: Any, lines: Lines, at: At = ()) -> Iterator[Problem]:
    """A problem for each name that no instrument has, wherever it is in a world or experiment:
    also in what a condition sets.
    """
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in keys:
        value, place = data[key], (*at, key)
        if key in WHERE_MEASURED:
            continue
        named = isinstance(value, str) and str(key).split(".")[-1] == "instrument"
        if named and not names_a_file(value) and value not in INSTRUMENTS:
            where = ".".join(map(str, place))
            yield Problem(path, lines, place, f"{where}: {unknown_instrument(value)}")
        yield from unknown_instruments(path, value, lines, place)
