"""A study as an experiment of its own, written where everybody can read it before it is run."""

import math
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from analysis.replication.options import Choices
from analysis.replication.published import Name
from simcounsel.errors import SpecError
from simcounsel.specs import shipped
from simcounsel.specs.drawing import draw_personas
from simcounsel.specs.file_text import write_text
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import load_persona

WORLD = "insomnia.yaml"
TICKS_A_DAY = 96
TO_THE_FIRST = 12
"""Ticks from the world's first noon to the first meeting at 15:00."""
SEED = 1
"""By which clients are drawn."""


def clients(theme: str | None = None) -> list[Path]:
    """The written clients that are included, with that theme."""
    found = []
    for file in shipped.files("personas"):
        persona = load_persona(file)
        if isinstance(persona, ClientPersona) and theme in (None, persona.theme):
            found.append(file)
    return found


def chosen(name: Name, count: int | None, personas: Sequence[Path], out: Path) -> list[Path]:
    """The persona files of the study's clients: those that are named; else of SimCounsel the
    written ones with insomnia, of Structure Matters 66. More than are written are drawn into
    OUT/personas. SpecError when there are too few.
    """
    written = list(personas) or clients("insomnia" if name == "simcounsel" else None)
    wanted = count or (len(written) if name == "simcounsel" or personas else 66)
    if wanted <= len(written) and (name == "simcounsel" or personas):
        return written[:wanted]
    folder = out / "personas"
    there = sorted(folder.glob("*.yaml"))
    if there:
        if len(there) != wanted:
            raise SpecError(
                [
                    f"{folder}: holds {len(there)} clients of an earlier start, and {wanted} are"
                    " asked for; name the same number, or another --out"
                ]
            )
        return there
    return draw_personas(written, wanted, SEED, folder)


def written_experiment(name: Name, personas: Sequence[Path], out: Path, wanted: Choices) -> Path:
    """OUT/experiment.yaml: the design with its clients, and the budget, which may change; an
    earlier one that is the same stays. SpecError when another study lies there.
    """
    text = resources.files("analysis.replication").joinpath("designs", f"{name}.yaml")
    design = text.read_text(encoding="utf-8")
    head = "".join(line + "\n" for line in design.splitlines() if line.startswith("#"))
    data: dict[str, Any] = yaml.safe_load(design)
    data |= {
        "worlds": [str(shipped.folder("worlds") / WORLD)],
        "clients": [str(path.resolve()) for path in personas],
        "repetitions": wanted.seeds,
    }
    if name == "structure_matters":
        meetings = data["set"]["appointments"]
        meetings[0]["days"] = meetings[0]["days"][: wanted.days]
        data["ticks"] = (len(meetings[0]["days"]) - 1) * TICKS_A_DAY + TO_THE_FIRST + 1
    elif wanted.ticks is not None:
        data["ticks"] = wanted.ticks
    named = {f"models.{role}": model for role, model in wanted.roles.items()}
    data["set"] = data.get("set", {}) | named
    file = out / "experiment.yaml"
    there = yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else data
    before = there.pop("budget", {}) if isinstance(there, dict) else {}
    if there != data:
        raise SpecError(
            [
                f"{file}: another study was begun here; use the same options to go on with it, or"
                " another --out"
            ]
        )
    budget = before | {"usd": wanted.budget_usd, "calls": wanted.budget_calls}
    kept = {key: limit if limit is not None else before.get(key) for key, limit in budget.items()}
    limits = {key: limit for key, limit in kept.items() if limit is not None and limit < math.inf}
    if limits:
        data["budget"] = limits
    whole = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=120)
    write_text(file, head + whole)
    return file
