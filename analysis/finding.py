"""Which runs of some folders are in the sample, each with its arm and pair; which are left out, and
why.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from analysis.errors import ReportError
from analysis.sample import Excluded, Member, Sample, clients_of, counseling_of, opened
from simcounsel.record_kinds import MANIFEST, WORLD, is_record
from simcounsel.runs.chain import other_version
from simcounsel.runs.log import Log
from simcounsel.runs.manifest import label_of
from simcounsel.specs.sweep_plan import PlannedRun, SweepPlan, read_plan


def find(places: Sequence[Path], *, finished_only: bool = False, damaged: bool = False) -> Sample:
    """The sample in folders of runs, or runs themselves. ReportError when there is nothing to
    report on, or a run is damaged; unless what can be read of it is to count (`damaged`).
    """
    folders, roots = _folders(places)
    experiments = [found for root in roots if (found := read_plan(root))]
    if len(experiments) > 1:
        raise ReportError(
            f"{len(experiments)} experiments at once ({', '.join(e.name for e in experiments)});"
            " report on one at a time"
        )
    experiment = experiments[0] if experiments else None
    everybody: list[Member] = []
    excluded: list[Excluded] = []
    logs = opened(folders)
    damages = tuple(
        f"{log.folder}/{one}" for log in logs if not _unusable(log) for one in log.all_damages()[:1]
    )
    if damages and not damaged:
        raise ReportError(
            f"{'; '.join(damages)}; put the files back as they were, leave the run out, or count"
            " what can be read with --damaged (`simcounsel verify` tells all of it)"
        )
    for log in logs:
        why = _unusable(log)
        if why:
            excluded.append(Excluded(run=log.name, why=why))
        else:
            everybody.append(_member(log, experiment.planned(log.name) if experiment else None))
    members, more = _sifted(_by_counselor(everybody, experiment), experiment, finished_only)
    missing = _missing(experiment, {folder.name for folder in folders})
    if not members and not excluded and not missing:
        raise ReportError(
            f"{', '.join(map(str, places))}: no run there; `simcounsel run WORLD` or"
            " `sweep` makes some"
        )
    ranked = sorted(members, key=lambda m: (_rank(m.arm, experiment), m.name))
    return Sample(
        members=tuple(ranked),
        excluded=(*excluded, *more, *missing),
        experiment=experiment,
        damages=damages,
        labels=tuple(dict.fromkeys(filter(None, (label_of(m.models.values()) for m in members)))),
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
        if is_record(place):
            runs.setdefault(place.resolve(), place)
            roots.setdefault(place.resolve().parent, place.parent)
            continue
        roots.setdefault(place.resolve(), place)
        for inner in sorted(place.iterdir()):
            if inner.is_dir() and is_record(inner):
                runs.setdefault(inner.resolve(), inner)
    return sorted(runs.values(), key=lambda path: path.name), list(roots.values())


def _unusable(log: Log) -> str | None:
    """Why a run cannot be counted; None when it can."""
    if log.kind is WORLD and not (log.folder / MANIFEST).is_file():
        return "damaged: manifest.json is missing, so world and condition are unknown"
    if log.kind is WORLD and not log.manifest:
        return "damaged: manifest.json cannot be read, so world and condition are unknown"
    if log.kind is not WORLD:
        return f"a {log.kind.noun}: nobody lives in it; `simcounsel {log.kind.report}` reads it"
    if other := other_version(log.manifest):
        return other
    if not (log.folder / "events.jsonl").is_file():
        return "damaged: events.jsonl is missing"
    return "nothing was run: no tick is complete" if not log.ticks else None


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
        note=f"ran {log.ticks} of {ticks} ticks" if log.ticks < ticks else None,
    )


def _by_counselor(members: list[Member], experiment: SweepPlan | None) -> list[Member]:
    """Where no plan names the arms and counselors go by different policies, therapies or manuals,
    these are arms, and not only the world's condition: six clinics of different therapies are no
    one arm.
    """
    if experiment is not None:
        return members
    ways = {member.name: counseling_of(member.manifest) for member in members}
    if len({way for way in ways.values() if way}) < 2:
        return members
    one_condition = len({member.arm for member in members}) == 1
    return [
        replace(member, arm=way if one_condition else f"{member.arm}, {way}")
        if (way := ways[member.name])
        else member
        for member in members
    ]


def _sifted(
    members: list[Member], experiment: SweepPlan | None, finished_only: bool
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


def _beside_the_plan(run: str, experiment: SweepPlan | None) -> str | None:
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
    """A run that went on beside its forks belongs to their pair."""
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


def _missing(experiment: SweepPlan | None, present: set[str]) -> list[Excluded]:
    planned = experiment.runs if experiment else ()
    why = "planned, but there is no such run: it failed or was not run yet"
    return [Excluded(run=one.run, why=why) for one in planned if one.run not in present]


def _rank(arm: str, experiment: SweepPlan | None) -> tuple[int, str]:
    names = [one.name for one in experiment.arms] if experiment else []
    return (names.index(arm) if arm in names else len(names), arm)
