"""The runs in some places: runs, sweeps, folders of these at any depth."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from simcounsel.errors import RunError
from simcounsel.intake import file_bytes, json_data
from simcounsel.record_kinds import WORLD, is_record, kind_of

PLAN = "experiment.json"


def world_runs(places: Sequence[Path]) -> tuple[Path, ...]:
    """All runs of worlds in these places, each once, in order. Of a sweep the shared pasts are left
    out, whose ticks its forks have; and so are records in which nobody lives. RunError when a place
    holds none.
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
    pasts = _pasts(place / PLAN)
    for inner in sorted(place.iterdir()):
        if inner.is_symlink() or not inner.is_dir() or inner.name.startswith("."):
            continue
        if not is_record(inner):
            yield from _beneath(inner)
        elif inner.name not in pasts and kind_of(inner) is WORLD:
            yield inner


def _pasts(plan: Path) -> frozenset[str]:
    """The runs of a sweep that are forked into its arms."""
    fields = _fields(plan)
    runs = fields.get("runs")
    return frozenset(
        str(one.get("run"))
        for one in (runs if isinstance(runs, list) else ())
        if isinstance(one, dict) and one.get("arm") is None
    )


def _fields(file: Path) -> dict[str, object]:
    """What a file of JSON holds; nothing where there is none, or it cannot be read: whoever opens
    the run says what is wrong with it.
    """
    try:
        fields = json_data(file_bytes(file))
    except (OSError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}
