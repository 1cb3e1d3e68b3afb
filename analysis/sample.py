"""The runs that a report rests on, each with its arm and pair."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from simcounsel.clock import date_text
from simcounsel.runs.history import History
from simcounsel.runs.log import Log
from simcounsel.specs.sweep_plan import SweepPlan


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

    def open_ends(self) -> list[str]:
        """The conversations that ended on open danger, a sentence each."""
        start = datetime.fromisoformat(self.manifest["world"]["start"])
        return [
            f"{self.name}{f', conversation {one.number}' if one.number else ''}:"
            f" {' and '.join(one.who)}, {date_text(one.minute, start)}: {one.danger}; {one.since}"
            for one in History(self.log).open_ends()
        ]


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
    experiment: SweepPlan | None
    """The plan, None without one."""
    labels: tuple[str, ...] = ()
    """What has to be said of runs of the sample wherever they appear."""
    damages: tuple[str, ...] = ()
    """The first place in each damaged run that is not as it was written."""

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """In the experiment's order, others behind by name."""
        planned = [arm.name for arm in self.experiment.arms] if self.experiment else []
        present = {member.arm for member in self.members}
        return (*(arm for arm in planned if arm in present), *sorted(present - set(planned)))

    @cached_property
    def open_ends(self) -> tuple[str, ...]:
        """The conversations of all runs that ended on open danger, a sentence each."""
        return tuple(one for member in self.members for one in member.open_ends())

    @cached_property
    def safety_moves(self) -> str:
        """How many lines of counselors the safety protocol decided, in all and by arm; '' where it
        decided none.
        """
        by_arm = {arm: [History(one.log).counts() for one in self.of(arm)] for arm in self.arms}
        told = {
            arm: (
                sum(one.safety_moves for one in counts),
                sum(one.counselor_lines for one in counts),
            )
            for arm, counts in by_arm.items()
        }
        moves, lines = (sum(one) for one in zip(*told.values(), strict=True)) if told else (0, 0)
        each = ", ".join(f"{arm} {some} of {all}" for arm, (some, all) in told.items() if all)
        return f"{moves} of {lines} lines of counselors ({each})" if moves else ""

    @cached_property
    def drawn(self) -> dict[str, str]:
        """The clients who were drawn, by name, and from which written one each."""
        return dict(one for member in self.members for one in drawn_in(member.manifest))

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
        return sorted({kind for model in used if (kind := stand_in(model))})


def stand_in(model: str) -> str | None:
    """Which of our stand-ins bears this name; None: it is a model that reads its prompts."""
    kind = model.replace(":", "+").split("+")[0]
    return kind if kind in ("scripted", "embedded") else None


def opened(runs: Iterable["Log | Path | str"]) -> list[Log]:
    """Logs of run folders, read up to what is there now."""
    logs = [run if isinstance(run, Log) else Log(Path(run)) for run in runs]
    for log in logs:
        log.refresh()
    return logs


def clients_of(manifest: dict[str, Any]) -> tuple[str, ...]:
    """Names of the residents whose persona is a client's, in name order."""
    return tuple(sorted(name for name, role in roles_of(manifest).items() if role == "client"))


def counseling_of(manifest: dict[str, Any]) -> str:
    """How the counselors of a run go about it, in words: `course, cbt`; '' where no counselor is
    there, or none is told how.
    """
    world = manifest.get("world", {})
    if world.get("condition") in ("client_only", "client_layperson"):
        return ""
    found = []
    for resident in world.get("residents", ()):
        policy = resident.get("policy")
        if roles_of(manifest).get(str(resident.get("name"))) != "counselor" or not policy:
            continue
        parts = [str(policy.get("name"))] + [
            str(one.get("id") or one.get("name")) if isinstance(one, dict) else str(one)
            for one in (policy.get("therapy"), policy.get("manual"))
            if one
        ]
        found.append(", ".join(parts))
    return " and ".join(sorted(found))


def drawn_in(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The clients of a run who were drawn from a written one, and from whom."""
    for resident in manifest.get("world", {}).get("residents", ()):
        persona = resident.get("persona")
        if isinstance(persona, dict) and isinstance(persona.get("drawn"), dict):
            name = str(resident.get("name") or persona.get("name"))
            yield name, str(persona["drawn"].get("of"))


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
