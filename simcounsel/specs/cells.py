"""The runs of an experiment: which client in which world under which condition, with which
seed.

Where what is wrong in a world stands, once an experiment has changed it: in the world's file, or
in the experiment's.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from simcounsel.errors import SpecError
from simcounsel.record_kinds import WORLD, About, RecordKind
from simcounsel.registry import Registry
from simcounsel.specs.experiment import Arm, Experiment
from simcounsel.specs.load import Lines, read_yaml
from simcounsel.specs.patching import patch
from simcounsel.specs.problems import At, Problem, each_once, file_of
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world, read_world

DOING: Registry[object] = Registry("simcounsel.doing", "what a condition does", object, {})
"""From the values of `do`, a world and a tick to what they change, by key."""
_BY_KEY = re.compile(r"--set (?P<key>[^:]+): ")


class Patched:
    """A world as one condition of an experiment changes it."""

    def __init__(
        self,
        experiment: Experiment,
        path: Path,
        lines: Lines,
        world: Path,
        changes: dict[str, Any],
        arm: str,
    ) -> None:
        """path, lines: the experiment's file. world: the world's. changes: by key. arm: the name of
        the condition, or `past`.
        """
        self.experiment, self.path, self.lines, self.world = experiment, path, lines, world
        self._changes = changes
        self._arm = arm

    def placed(self, problem: str, number: int, client: str | None) -> str:
        """A problem of the world that came of it, in the file and line where it is. number: which
        world of the experiment it is. client: the file of who takes a part in it.
        """
        if by_key := _BY_KEY.match(problem):
            return self._here(self._origin(by_key["key"]), problem)
        if isinstance(problem, Problem) and problem.file == self.world:
            for key, at in self._patches():
                if problem.at[: len(at)] == at:
                    return self._here((*self._origin(key), *problem.at[len(at) :]), problem.what)
        placed = file_of(problem) is not None
        if placed and (not isinstance(problem, Problem) or problem.file != self.world):
            return problem
        if problem in self._own():
            return problem if placed else self._here(("worlds", number), problem)
        if client and not placed:
            return self._here(("clients", self.experiment.clients.index(client)), problem)
        under = f"with condition {self._arm!r}{f' and client {client}' if client else ''}"
        return self._here(("worlds", number), f"{under}: {problem}")

    def _here(self, at: At, what: str) -> Problem:
        return Problem(self.path, self.lines, at, what)

    def _patches(self) -> list[tuple[str, At]]:
        """Each key that is changed and its place in the world's data, the last first."""
        data, _ = read_yaml(self.world)
        found: list[tuple[str, At]] = []
        for key, value in self._changes.items():
            try:
                found.insert(0, (key, patch(data, key, value)))
            except SpecError:
                continue
        return found

    def _own(self) -> list[str]:
        """What is wrong in the world's file by itself."""
        try:
            load_world(self.world)
        except SpecError as error:
            return error.problems
        return []

    def _origin(self, key: str) -> At:
        """Where the experiment changes that key."""
        for index, arm in enumerate(self.experiment.conditions):
            if arm.name == self._arm and key in arm.set:
                return ("conditions", index, "set", key)
        if self.experiment.paired_at is not None and key in self.experiment.past:
            return ("past", key)
        return ("set", key) if key in self.experiment.set else (key,)


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
            done = _done(experiment, path, lines, arm, world)
            if done:
                patches |= _by_number(done, world)
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
            changes={**arm.set, **done},
        )
    if problems:
        raise SpecError(problems)


def _done(
    experiment: Experiment, path: Path, lines: Lines, arm: Arm, world: World
) -> dict[str, Any]:
    """What a condition's `do` changes in its world, by key. SpecError."""
    if not arm.do:
        return {}
    changes = cast(Callable[..., dict[str, Any]] | None, DOING.get("do"))
    at = ("conditions", experiment.conditions.index(arm), "do")
    if changes is None:
        raise SpecError([Problem(path, lines, at, "no package is installed that knows `do`")])
    try:
        return changes(arm.do, world, experiment.paired_at or 0)
    except SpecError as error:
        raise SpecError([Problem(path, lines, at, one) for one in error.problems]) from None


def _by_number(changes: dict[str, Any], world: World) -> dict[str, Any]:
    """The same changes, of residents by their numbers: a world's file does not have the names of
    clients who take a part in it.
    """
    numbers = {one.name: number for number, one in enumerate(world.residents)}
    found = {}
    for key, value in changes.items():
        head, _, rest = key.partition(".")
        name, _, last = rest.partition(".")
        own = head == "residents" and name in numbers
        found[f"{head}.{numbers[name]}.{last}" if own else key] = value
    return found


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
    own = json.dumps(patches, sort_keys=True, default=str)
    key = (str(path.resolve()), experiment.model_dump_json(), number, client, arm, own)
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
