"""A plan that is dated and hashed before anything is asked.

A registration is one JSON file: the plan, a hash of every part of every run's world, of all prompts
and of the analysis's code, the date, and a digest over all of it. Nothing proves the date but where
the file is put: register it, or its digest, where others date it (OSF, AsPredicted, a commit).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from simcounsel import __version__
from simcounsel.disk import write_whole
from simcounsel.engine.opening import placed_nowhere, prompt_hashes, with_digests
from simcounsel.errors import RunError
from simcounsel.record_kinds import About
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.sweep_plan import plan_of

KIND = "simcounsel.registration"


def register(experiment: Experiment, cells: Sequence[Cell], file: Path) -> str:
    """Write a registration; its digest. RunError where there is one already: it is not written
    over.
    """
    body: dict[str, Any] = {
        "kind": KIND,
        "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "simcounsel": __version__,
        "plan": plan_of(experiment, cells).model_dump(mode="json"),
        "worlds": {cell.name: world_parts(with_digests(cell.about)) for cell in cells},
        "prompts": prompt_hashes(),
        "analysis": analysis_hash(),
    }
    body["digest"] = registration_digest(body)
    if file.exists():
        raise RunError(f"{file}: is there already; a registration is not written over")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(body, indent=1, ensure_ascii=False))
    except OSError as error:
        raise RunError(f"{file}: cannot be written ({error.strerror}); choose another") from None
    return str(body["digest"])


def world_parts(about: About) -> dict[str, str]:
    """The hash of each part of what a run is about, by its key."""
    fields = placed_nowhere(about).model_dump(mode="json")
    return {key: _hash(value) for key, value in fields.items()}


def analysis_hash() -> str:
    """SHA-256 over the code of the package `analysis`; '' where it is not installed."""
    try:
        root = Path(str(files("analysis")))
    except ModuleNotFoundError:
        return ""
    sources = sorted(root.rglob("*.py"))
    return _hash([[str(one.relative_to(root)), one.read_text("utf-8")] for one in sources])


def registration_digest(body: Mapping[str, Any]) -> str:
    return _hash({key: value for key, value in body.items() if key != "digest"})


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
