"""The runs in some places: runs, sweeps, folders of these at any depth."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.record_kinds import WORLD, is_record, kind_of
from simcounsel.specs.sweep_plan import read_plan


def world_runs(places: Sequence[Path]) -> tuple[Path, ...]:
    """All runs of worlds in these places, each once, in order. Of a sweep the shared pasts are left
    out, whose ticks its forks have; and so are records in which nobody lives. RunError when a place
    holds none, or a sweep's plan cannot be read.
    """
    found: dict[Path, Path] = {}
    for place in places:
        here = [place] if is_record(place) else list(_beneath(place))
        if not here:
            raise RunError(f"{place}: no run of a world there, and no folder of such runs")
        for folder in here:
            found.setdefault(folder.resolve(), folder)
    return tuple(found.values())


def common_place(folders: Sequence[Path]) -> Path:
    """The folder that holds them all; of one run its own."""
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))


def _beneath(place: Path) -> Iterator[Path]:
    if not place.is_dir():
        return
    plan = read_plan(place)
    pasts = {one.run for one in plan.runs if one.arm is None} if plan else ()
    for inner in sorted(place.iterdir()):
        if inner.is_symlink() or not inner.is_dir() or inner.name.startswith("."):
            continue
        if not is_record(inner):
            yield from _beneath(inner)
        elif inner.name not in pasts and kind_of(inner) is WORLD:
            yield inner
