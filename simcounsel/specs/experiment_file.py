"""An experiment from its file, with every run of it."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.record_kinds import KINDS
from simcounsel.specs import shipped
from simcounsel.specs.cells import Cell, cells_of
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.load import Lines, line_of, parse_spec, read_yaml
from simcounsel.specs.multiverse import USUAL
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.world import World
from simcounsel.specs.world_settings import ModelRoles

NOT_AFTER_THE_PAST = ("start", "tick_minutes", "places", "language", "ticks", "seed")
"""What arms that fork a shared past cannot change."""


@dataclass(frozen=True, kw_only=True)
class ExperimentKind:
    """How an experiment over a kind of records is read."""

    spec: type[Experiment]
    cells: Callable[[Any, Path, Lines], Iterator[Cell]]
    """Every record of it, with its file for problems."""
    with_models: Callable[[Any, Mapping[str, str]], Experiment]
    """With these models, by role, for all conditions."""


def load_experiment(
    path: Path, models: Mapping[str, str] | None = None
) -> tuple[Experiment, tuple[Cell, ...]]:
    """An experiment from its file, or one that is included by its bare name (`quick`), and every
    run of it, shared pasts first. SpecError names each problem with its line.

    models: by role, in place of those of the file and of its worlds. What `set` says of one role
    or one resident stays, and so does whatever an arm sets, since arms may differ in it.
    """
    path = shipped.found("experiments", path)
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    if "cells" in data and "recipe" in data:
        raise SpecError([f"{path}:1: this is a sweep of trainings: simcounsel train sweep {path}"])
    kind = _kind_of(data)
    experiment = parse_spec(data, kind.spec, path, lines)
    problems = list(_problems(experiment, path, lines))
    if models is not None:
        experiment = kind.with_models(experiment, models)
    cells: tuple[Cell, ...] = ()
    try:
        cells = tuple(kind.cells(experiment, path, lines))
    except SpecError as error:
        problems += error.problems
    if problems:
        raise SpecError(problems)
    if models is not None:
        cells = tuple(_without_own_models(cell, experiment) for cell in cells)
    names = [cell.name for cell in cells]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SpecError(
            [
                f"{path}:1: two runs would be called {twice!r}; give clients, worlds and conditions"
                " different names, and each seed once"
            ]
        )
    return experiment, cells


def _with_models(experiment: Experiment, models: Mapping[str, str]) -> Experiment:
    kept = {k: v for k, v in experiment.set.items() if k != "models"}
    named = ModelRoles.model_validate(dict(models))
    return experiment.model_copy(update={"set": kept, "models": named})


OF_WORLDS = ExperimentKind(spec=Experiment, cells=cells_of, with_models=_with_models)


def _kind_of(data: Mapping[str, object]) -> ExperimentKind:
    """Whose experiment it is: of the kind of records that it names as a key, else of worlds."""
    named = next((plugin for plugin in KINDS.plugins() if plugin.name in data), None)
    found: ExperimentKind | None = KINDS.load(named).part("experiment") if named else None
    return found or OF_WORLDS


def _without_own_models(cell: Cell, experiment: Experiment) -> Cell:
    """Residents answer with the model of all, unless the experiment or the arm names their own."""
    own = any(".models" in key for key in (*experiment.set, *experiment.past, *cell.changes))
    if own or not isinstance(cell.about, World):
        return cell
    return replace(cell, about=cell.about.with_one_model({}))


def _problems(experiment: Experiment, path: Path, lines: Lines) -> Iterator[str]:
    arms = [arm.name for arm in experiment.conditions]
    yield from _multiverse_problems(experiment, path, lines)
    for index, hypothesis in enumerate(experiment.hypotheses):
        for arm in hypothesis.contrast:
            if arm not in arms:
                near = difflib.get_close_matches(arm, arms, n=1)
                mean = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(arms)}"
                yield (
                    f"{path}:{line_of(lines, ('hypotheses', index, 'contrast'))}: no condition"
                    f" {arm!r}; {mean}"
                )
        if len(set(hypothesis.contrast)) < len(hypothesis.contrast):
            yield (
                f"{path}:{line_of(lines, ('hypotheses', index, 'contrast'))}: a condition stands"
                " here twice"
            )
        measured = [
            one.get("instrument") for one in experiment.measurements if isinstance(one, dict)
        ]
        if hypothesis.instrument not in measured:
            at = line_of(lines, ("hypotheses", index, "instrument"))
            yield (
                f"{path}:{at}: {hypothesis.instrument!r} is never measured; add it to"
                " `measurements`"
            )
        if (
            hypothesis.test == "paired_t"
            and experiment.paired_at is None
            and len(experiment.clients) < 2
            and len(experiment.all_seeds) < 2
        ):
            yield (
                f"{path}:{line_of(lines, ('hypotheses', index, 'test'))}: paired_t needs more than"
                " one pair; add clients or seeds"
            )
    if experiment.paired_at is not None:
        for index, arm_ in enumerate(experiment.conditions):
            for key in arm_.set:
                if key.split(".")[0] in NOT_AFTER_THE_PAST:
                    yield (
                        f"{path}:{line_of(lines, ('conditions', index, 'set', key))}: {key}: arms"
                        " that fork a shared past cannot change it"
                    )


def _multiverse_problems(experiment: Experiment, path: Path, lines: Lines) -> Iterator[str]:
    """Its sets of prompts are there, its contrast is of two conditions, its outcomes are
    measured.
    """
    if (wanted := experiment.multiverse) is None:
        return
    for index, named in enumerate(wanted.prompts):
        try:
            if named != USUAL:
                prompts_named(named, path.parent)
        except SpecError as error:
            at = line_of(lines, ("multiverse", "prompts", index))
            yield from (f"{path}:{at}: {problem}" for problem in error.problems)
    arms = [arm.name for arm in experiment.conditions]
    for arm in wanted.contrast or ():
        if arm not in arms or len(set(wanted.contrast or ())) < 2:
            at = line_of(lines, ("multiverse", "contrast"))
            yield f"{path}:{at}: {arm!r}: two different conditions, of {', '.join(arms)}"
    measured = {one.get("instrument") for one in experiment.measurements if isinstance(one, dict)}
    for index, outcome in enumerate(wanted.outcomes):
        if measured and outcome.instrument not in measured:
            at = line_of(lines, ("multiverse", "outcomes", index, "instrument"))
            yield f"{path}:{at}: {outcome.instrument!r} is never measured; add it to `measurements`"
