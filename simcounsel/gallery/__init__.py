"""Runs that ship with the package, packed and pinned by SHA-256: `gallery:NAME` wherever a run's
folder is taken.

`gallery.yaml` lists them, NAME.tar.xz holds each. One is unpacked into the user's cache when it is
first asked for; what a command writes into a run's folder (ratings, an index) lands there.
"""

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from simcounsel.cache import cache_dir
from simcounsel.errors import SpecError
from simcounsel.packaged import packaged

PREFIX = "gallery:"
HELD = ("events.jsonl", "calls.jsonl")
"""The files of a run that are packed with its manifest, and beside them what was measured since."""
MEASURED = "measurements"


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One run that ships."""

    name: str
    line: str
    """What it shows, in a line."""
    made: str
    """How it was made."""
    sha256: str
    """Of the packed file."""


@cache
def exhibits() -> Mapping[str, Exhibit]:
    """All of them by name, in the order in which they are best looked at."""
    listed: list[dict[str, Any]] = packaged(__name__, "gallery.yaml") or []
    return {one["name"]: Exhibit(**one) for one in listed}


def located(argument: str) -> str:
    """An argument with `gallery:NAME` made the folder of that run; any other as it is.
    SpecError when there is none of that name, or its file is not the one that was pinned.
    """
    if not argument.startswith(PREFIX):
        return argument
    return str(folder_of(argument.removeprefix(PREFIX)))


def folder_of(name: str) -> Path:
    """The folder of a run of the gallery, unpacked if it is not yet. SpecError as for `located`."""
    exhibit = exhibits().get(name)
    if exhibit is None:
        near = get_close_matches(name, exhibits(), n=1)
        there = ", ".join(exhibits()) or "none"
        hint = f"did you mean {PREFIX}{near[0]}?" if near else f"there are {there}"
        raise SpecError([f"{PREFIX}{name}: no such run in the gallery; {hint}"])
    folder = cache_dir() / "gallery" / exhibit.sha256[:12] / name
    if not folder.is_dir():
        _unpack(exhibit, folder)
    return folder


def _unpack(exhibit: Exhibit, folder: Path) -> None:
    """At once or not at all, so that two commands can begin together."""
    packed = files(__name__).joinpath(f"{exhibit.name}.tar.xz").read_bytes()
    if hashlib.sha256(packed).hexdigest() != exhibit.sha256:
        raise SpecError(
            [
                f"{PREFIX}{exhibit.name}: its file is not the one that was pinned"
                f" ({exhibit.sha256[:12]}); install simcounsel again"
            ]
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz") as archive:
            if hasattr(tarfile, "data_filter"):
                archive.extractall(made, filter="data")
            else:  # Python before 3.11.4; what is unpacked is pinned by its hash
                archive.extractall(made)
        try:
            os.replace(made / exhibit.name, folder)
        except OSError:
            if not folder.is_dir():  # else another command was faster
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def pack(run: Path, name: str, manifest: str = "manifest.json") -> bytes:
    """A run's folder as NAME.tar.xz: the same bytes for the same run, without times or owners.
    manifest: its file.
    """
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:xz", preset=9, format=tarfile.USTAR_FORMAT) as archive:
        measured = [f"{MEASURED}/{file.name}" for file in (run / MEASURED).glob("*.jsonl")]
        for file in sorted([manifest, *HELD, *measured]):
            data = (run / file).read_bytes()
            entry = tarfile.TarInfo(f"{name}/{file}")
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return held.getvalue()
