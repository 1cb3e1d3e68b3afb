"""The runs of an experiment: which client in which world under which condition, with which
seed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.record_kinds import WORLD, About, RecordKind
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.load import Lines
from simcounsel.specs.patched import Patched
from simcounsel.specs.problems import each_once
from simcounsel.specs.world import World
from simcounsel.specs.world_file import read_world


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run to be made: a client in a world under a condition, with a seed; or a record of
    another kind.
    """

    name: str
    about: About
    kind: RecordKind = WORLD
    client: str
    arm: str | None
    """None for a shared past itself."""
    seed: int
    pair: str
    """What it shares with the other arms of the same client and seed."""
    ticks: int
    past: str | None = None
    """The run that it is forked from at `at_tick`; None when it begins at the beginning."""
    at_tick: int | None = None
    changes: dict[str, Any]
    """The arm's patches, for a fork."""

    @property
    def world(self) -> World:
        """What is run in a run of a world."""
        assert isinstance(self.about, World), "a cell of a world"
        return self.about


def cells_of(experiment: Experiment, path: Path, lines: Lines) -> Iterator[Cell]:
    """Every run of an experiment, shared pasts first. path, lines: its file, for problems.
    SpecError when a world cannot be made as a condition says.
    """
    cells: list[Cell] = []
    problems: list[str] = []
    for number in range(len(experiment.worlds)):
        for client in experiment.clients or (None,):
            for seed in experiment.all_seeds:
                try:
                    cells += _of_pair(experiment, path, lines, number, client, seed)
                except SpecError as error:
                    problems += error.problems
                    break  # seeds differ in nothing but the seed
    if problems:
        raise SpecError(each_once(problems))
    yield from sorted(cells, key=lambda cell: cell.arm is not None)


def _of_pair(
    experiment: Experiment, path: Path, lines: Lines, number: int, client: str | None, seed: int
) -> Iterator[Cell]:
    """The runs of one client and seed in one world: one an arm, and before them the past that they
    share, if they do.
    """
    who = Path(client).stem if client else "client"
    stem = (
        f"{who}-s{seed}"
        if len(experiment.worlds) == 1
        else f"{Path(experiment.worlds[number]).stem}-{who}-s{seed}"
    )
    paired = experiment.paired_at is not None
    if paired:
        world = _world(experiment, path, lines, number, client, seed, experiment.past, "past")
        assert experiment.paired_at is not None
        yield Cell(
            name=f"{stem}-past",
            about=world,
            client=_client_of(world),
            arm=None,
            seed=seed,
            pair=stem,
            ticks=experiment.paired_at,
            changes={},
        )
    problems: list[str] = []
    for arm in experiment.arms_of(client):
        patches = {**(experiment.past if paired else {}), **arm.set}
        try:
            world = _world(experiment, path, lines, number, client, seed, patches, arm.name)
        except SpecError as error:
            problems += error.problems
            continue
        yield Cell(
            name=f"{stem}-{arm.name}",
            about=world,
            client=_client_of(world),
            arm=arm.name,
            seed=seed,
            pair=stem,
            ticks=world.ticks,
            past=f"{stem}-past" if paired else None,
            at_tick=experiment.paired_at,
            changes=dict(arm.set),
        )
    if problems:
        raise SpecError(problems)


def _world(
    experiment: Experiment,
    path: Path,
    lines: Lines,
    number: int,
    client: str | None,
    seed: int,
    patches: dict[str, Any],
    arm: str,
) -> World:
    """Seeds differ in nothing but the seed, so each world is read once."""
    key = (str(path.resolve()), experiment.model_dump_json(), number, client, arm)
    if key not in _READ:
        _READ.clear() if len(_READ) > MOST_READ else None
        _READ[key] = _read_world(experiment, path, lines, number, client, patches, arm)
    return _READ[key].model_copy(update={"seed": seed})


_READ: dict[tuple[Any, ...], World] = {}

MOST_READ = 200


def _read_world(
    experiment: Experiment,
    path: Path,
    lines: Lines,
    number: int,
    client: str | None,
    patches: dict[str, Any],
    arm: str,
) -> World:
    changes = json.loads(json.dumps(_changes(experiment, patches), default=str))
    file = path.parent / experiment.worlds[number]
    cast = (
        {experiment.in_place_of: path.parent / client} if client and experiment.in_place_of else {}
    )
    try:
        return read_world(file, changes, cast=cast, seen_from=path.parent)
    except SpecError as error:
        found = Patched(experiment, path, lines, file, changes, arm)
        raise SpecError([found.placed(one, number, client) for one in error.problems]) from None


def _changes(experiment: Experiment, patches: dict[str, Any]) -> dict[str, Any]:
    """What an experiment changes in a world; last what an arm does, which holds for it whatever the
    experiment says of all.
    """
    changes: dict[str, Any] = {}
    if experiment.ticks is not None:
        changes["ticks"] = experiment.ticks
    if experiment.models is not None:
        changes["models"] = experiment.models.model_dump()
    if experiment.measurements:
        changes["measurements"] = list(experiment.measurements)
    return {**changes, **experiment.set, **patches}


def _client_of(world: World) -> str:
    """The first client's name, in name order; a world is about its clients."""
    return next(
        (r.name for r in sorted(world.residents, key=lambda r: r.name) if r.role == "client"),
        "nobody",
    )
