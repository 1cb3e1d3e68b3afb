"""Which runs a report rests on: found, checked, each with its arm and pair; and which are left out,
and why.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.experiment import Experiment, PlannedRun, ReportError, read_experiment
from simcounsel.events import SCHEMA_VERSION
from simcounsel.runs.log import Log


@dataclass(frozen=True, kw_only=True)
class Member:
    """A run in the sample."""

    log: Log
    arm: str
    """Of the experiment, else the world's condition."""
    clients: tuple[str, ...]
    """Names, in order."""
    seed: int | None
    pair: str | None
    """The other runs of it are its counterparts; 'PARENT@TICK' for forks that no plan names; None
    when it stands alone.
    """
    shared_past: bool
    """Whether the runs of the pair are forks of one past, and not only of the same client and seed.
    """
    ticks: int
    planned_ticks: int
    """Of its world."""
    models: dict[str, str]
    note: str | None = None
    """What a reader must know of it, None when nothing."""

    @property
    def name(self) -> str:
        """Of its folder, which is what every number in a report refers to."""
        return self.log.name

    @property
    def manifest(self) -> dict[str, Any]:
        """As it was written when the run began."""
        return self.log.manifest


@dataclass(frozen=True, kw_only=True)
class Excluded:
    """A folder that looked like a run, or a run of the plan, and is not in the sample."""

    run: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The runs that an analysis rests on, in the order of arm and name."""

    members: tuple[Member, ...]
    excluded: tuple[Excluded, ...]
    experiment: Experiment | None
    """The plan, None without one."""

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """In the experiment's order, others behind by name."""
        planned = [arm.name for arm in self.experiment.arms] if self.experiment else []
        present = {member.arm for member in self.members}
        return (*(arm for arm in planned if arm in present), *sorted(present - set(planned)))

    @property
    def logs(self) -> list[Log]:
        """For the tables."""
        return [member.log for member in self.members]

    def of(self, arm: str) -> list[Member]:
        """The members of an arm."""
        return [member for member in self.members if member.arm == arm]

    def toys(self) -> list[str]:
        """Models in use whose talk is no evidence of anything: the scripted and the embedded
        one.
        """
        used = {
            model
            for member in self.members
            for role, model in member.models.items()
            if role != "embed"
        }
        return sorted(
            {
                kind
                for model in used
                for kind in ("scripted", "embedded")
                if model.replace(":", "+").split("+")[0] == kind
            }
        )


def opened(runs: Iterable["Log | Path | str"]) -> list[Log]:
    """Logs of run folders, read up to what is there now."""
    logs = [run if isinstance(run, Log) else Log(Path(run)) for run in runs]
    for log in logs:
        log.refresh()
    return logs


def find(places: Sequence[Path], *, finished_only: bool = False) -> Sample:
    """The sample in folders of runs, or runs themselves. ReportError when there is nothing to
    report on.
    """
    folders, roots = _folders(places)
    experiments = [found for root in roots if (found := read_experiment(root))]
    if len(experiments) > 1:
        raise ReportError(
            f"{len(experiments)} experiments at once ({', '.join(e.name for e in experiments)});"
            " report on one at a time"
        )
    experiment = experiments[0] if experiments else None
    everybody: list[Member] = []
    excluded: list[Excluded] = []
    for log in opened(folders):
        why = _unusable(log)
        if why:
            excluded.append(Excluded(run=log.name, why=why))
        else:
            everybody.append(_member(log, experiment.planned(log.name) if experiment else None))
    members, more = _sifted(everybody, experiment, finished_only)
    missing = _missing(experiment, {folder.name for folder in folders})
    if not members and not excluded and not missing:
        raise ReportError(
            f"{', '.join(map(str, places))}: no run there; `python -m simcounsel run WORLD` or"
            " `sweep` makes some"
        )
    ranked = sorted(members, key=lambda m: (_rank(m.arm, experiment), m.name))
    return Sample(
        members=tuple(ranked), excluded=(*excluded, *more, *missing), experiment=experiment
    )


