"""The benchmark as an experiment for each therapy or case, written before anything is run."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from analysis.courses.battery import kind_of, measured
from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.file_text import write_text
from simcounsel.specs.load import write_yaml
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.therapies.specs.case_folder import Case, read_case_folder
from simcounsel.therapies.specs.client_files import in_terms_of
from simcounsel.therapies.specs.therapy import Therapy, find_therapy

CLIENTS = ("ines walter rowan elif kofi aisha mei leila samuel stelios tamsin daniela").split()
"""The twelve who have a file in the terms of each therapy."""
WORLD, TICKS_A_DAY = "insomnia.yaml", 96
AT, BEFORE = "15:00", 12
"""When sessions are, and the ticks from the world's first noon until then."""


@dataclass(frozen=True, kw_only=True)
class Courses:
    """What the command line says of the study."""

    therapies: tuple[str, ...]
    counselors: tuple[str, ...]
    """A policy, or POLICY@MODEL."""
    clients: int
    sessions: int
    lines: int
    lived: bool
    """Whether the days between the sessions are lived, not told."""
    model: str | None
    judge: str | None
    budget_usd: float | None
    budget_calls: float | None
    cases: tuple[str, ...] = ()
    """In place of therapies and clients: folders of cases, or names of those that are included."""
    corpora: tuple[str, ...] = ()
    """Corpora of sessions that were rated, to stand beside."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One experiment of the study: the twelve in one therapy, or one case."""

    name: str
    """Of its folder."""
    school: Therapy
    case: Case | None = None

    @property
    def therapy(self) -> str:
        """Whose battery is measured."""
        return kind_of(self.school.id)


def parts_of(wanted: Courses) -> tuple[Part, ...]:
    """The experiments, in order. SpecError for a therapy or case that is not there."""
    if not wanted.cases:
        return tuple(Part(name=one, school=find_therapy(one)) for one in wanted.therapies)
    found = []
    for name in wanted.cases:
        case = read_case_folder(Path(name))
        known = case.plan.therapy if case.plan else wanted.therapies[0]
        school = case.therapy or find_therapy(known)
        found.append(Part(name=_slug(Path(name).name), school=school, case=case))
    twice = next((one.name for one in found if [p.name for p in found].count(one.name) > 1), None)
    if twice:
        raise SpecError([f"--cases: two are named {twice!r}; rename one folder"])
    return tuple(found)


def counselor_of(name: str) -> tuple[str, str, str | None]:
    """The arm's name, the policy and the model of a counselor as it is named on the command
    line.
    """
    policy, _, model = name.partition("@")
    return _slug(name), policy, model or None


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:40]


def written(part: Part, wanted: Courses, out: Path) -> Path:
    """OUT/PART/experiment.yaml with its clients beside it; an earlier one that is the same stays.
    SpecError where another study lies there.
    """
    folder, case = out / part.name, part.case
    sessions = case.plan.length if case and case.plan else wanted.sessions
    data: dict[str, Any] = {
        "name": f"Courses of {part.name}"[:60],
        "about": f"The same clients in courses of {part.school.name}, by several counselors.",
        "worlds": [str(shipped.folder("worlds") / WORLD)],
        "clients": [str(path) for path in _clients(part, wanted, folder / "clients")],
        "in_place_of": "Ines",
        "ticks": (sessions - 1) * TICKS_A_DAY + BEFORE + 1,
        "repetitions": 1,
        "set": {
            "condition": "client_counselor",
            "days": "lived" if wanted.lived else "skipped",
            "conversation.max_turns": wanted.lines,
            "appointments.0.days": list(range(sessions)),
            **({"language": case.language} if case else {}),
            **({"models.judge": wanted.judge} if wanted.judge else {}),
        },
        "conditions": [
            _arm(name, _course(part, sessions, folder), wanted) for name in wanted.counselors
        ],
        "measurements": list(measured(part.therapy)),
    }
    file = folder / "experiment.yaml"
    there = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else dict(data)
    there.pop("budget", None)
    if there != data:
        raise SpecError(
            [
                f"{file}: another study was begun here; use the same options to go on with it, or"
                " another --out"
            ]
        )
    share = {
        key: limit / len(wanted.cases or wanted.therapies)
        for key, limit in (("usd", wanted.budget_usd), ("calls", wanted.budget_calls))
        if limit is not None and limit < math.inf
    }
    if "calls" in share:
        share["calls"] = max(1, int(share["calls"]))
    if share:
        data["budget"] = share
    write_text(file, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))
    return file


def _course(part: Part, sessions: int, folder: Path) -> dict[str, Any]:
    """What stands beside `name: course`; a case's own plan and therapy are written as files."""
    given: dict[str, Any] = {"therapy": part.school.id, "sessions": sessions}
    if part.case and (plan := part.case.from_session(1)):
        given["plan"] = str(_kept(folder / "plan.yaml", plan.model_dump(mode="json")))
    if part.case and part.case.therapy:
        own = part.school.model_dump(mode="json", exclude={"drawn"})
        given["therapy"] = str(_kept(folder / "therapy.yaml", own))
    return given


def _arm(name: str, course: Mapping[str, Any], wanted: Courses) -> dict[str, Any]:
    arm, policy, model = counselor_of(name)
    given: dict[str, Any] = {"name": policy}
    if policy == "course":
        given |= course
    changes: dict[str, Any] = {"residents.Miriam.policy": given}
    if model:
        changes["residents.Miriam.models"] = {"reason": model}
    return {"name": arm, "about": name, "set": changes}


def _clients(part: Part, wanted: Courses, folder: Path) -> Sequence[Path]:
    """The clients' files in the therapy's terms, written beside the experiment."""
    if part.case:
        personas = [(part.name, part.case.client)]
    else:
        if wanted.clients > len(CLIENTS):
            raise SpecError(
                [f"--clients {wanted.clients}: {len(CLIENTS)} are written for this benchmark"]
            )
        personas = [(name, _persona(name)) for name in CLIENTS[: wanted.clients]]
    return [
        _kept(
            folder / f"{name}.yaml",
            in_terms_of(persona, part.school).model_dump(mode="json"),
            f"# {persona.name}, as a course of {part.school.name} meets them.\n",
        )
        for name, persona in personas
    ]


def _persona(name: str) -> ClientPersona:
    persona = load_persona(shipped.folder("personas") / f"{name}.yaml")
    assert isinstance(persona, ClientPersona), name
    return persona


def _kept(file: Path, data: Mapping[str, Any], head: str = "") -> Path:
    """The file with that in it; one that is there stays."""
    if not file.is_file():
        write_yaml(file, head, data)
    return file.resolve()
