"""The ways to live an experiment: prompts by models by temperatures, each with all of its runs."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.llm.catalog import roles_for
from simcounsel.prompts.sets import FOR_SMALL_MODELS, shipped_sets
from simcounsel.specs.cells import Cell
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.multiverse import USUAL, Multiverse, Outcome
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.world import World
from simcounsel.specs.world_problems import world_problems

LIVED = ("prompts", "model", "temperature")
"""The choices that need runs of their own, besides the seed."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to live the experiment."""

    prompts: str
    """A set's name or folder; `usual`: as they are included."""
    model: str
    """`usual`: the experiment's."""
    temperature: str
    """`usual`: each question's own."""

    @property
    def name(self) -> str:
        """With which the names of its runs begin."""
        words = (Path(self.prompts).name, self.model, self.temperature)
        return "_".join(re.sub(r"[^a-z0-9.]+", "-", one.lower()).strip("-.") for one in words)

    @property
    def levels(self) -> dict[str, str]:
        """By choice, as tables name them."""
        return {
            "prompts": Path(self.prompts).name,
            "model": self.model,
            "temperature": self.temperature,
        }


@dataclass(frozen=True, kw_only=True)
class Universes:
    """All that will be run, and how it will be analyzed."""

    experiment: Experiment
    """With the two conditions of the contrast alone."""
    choices: Multiverse
    contrast: tuple[str, str]
    """First and second condition: the effect is the first minus the second."""
    outcomes: tuple[Outcome, ...]
    ways: tuple[Way, ...]
    cells: tuple[Cell, ...]
    """Of all ways; the name of each begins with its way's."""
    way_of: Mapping[str, Way]
    """By the name of a run."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Each is a choice of its own, the one that is known to be noise."""
        return self.experiment.all_seeds

    @property
    def analyses(self) -> int:
        """Ways to analyze the same runs."""
        choices = (self.outcomes, self.choices.times, self.choices.baselines, self.choices.runs)
        count = 1
        for one in choices:
            count *= len(one)
        return count

    @property
    def specifications(self) -> int:
        """Effects that will be estimated."""
        return len(self.ways) * len(self.seeds) * self.analyses


def plan(
    file: Path,
    *,
    prompts: Sequence[str] = (),
    models: Sequence[str] = (),
    temperatures: Sequence[float] = (),
) -> Universes:
    """The plan of an experiment's file. prompts, models, temperatures: in place of its own choices.
    SpecError names what is wrong with its line.
    """
    experiment, _ = load_experiment(file)
    if not experiment.worlds:
        raise SpecError([f"{file}: no effect on clients can be in it; name one with worlds"])
    choices = experiment.multiverse or Multiverse(prompts=(USUAL, *_rewordings()))
    choices = _chosen(choices, prompts, models, temperatures)
    ways = tuple(
        Way(prompts=one, model=model, temperature=_said(warmth))
        for one, model, warmth in itertools.product(
            choices.prompts, choices.models, choices.temperatures
        )
    )
    cells: dict[str, Cell] = {}
    way_of: dict[str, Way] = {}
    contrast = _contrast(experiment, choices, file)
    loaded = {
        model: [
            cell
            for cell in _with_model(file, experiment, model)
            if cell.arm is None or cell.arm in contrast
        ]
        for model in choices.models
    }
    for way in ways:
        for cell in _lived(file, loaded[way.model], way):
            if cell.name in cells:
                raise SpecError(
                    [f"{file}: two runs would be called {cell.name!r}; name choices that differ"]
                )
            cells[cell.name], way_of[cell.name] = cell, way
    outcomes = choices.outcomes or tuple(_planned(experiment, contrast, next(iter(cells.values()))))
    if not outcomes:
        raise SpecError(
            [f"{file}: nothing is measured, so there is no effect; add `measurements` to it"]
        )
    return Universes(
        experiment=_of_two(experiment, contrast),
        choices=choices,
        contrast=contrast,
        outcomes=outcomes,
        ways=ways,
        cells=tuple(sorted(cells.values(), key=lambda cell: cell.arm is not None)),
        way_of=way_of,
    )


def _rewordings() -> tuple[str, ...]:
    """The sets that say the same in other words."""
    return tuple(one for one in shipped_sets() if one != FOR_SMALL_MODELS)


