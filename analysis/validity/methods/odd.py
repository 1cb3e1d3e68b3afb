"""A study that writes its methods: an ODD description out of the runs' manifests (Grimm and
colleagues 2020), with models and prompts, and what was done otherwise than registered.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from analysis.errors import ReportError
from analysis.finding import find
from analysis.page import environment
from analysis.sample import Sample
from simcounsel.disk import write_whole
from simcounsel.engine.opening import prompt_hashes
from simcounsel.runs.log import Log
from simcounsel.runs.run import Run

LIVED = (
    *("arrive", "plan", "act", "perceive", "appraise", "converse", "remember", "reflect"),
    *("replan", "measure"),
)
SKIPPED = ("arrive", "account", "remember", "gather", "converse", "remember", "reflect", "measure")
STATES = {
    "moves": "talk and reflection move",
    "still": "nothing moves",
    "off": "are not in use here",
}


def write_odd(
    places: Sequence[Path],
    file: Path,
    registered: Mapping[str, Any] | None = None,
    deviations: Sequence[str] = (),
) -> Path:
    """Write the description of the runs in some places. registered: the registration that the
    deviations are from. ReportError where there is no run of a world, or it cannot be written.
    """
    sample = find(places)
    if not sample.members:
        raise ReportError(f"{places[0]}: no run can be described; see what `report` leaves out")
    template = environment(html=False).get_template("odd.md.j2")
    text = template.render(**_context(sample), registered=registered, deviations=list(deviations))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    except OSError as error:
        raise ReportError(
            f"{file}: cannot be written ({error.strerror}); choose another -o"
        ) from None
    return file


def _context(sample: Sample) -> dict[str, Any]:
    first, experiment = sample.members[0], sample.experiment
    world = first.manifest["world"]
    models: dict[str, set[str]] = {}
    for member in sample.members:
        for role, name in member.models.items():
            models.setdefault(role, set()).add(name)
    prompts, changed = _prompts(sample)
    return {
        "title": experiment.name if experiment else world["name"],
        "about": experiment.about if experiment else world.get("about", ""),
        "claims": list(_claims(sample)),
        "simcounsel": first.manifest.get("versions", {}).get("simcounsel", "?"),
        "runs": [member.name for member in sample.members],
        "world": world,
        "people": list(_people(world)),
        "clients": sorted({who for member in sample.members for who in member.clients}),
        "client_state": STATES[world.get("client_state", "moves")],
        "places": list(_places(world["places"])),
        "hours": round(world["ticks"] * world["tick_minutes"] / 60, 1),
        "phases": [
            one
            for one in (SKIPPED if world.get("days") == "skipped" else LIVED)
            if one not in world.get("without", ())
        ],
        "seeds": sorted({member.seed for member in sample.members if member.seed is not None}),
        "arms": experiment.arms if experiment else (),
        "experiment": experiment,
        "cut": any(one["mind"] != "person" for one in _people(world))
        or any(arm.do for arm in (experiment.arms if experiment else ())),
        "models": [(role, sorted(names)) for role, names in sorted(models.items())],
        "versions_used": sorted(first.manifest.get("versions", {}).items()),
        "prompts": prompts,
        "prompt_count": len(first.manifest.get("prompts") or {}),
        "changed_prompts": changed,
    }


def _claims(sample: Sample) -> Iterator[str]:
    for one in sample.experiment.hypotheses if sample.experiment else ():
        yield (
            f"{one.id}: {one.says or '–'} ({one.test} of {one.instrument}.{one.score},"
            f" {' against '.join(one.contrast)}, expected {one.direction}, alpha {one.alpha:g})"
        )


def _people(world: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for one in world["residents"]:
        yield {
            "name": str(one["name"]),
            "role": str(one["persona"]["role"]),
            "home": str(one["home"]),
            "mind": str(one.get("mind") or "person"),
            "policy": str((one.get("policy") or {}).get("name") or "–"),
        }


def _places(places: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in places:
        if one.get("places"):
            yield from _places(one["places"])
        else:
            yield f"{one['name']} ({one['kind']})"


def _prompts(sample: Sample) -> tuple[list[dict[str, str]], list[str]]:
    """The texts behind the questions of these runs, as the manifest's hashes name them; and those
    of which this version has others.
    """
    asked = {
        str(call.get("purpose"))
        for member in sample.members
        for call in _calls(member.log)
        if call.get("verb") != "embed"
    }
    manifest = sample.members[0].manifest
    hashes: dict[str, str] = dict(manifest.get("prompts") or {})
    own = (manifest["world"].get("prompts") or {}).get("texts") or {}
    now = prompt_hashes()
    folder = "zh/" if manifest["world"].get("language") == "zh" else ""
    found, changed = [], []
    for purpose in sorted(asked):
        name = f"{folder}{purpose}"
        key = next((k for k in (f"prompts/{name}.txt", f"{name}.txt") if k in hashes), "")
        source = files("simcounsel.prompts") / f"{name}.txt"
        if not key or not source.is_file():
            continue
        text = own.get(name) or source.read_text(encoding="utf-8")
        found.append({"name": purpose, "hash": hashes[key], "text": text.rstrip()})
        if now.get(key) != hashes[key] and name not in own:
            changed.append(purpose)
    return found, changed


def _calls(log: Log) -> Iterator[Mapping[str, Any]]:
    yield from Run.open(log.folder).calls()
