"""The benchmark as an experiment for each therapy, written before anything is run."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from analysis.courses.battery import measured
from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.file_text import write_text
from simcounsel.specs.load import write_yaml
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona
from simcounsel.therapies.specs.client_files import in_terms_of
from simcounsel.therapies.specs.therapy import find_therapy

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


def counselor_of(name: str) -> tuple[str, str, str | None]:
    """The arm's name, the policy and the model of a counselor as it is named on the command
    line.
    """
    policy, _, model = name.partition("@")
    arm = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")[:40]
    return arm, policy, model or None


def written(therapy: str, wanted: Courses, out: Path) -> Path:
    """OUT/THERAPY/experiment.yaml with its clients beside it; an earlier one that is the same
    stays. SpecError where another study lies there.
    """
    folder = out / therapy
    school = find_therapy(therapy)
    data: dict[str, Any] = {
        "name": f"Courses of {therapy}"[:60],
        "about": f"The same clients in courses of {school.name}, by several counselors.",
        "worlds": [str(shipped.folder("worlds") / WORLD)],
        "clients": [str(path) for path in _clients(therapy, wanted, folder / "clients")],
        "in_place_of": "Ines",
        "ticks": (wanted.sessions - 1) * TICKS_A_DAY + BEFORE + 1,
        "repetitions": 1,
        "set": {
            "condition": "client_counselor",
            "days": "lived" if wanted.lived else "skipped",
            "conversation.max_turns": wanted.lines,
            "appointments.0.days": list(range(wanted.sessions)),
            **({"models.judge": wanted.judge} if wanted.judge else {}),
        },
        "conditions": [_arm(name, therapy, wanted) for name in wanted.counselors],
        "measurements": list(measured(therapy)),
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
        key: limit / len(wanted.therapies)
        for key, limit in (("usd", wanted.budget_usd), ("calls", wanted.budget_calls))
        if limit is not None and limit < math.inf
    }
    if "calls" in share:
        share["calls"] = max(1, int(share["calls"]))
    if share:
        data["budget"] = share
    write_text(file, yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120))
    return file


def _arm(name: str, therapy: str, wanted: Courses) -> dict[str, Any]:
    arm, policy, model = counselor_of(name)
    given: dict[str, Any] = {"name": policy}
    if policy == "course":
        given |= {"therapy": therapy, "sessions": wanted.sessions}
    changes: dict[str, Any] = {"residents.Miriam.policy": given}
    if model:
        changes["residents.Miriam.models"] = {"reason": model}
    return {"name": arm, "about": name, "set": changes}


def _clients(therapy: str, wanted: Courses, folder: Path) -> Sequence[Path]:
    """The clients' files in the therapy's terms, written beside the experiment."""
    if wanted.clients > len(CLIENTS):
        raise SpecError(
            [f"--clients {wanted.clients}: {len(CLIENTS)} are written for this benchmark"]
        )
    found = []
    for name in CLIENTS[: wanted.clients]:
        file = folder / f"{name}.yaml"
        if not file.is_file():
            persona = load_persona(shipped.folder("personas") / f"{name}.yaml")
            assert isinstance(persona, ClientPersona), name
            data = in_terms_of(persona, find_therapy(therapy)).model_dump(mode="json")
            head = f"# {persona.name}, as a course of {therapy} meets them.\n"
            write_yaml(file, head, data)
        found.append(file.resolve())
    return found