def _chosen(
    choices: Multiverse,
    prompts: Sequence[str],
    models: Sequence[str],
    temperatures: Sequence[float],
) -> Multiverse:
    """With what the command line gives. Folders there are seen from the working folder."""
    own = (USUAL, *shipped_sets())
    given = {
        "prompts": tuple(one if one in own else str(Path(one).absolute()) for one in prompts),
        "models": tuple(models),
        "temperatures": tuple(temperatures),
    }
    try:
        return Multiverse.model_validate(
            choices.model_dump() | {key: levels for key, levels in given.items() if levels}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise SpecError([f"--{'-'.join(map(str, first['loc']))}: {first['msg']}"]) from None


def plan_words(made: Universes) -> Iterator[str]:
    """In how many ways the experiment will be run and analyzed."""
    choices = made.choices
    yield (
        f"run in       {len(made.ways)} ways: prompts {_listed(w.prompts for w in made.ways)};"
        f" models {_listed(choices.models)};"
        f" temperatures {_listed(map(_said, choices.temperatures))}; seeds"
        f" {_listed(made.seeds)}"
    )
    named = _listed(named_outcomes(made.outcomes).values())
    yield (
        f"analyzed in  {made.analyses} ways: outcomes {named}; measured {_listed(choices.times)};"
        f" baseline {_listed(choices.baselines)}; runs {_listed(choices.runs)}"
    )
    yield f"effects      {made.specifications}, each {' minus '.join(made.contrast)}"


def named_outcomes(outcomes: Sequence[Outcome]) -> dict[Outcome, str]:
    """As tables name them: no longer than it takes to tell them apart."""
    said = {one: f"{one.instrument}.{one.score}" for one in outcomes}
    for key in ("respondent", "judge"):
        if len(set(said.values())) < len(said):
            said = {one: f"{text} {getattr(one, key) or ''}".strip() for one, text in said.items()}
    return said


def _said(temperature: object) -> str:
    return temperature if isinstance(temperature, str) else f"{temperature:g}"


def _listed(several: object) -> str:
    return ", ".join(dict.fromkeys(map(str, several)))  # type: ignore[call-overload]


def _with_model(file: Path, experiment: Experiment, model: str) -> tuple[Cell, ...]:
    """The experiment's runs, people answered for by that model. Who measures stays, where it is
    named.
    """
    if model == USUAL:
        return load_experiment(file)[1]
    judge = experiment.models.judge if experiment.models else None
    return load_experiment(file, roles_for(model) | ({"judge": judge} if judge else {}))[1]


def _lived(file: Path, cells: Sequence[Cell], way: Way) -> Iterator[Cell]:
    """These runs in one way: with its prompts and temperature, and under its name."""
    changes: dict[str, object] = {}
    if way.prompts != USUAL:
        changes["prompts"] = prompts_named(way.prompts, file.parent)
    if way.temperature != USUAL:
        changes["temperature"] = float(way.temperature)
    for cell in cells:
        varied = {*changes, *(["models"] if way.model != USUAL else [])}
        both = sorted(key for key in cell.changes if key.split(".")[0] in varied)
        if both:
            raise SpecError(
                [f"{file}: condition {cell.arm!r} sets `{both[0]}` itself, so it cannot be varied"]
            )
        yield replace(
            cell,
            name=f"{way.name}-{cell.name}",
            about=_varied(changes, file, cell.world),
            pair=f"{way.name}-{cell.pair}",
            past=None if cell.past is None else f"{way.name}-{cell.past}",
        )


def _varied(changes: Mapping[str, object], file: Path, world: World) -> World:
    made = world.model_copy(update=changes)
    problems = world_problems(made) if changes else []
    if problems:
        raise SpecError([f"{file}: {'.'.join(map(str, at))}: {what}" for at, what in problems])
    return made


def _contrast(experiment: Experiment, choices: Multiverse, file: Path) -> tuple[str, str]:
    arms = [arm.name for arm in experiment.conditions]
    planned = (one.contrast[:2] for one in experiment.hypotheses)
    first, *second = choices.contrast or next(planned, tuple(arms[:2]))
    if not second:
        raise SpecError([f"{file}: an effect is of two conditions, and there is {first!r} alone"])
    return first, second[0]


def _of_two(experiment: Experiment, contrast: tuple[str, str]) -> Experiment:
    """With these two conditions alone: others would be paid for, and nothing said of them."""
    return experiment.model_copy(
        update={
            "conditions": tuple(arm for arm in experiment.conditions if arm.name in contrast),
            "hypotheses": tuple(
                one for one in experiment.hypotheses if set(one.contrast) <= set(contrast)
            ),
        }
    )


def _planned(experiment: Experiment, contrast: tuple[str, str], cell: Cell) -> Iterator[Outcome]:
    """Those of the planned tests of this contrast, else the total of each instrument of a run."""
    found: dict[Outcome, None] = {}
    for one in experiment.hypotheses:
        if set(contrast) <= set(one.contrast):
            better = None if one.direction == "differs" else one.direction
            if better and one.contrast[0] != contrast[0]:
                better = "higher" if better == "lower" else "lower"
            outcome = Outcome(
                instrument=one.instrument,
                score=one.score,
                respondent=one.respondent,
                judge=one.judge,
                better=better,
            )
            found.setdefault(outcome)
    if not found:
        measured = cell.world.measurements
        found |= dict.fromkeys(Outcome(instrument=one.instrument) for one in measured)
    yield from found
