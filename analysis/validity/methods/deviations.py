"""What was done otherwise than a registration says (`sweep --preregister`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from simcounsel.errors import RunError
from simcounsel.intake import file_bytes, json_data
from simcounsel.lab.registration import KIND, analysis_hash, registration_digest, world_parts
from simcounsel.runs.record import open_record
from simcounsel.specs.sweep_plan import read_plan


def read_registration(file: Path) -> dict[str, Any]:
    """A registration. RunError where it is none, or not as it was written."""
    try:
        body = json_data(file_bytes(file))
    except (ValueError, OSError) as error:
        raise RunError(f"{file}: cannot be read ({error})") from None
    if not isinstance(body, dict) or body.get("kind") != KIND:
        raise RunError(f"{file}: no registration; write one with `sweep --preregister FILE`")
    if body.get("digest") != registration_digest(body):
        raise RunError(f"{file}: was changed since it was written; its digest does not hold")
    return body


def deviations(body: Mapping[str, Any], runs: Path) -> Iterator[str]:
    """What was done otherwise than registered, in sentences. runs: the folder of the sweep."""
    plan = read_plan(runs)
    if plan is None:
        raise RunError(f"{runs}: no sweep is there; name the folder that `sweep --out` wrote")
    yield from _of_plan(body["plan"], plan.model_dump(mode="json"))
    if body["analysis"] != analysis_hash():
        yield "The code of the analysis is another than registered."
    planned = set(body["worlds"])
    there = {one.parent.name for one in runs.glob("*/manifest.json")}
    if missing := sorted(planned - there):
        yield f"{len(missing)} of {len(planned)} registered runs are not there: {_some(missing)}."
    if added := sorted(there - planned):
        yield f"{len(added)} runs were not registered: {_some(added)}."
    differs: dict[str, list[str]] = {}
    for name in sorted(planned & there):
        for what in _of_run(body, name, runs / name):
            differs.setdefault(what, []).append(name)
    for what, names in differs.items():
        yield f"{what} in {len(names)} of {len(planned)} runs: {_some(names)}."


def _of_run(body: Mapping[str, Any], name: str, folder: Path) -> Iterator[str]:
    run = open_record(folder)
    own, registered = world_parts(run.about), body["worlds"][name]
    for key in sorted({*own, *registered}):
        if own.get(key) != registered.get(key):
            yield f"`{key}` is another than registered"
    prompts = run.manifest.prompts
    other = [key for key, value in body["prompts"].items() if prompts.get(key) != value]
    if other or len(prompts) != len(body["prompts"]):
        yield f"Prompts are others than registered ({_some(other) or 'some were added'})"
    if run.manifest.versions.get("simcounsel") != body["simcounsel"]:
        yield "The version of simcounsel is another than registered"
    began = datetime.fromisoformat(run.manifest.created).astimezone(UTC)
    if began < datetime.fromisoformat(body["created"]):
        yield "The run began before the registration"


def _of_plan(registered: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    words = {
        "arms": "The conditions", "clients": "The clients", "seeds": "The seeds",
        "design": "The design", "paired_at": "The tick of the fork",
        "hypotheses": "The planned tests",
    }  # fmt: skip
    for key, what in words.items():
        if registered.get(key) != now.get(key):
            yield f"{what} are others than registered: {_short(now.get(key))}."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}..."
