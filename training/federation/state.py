"""What the server keeps between rounds, in memory and on disk: all that is needed to go on exactly
as if nothing had happened.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.numpy import load, save

from simcounsel.disk import write_data, write_text, write_whole
from training.errors import TrainingError
from training.federation.shift import Shift
from training.federation.updates import Weights, Wide

TENSORS, FACTS = "state.safetensors", "state.json"
FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """What the server holds between two rounds."""

    weights: Weights
    """All adapters, frozen ones too."""
    round: int = 0
    """How many are done, void ones included."""
    shift: Shift | None = None
    """What is added to the base."""
    moments: Mapping[str, Wide] = field(default_factory=dict)
    """Of the server's optimizer."""
    charged: int = 0
    """Rounds that the privacy account has been charged for, at least `round`."""


def to_folder(state: ServerState, folder: Path, facts: Mapping[str, Any] | None = None) -> None:
    """Write a state; whoever looks sees the whole of it or none. facts: what else belongs to it,
    such as the ledger.
    """
    parts: Mapping[str, Mapping[str, Any]] = {
        "weights": state.weights,
        "shift": state.shift or {},
        "moments": state.moments,
    }
    data = save(
        {
            f"{part}/{key}": value
            for part, tensors in parts.items()
            for key, value in tensors.items()
        }
    )
    said = {
        "format": FORMAT,
        "round": state.round,
        "charged": state.charged,
        "sha256": hashlib.sha256(data).hexdigest(),
        **(facts or {}),
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    new, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir()
    write_data(new / TENSORS, data)
    write_text(new / FACTS, json.dumps(said, indent=2) + "\n")
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    _synced(folder.parent)
    shutil.rmtree(old, ignore_errors=True)


def replaced(path: Path, text: str) -> None:
    """Write a file; whoever looks sees the old or the new, whole."""
    write_whole(path, text)
    _synced(path.parent)


def _synced(folder: Path) -> None:
    at = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(at)
    finally:
        os.close(at)


def from_folder(folder: Path) -> tuple[ServerState, dict[str, Any]]:
    """A state and its facts, bit by bit as they were written. TrainingError for a folder that is
    none, or is damaged.
    """
    try:
        data, said = (
            (folder / TENSORS).read_bytes(),
            json.loads((folder / FACTS).read_text(encoding="utf-8")),
        )
    except (OSError, ValueError) as error:
        raise TrainingError(
            f"{folder}: no state to resume from ({error}); take the round before"
        ) from None
    if said.get("format") != FORMAT or said.get("sha256") != hashlib.sha256(data).hexdigest():
        raise TrainingError(
            f"{folder}: damaged, or of another version: {TENSORS} does not fit {FACTS}; take the"
            " round before"
        )
    parts: dict[str, dict[str, Any]] = {"weights": {}, "shift": {}, "moments": {}}
    for name, value in load(data).items():
        part, _, key = name.partition("/")
        parts[part][key] = value
    state = ServerState(
        round=said["round"],
        charged=said["charged"],
        weights=parts["weights"],
        shift=parts["shift"] or None,
        moments=parts["moments"],
    )
    return state, said


def latest(rounds: Path) -> Path | None:
    """The folder of the last round there is; None if there is none."""
    found = sorted(
        (path for path in rounds.glob("*") if path.name.isdecimal() and path.is_dir()),
        key=lambda path: int(path.name),
    )
    return found[-1] if found else None
