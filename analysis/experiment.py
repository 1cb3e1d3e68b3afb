"""experiment.json beside the runs: what a sweep planned, arm by arm, before anything was seen."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simcounsel.errors import SimcounselError

Test = Literal["clients", "paired_t", "welch", "anova", "permutation", "mixed"]
Change = Literal["whole", "adjacent"] | tuple[str, str]
"""`whole`: the last measurement minus the first. `adjacent`: the mean change from one to the next.
Two points: the second minus the first.
"""


class ReportError(SimcounselError):
    """A report cannot be made; the text says why and what to do."""


class Part(BaseModel):
    """Frozen; fields that a later sweep may add are let be."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Arm(Part):
    """A condition of the experiment: its name and how it patches the world."""

    name: str
    changes: dict[str, Any] = {}


class Hypothesis(Part):
    """A planned test."""

    id: str
    instrument: str
    score: str
    contrast: Annotated[tuple[str, ...], Field(min_length=2)]
    """Two arms, the first against the second (an ANOVA may name more)."""
    test: Test
    change: Change | None = None
    """None: from the baseline to the last measurement, or the mean level (see `outcomes`)."""
    direction: Literal["lower", "higher", "differs"] = "differs"
    """Of the first arm's change against the second's. Tests stay two-sided; the direction says
    whether a difference is the one that was expected.
    """
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    respondent: str | None = None
    """Whose answers are tested; None: those of the only one who answered."""
    judge: str | None = None
    """Of answers by models: the model's name; None: the only one."""
    family: str = ""
    """p is corrected together with those of the other tests of it."""


class PlannedRun(Part):
    """A run of the plan."""

    run: str
    arm: str | None = None
    """None for a past that others are forked from."""
    client: str | None = None
    seed: int | None = None
    pair: str | int | None = None
    """Runs of one pair share their past, or client and seed; None when unpaired."""


class Experiment(Part):
    """The whole plan."""

    name: str = "experiment"
    arms: tuple[Arm, ...] = ()
    clients: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    design: Literal["crossed", "parallel"] = "crossed"
    """parallel: each client lived under one arm."""
    paired_at: int | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    runs: tuple[PlannedRun, ...] = ()

    def planned(self, run: str) -> PlannedRun | None:
        """What was planned for the run in that folder; None when it is not part of the plan."""
        return next((one for one in self.runs if one.run == run), None)


def read_experiment(folder: Path) -> Experiment | None:
    """The plan beside the runs; None when there is none. ReportError when it cannot be read, since
    planned tests must not get lost.
    """
    file = folder / "experiment.json"
    if not file.is_file():
        return None
    try:
        return Experiment.model_validate_json(file.read_bytes())
    except (ValidationError, OSError) as error:
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
        raise ReportError(
            f"{file}: not an experiment ({what}); let the sweep write it again, or move it away to"
            " report without planned tests"
        ) from None