def _folders(places: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Folders of runs in name order, each once, and the folders in which an experiment.json may
    lie.
    """
    runs: dict[Path, Path] = {}
    roots: dict[Path, Path] = {}
    for place in places:
        if not place.is_dir():
            raise ReportError(f"{place}: no such folder; name a run, or a folder of runs")
        if _is_run(place):
            runs.setdefault(place.resolve(), place)
            roots.setdefault(place.resolve().parent, place.parent)
            continue
        roots.setdefault(place.resolve(), place)
        for inner in sorted(place.iterdir()):
            if inner.is_dir() and _is_run(inner):
                runs.setdefault(inner.resolve(), inner)
    return sorted(runs.values(), key=lambda path: path.name), list(roots.values())


def _is_run(folder: Path) -> bool:
    return (folder / "manifest.json").exists() or (folder / "events.jsonl").exists()


def _unusable(log: Log) -> str | None:
    """Why a run cannot be counted; None when it can."""
    if not (log.folder / "manifest.json").is_file():
        return "damaged: manifest.json is missing, so world and condition are unknown"
    if not log.manifest.get("world"):
        return "damaged: manifest.json cannot be read, so world and condition are unknown"
    if log.manifest.get("schema_version") != SCHEMA_VERSION:
        return (
            f"its log has version {log.manifest.get('schema_version')}; this analysis reads"
            f" {SCHEMA_VERSION}"
        )
    if not (log.folder / "events.jsonl").is_file():
        return "damaged: events.jsonl is missing"
    damaged = next((problem for problem in log.problems() if "cannot be read" in problem), None)
    if damaged:
        return f"damaged: {damaged.split(' and are')[0]}"
    return "nothing was lived: no tick is complete" if not log.ticks else None


def _member(log: Log, planned: PlannedRun | None) -> Member:
    world = log.manifest["world"]
    parent = log.manifest.get("parent")
    pair = (
        planned.pair
        if planned and planned.pair is not None
        else f"{parent['run']}@{parent['at_tick']}"
        if parent
        else None
    )
    ticks = int(world.get("ticks") or 0)
    return Member(
        log=log,
        arm=planned.arm if planned and planned.arm else str(world.get("condition")),
        clients=clients_of(log.manifest),
        seed=world.get("seed"),
        pair=None if pair is None else str(pair),
        shared_past=parent is not None,
        ticks=log.ticks,
        planned_ticks=ticks,
        models={str(role): str(model) for role, model in log.manifest.get("models", {}).items()},
        note=f"lived {log.ticks} of {ticks} ticks" if log.ticks < ticks else None,
    )


def clients_of(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Names of the residents whose persona is a client's, in name order."""
    return tuple(sorted(name for name, role in roles_of(manifest).items() if role == "client"))


def roles_of(manifest: dict[str, Any]) -> dict[str, str]:
    """Role by name of everybody in the world's file, those included that its condition leaves
    out.
    """
    found = {}
    for resident in manifest.get("world", {}).get("residents", ()):
        persona = resident.get("persona")
        if isinstance(persona, dict):
            found[str(resident.get("name") or persona.get("name"))] = str(persona.get("role"))
    return found


def _sifted(
    members: list[Member], experiment: Experiment | None, finished_only: bool
) -> tuple[list[Member], list[Excluded]]:
    """Without copies, mere stems of forks, what no plan names, and unfinished runs if so wished."""
    kept: list[Member] = []
    out: list[Excluded] = []
    seen: dict[str, str] = {}
    stems = _stems(members)
    for member in members:
        mark = _fingerprint(member.log)
        if mark in seen:
            out.append(
                Excluded(
                    run=member.name, why=f"a copy: its log is the same as that of {seen[mark]}"
                )
            )
        elif member.name in stems:
            out.append(
                Excluded(
                    run=member.name,
                    why=(
                        f"the common past of {stems[member.name]} forks; its ticks are counted in"
                        " them"
                    ),
                )
            )
        elif (why := _beside_the_plan(member.name, experiment)) is not None:
            out.append(Excluded(run=member.name, why=why))
        elif finished_only and member.note:
            out.append(Excluded(run=member.name, why=f"unfinished: {member.note}"))
        else:
            seen[mark] = member.name
            kept.append(_among_its_forks(member, members))
    return kept, out


def _beside_the_plan(run: str, experiment: Experiment | None) -> str | None:
    """Why a plan does not count this run; None when it does, or when there is no plan."""
    if experiment is None or not experiment.runs:
        return None
    planned = experiment.planned(run)
    if planned is None:
        return "not a run of the experiment's plan"
    return None if planned.arm else "a past that the plan forks into its arms, not an arm itself"


def _stems(members: list[Member]) -> dict[str, int]:
    """Runs that ended where others were forked from them, with the number of these."""
    at: dict[str, list[int]] = {}
    for member in members:
        parent = member.manifest.get("parent")
        if parent:
            at.setdefault(parent["run"], []).append(int(parent["at_tick"]))
    return {m.name: len(at[m.name]) for m in members if m.name in at and m.ticks <= max(at[m.name])}


def _among_its_forks(member: Member, members: list[Member]) -> Member:
    """A run that lived on beside its forks belongs to their pair."""
    if member.pair is not None:
        return member
    shared = {
        other.pair
        for other in members
        if other.pair and other.pair.rpartition("@")[0] == member.name
    }
    return replace(member, pair=min(shared), shared_past=True) if len(shared) == 1 else member


def _fingerprint(log: Log) -> str:
    """The same for two runs only when all that happened is the same and the manifest says that it
    is one run.
    """
    digest = hashlib.sha256(str((log.manifest.get("run"), log.manifest.get("created"))).encode())
    with (log.folder / "events.jsonl").open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _missing(experiment: Experiment | None, present: set[str]) -> list[Excluded]:
    planned = experiment.runs if experiment else ()
    why = "planned, but there is no such run: it failed or was not run yet"
    return [Excluded(run=one.run, why=why) for one in planned if one.run not in present]


def _rank(arm: str, experiment: Experiment | None) -> tuple[int, str]:
    names = [one.name for one in experiment.arms] if experiment else []
    return (names.index(arm) if arm in names else len(names), arm)
