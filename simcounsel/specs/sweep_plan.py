"""experiment.json beside the runs of a sweep: what was planned, arm by arm, before anything was
seen.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from simcounsel.disk import write_whole
from simcounsel.errors import RunError
from simcounsel.intake import file_bytes, json_data
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment, Hypothesis

PLAN = "experiment.json"


class _Planned(BaseModel):
    """Frozen; fields that a later sweep may add are let be."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PlannedArm(_Planned):
    """A condition of the experiment: its name and how it patches the world."""

    name: str
    about: str = ""
    changes: dict[str, Any] = {}
    do: tuple[str, ...] = ()
    """What is cut in people there."""


class PlannedRun(_Planned):
    """A run of the plan."""

    run: str
    arm: str | None = None
    """None for a past that others are forked from."""
    client: str | None = None
    seed: int | None = None
    pair: str | int | None = None
    """Runs of one pair share their past, or client and seed; None when unpaired."""


class SweepPlan(_Planned):
    """The whole plan."""

    name: str = "experiment"
    about: str = ""
    arms: tuple[PlannedArm, ...] = ()
    clients: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    design: Literal["crossed", "parallel"] = "crossed"
    """parallel: each client under one arm."""
    paired_at: int | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    runs: tuple[PlannedRun, ...] = ()

    def planned(self, run: str) -> PlannedRun | None:
        """What was planned for the run in that folder; None when it is not part of the plan."""
        return next((one for one in self.runs if one.run == run), None)


def plan_of(experiment: Experiment, cells: Sequence[Cell]) -> SweepPlan:
    """What a sweep of these runs plans."""
    return SweepPlan(
        name=experiment.name,
        about=experiment.about,
        arms=tuple(
            PlannedArm(name=arm.name, about=arm.about, changes=arm.set, do=arm.do)
            for arm in experiment.conditions
        ),
        clients=tuple(sorted({cell.client for cell in cells})),
        seeds=experiment.all_seeds,
        design=experiment.design,
        paired_at=experiment.paired_at,
        hypotheses=experiment.hypotheses,
        runs=tuple(
            PlannedRun(
                run=cell.name, arm=cell.arm, client=cell.client, seed=cell.seed, pair=cell.pair
            )
            for cell in cells
        ),
    )


def read_plan(folder: Path) -> SweepPlan | None:
    """The plan beside the runs in a folder; None when there is none. RunError when it cannot be
    read, since arms, shared pasts and planned tests must not get lost.
    """
    file = folder / PLAN
    try:
        return SweepPlan.model_validate(json_data(file_bytes(file)))
    except FileNotFoundError:
        return None
    except (ValueError, OSError) as error:
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
        raise RunError(
            f"{file}: not a sweep's plan ({what}); move it away, and let the sweep write it again"
        ) from None


def write_plan(experiment: Experiment, cells: Sequence[Cell], out: Path) -> None:
    """Begin, or go on with, a sweep in `out`. RunError when another experiment is there."""
    there = read_plan(out)
    if there is not None and there.name != experiment.name:
        raise RunError(
            f"{out}: holds the sweep {there.name!r} already; choose another --out for"
            f" {experiment.name!r}"
        )
    plan = plan_of(experiment, cells).model_dump(mode="json")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / PLAN, json.dumps(plan, indent=1, ensure_ascii=False))
    except OSError as error:
        raise RunError(
            f"{out}: cannot be written ({error.strerror}); choose another --out"
        ) from None
