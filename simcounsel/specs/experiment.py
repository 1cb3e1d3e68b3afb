"""The experiment file: which clients live through which worlds under which conditions, or which
corpora are written how.
"""

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, Spec, line_of, parse_spec, read_yaml
from simcounsel.specs.residents import Name
from simcounsel.specs.synthesis import Synthesis, synthesis_of
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world
from simcounsel.specs.world_settings import ModelRoles

Slug = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
CORPUS = "corpus"
"""Whom a cell is about that writes dialogues with many clients."""
ONLY_IN_WORLDS = (
    "clients",
    "in_place_of",
    "paired_at",
    "past",
    "ticks",
    "models",
    "measurements",
    "hypotheses",
)
NOT_AFTER_THE_PAST = ("start", "tick_minutes", "places", "language", "ticks", "seed")
"""What arms that fork a shared past cannot change."""


class Arm(Spec):
    """A condition: a name, and the patches on the world by which it differs from the other
    conditions.
    """

    name: Slug
    about: str = ""
    set: dict[str, Any] = Field(default_factory=dict)


class Hypothesis(Spec):
    """A planned test. contrast: two arms, or all that an ANOVA compares. direction: what the first
    arm is expected to be beside the second: `lower`, `higher`, or `differs`. Change from the first
    to the last measurement of `score` in `instrument` is what is tested.
    """

    id: Slug
    says: str = ""
    instrument: str
    score: str = "total"
    contrast: Annotated[tuple[Slug, ...], Field(min_length=2)]
    test: Literal["paired_t", "welch", "anova", "permutation", "mixed"]
    direction: Literal["lower", "higher", "differs"] = "differs"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @model_validator(mode="after")
    def _two_sides(self) -> "Hypothesis":
        if len(self.contrast) > 2 and (
            self.test not in ("anova", "permutation", "mixed") or self.direction != "differs"
        ):
            raise ValueError(
                "more than two arms are compared by `anova`, `permutation` or `mixed`, with"
                " direction `differs`"
            )
        return self


class Budget(Spec):
    """What the whole sweep may cost; no run begins, and those under way stop, when either is used
    up.
    """

    usd: Annotated[float, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=1)] | None = None


class Experiment(Spec):
    """clients x conditions x seeds, in each world; or conditions x seeds of a synthesis.

    synthesis: the settings of a synthesis of dialogues (see `specs.synthesis`), in place of worlds;
    the conditions patch them, for ablations and for groups of models. clients: persona files, each
    of which takes the part of the resident `in_place_of`; none: the world's own client. seeds, or
    repetitions (seeds 1, 2, ...). paired_at: live each client's first ticks once, in the world as
    `past` patches it, then fork them into every condition, so that the arms of a pair share their
    past. set: patches for all conditions. measurements: as in a world file, for all conditions.
    """

    name: Annotated[str, Field(min_length=1, max_length=60)]
    about: str = ""
    worlds: tuple[str, ...] = ()
    synthesis: dict[str, Any] | None = None
    clients: tuple[str, ...] = ()
    in_place_of: Name | None = None
    conditions: Annotated[tuple[Arm, ...], Field(min_length=1)]
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = ()
    repetitions: Annotated[int, Field(ge=1, le=10_000)] | None = None
    paired_at: Annotated[int, Field(ge=1)] | None = None
    past: dict[str, Any] = Field(default_factory=dict)
    set: dict[str, Any] = Field(default_factory=dict)
    ticks: Annotated[int, Field(ge=1)] | None = None
    models: ModelRoles | None = None
    measurements: tuple[Any, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _holds_together(self) -> "Experiment":
        if bool(self.worlds) == (self.synthesis is not None):
            raise ValueError(
                "an experiment has either `worlds` to live in or a `synthesis` to write"
            )
        if self.synthesis is not None:
            if "seed" in {**self.synthesis, **self.set} or any(
                "seed" in arm.set for arm in self.conditions
            ):
                raise ValueError(
                    "in an experiment write `seeds: [...]` beside `synthesis`, not `seed` in it"
                )
            lived = [key for key in ONLY_IN_WORLDS if getattr(self, key)]
            if lived:
                raise ValueError(
                    f"`{lived[0]}` is for people who live in worlds; a synthesis is set under"
                    " `synthesis` or in a condition"
                )
        if self.seeds and self.repetitions:
            raise ValueError("`seeds` and `repetitions` say the same thing; keep one")
        if self.clients and not self.in_place_of:
            raise ValueError("`clients` need `in_place_of`: whose part in the world they take")
        if self.past and not self.paired_at:
            raise ValueError("`past` is lived before a fork; add `paired_at`")
        names = [arm.name for arm in self.conditions]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"two conditions are called {twice!r}")
        return self

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """The seeds, one repetition each."""
        return self.seeds or tuple(range(1, (self.repetitions or 1) + 1))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run to be made: a client in a world under a condition, or a synthesis, with a seed.

    about: the world or the synthesis. ticks: or waves. pair: what it shares with the other arms of
    the same client and seed. past: the run that it is forked from at `at_tick`, None when it begins
    at the beginning. arm: None for a shared past itself. changes: the arm's patches, for a fork.
    """

    name: str
    about: World | Synthesis
    client: str
    arm: str | None
    seed: int
    pair: str
    ticks: int
    past: str | None = None
    at_tick: int | None = None
    changes: dict[str, Any]

    @property
    def world(self) -> World:
        """The world, of a cell that has one."""
        assert isinstance(self.about, World)
        return self.about


def load_experiment(path: Path) -> tuple[Experiment, tuple[Cell, ...]]:
    """An experiment from its file, and every run of it, shared pasts first. SpecError names each
    problem with its line.
    """
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    if "cells" in data and "recipe" in data:
        raise SpecError(
            [f"{path}:1: this is a sweep of trainings: python -m training sweep {path}"]
        )
    experiment = parse_spec(data, Experiment, path, lines)
    problems = list(_problems(experiment, path, lines))
    if problems:
        raise SpecError(problems)
    cells = tuple(
        _syntheses(experiment, path, lines)
        if experiment.synthesis is not None
        else _cells(experiment, path, lines)
    )
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


def _problems(experiment: Experiment, path: Path, lines: Lines) -> Iterator[str]:
    arms = [arm.name for arm in experiment.conditions]
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


def _cells(experiment: Experiment, path: Path, lines: Lines) -> Iterator[Cell]:
    cells = [
        cell
        for number in range(len(experiment.worlds))
        for client in experiment.clients or (None,)
        for seed in experiment.all_seeds
        for cell in _of_pair(experiment, path, lines, number, client, seed)
    ]
    yield from sorted(cells, key=lambda cell: cell.arm is not None)


def _syntheses(experiment: Experiment, path: Path, lines: Lines) -> Iterator[Cell]:
    """A synthesis under each condition, with each seed."""
    assert experiment.synthesis is not None
    for arm in experiment.conditions:
        changes = json.loads(json.dumps({**experiment.set, **arm.set}, default=str))
        try:
            settings = synthesis_of(
                {"name": experiment.name, **experiment.synthesis},
                path,
                lines,
                changes,
                ("synthesis",),
            )
        except SpecError as error:
            place = f"{path}:{line_of(lines, ('conditions',))}: with condition {arm.name!r}"
            raise SpecError([f"{place}: {error.problems[0]}", *error.problems[1:]]) from None
        for seed in experiment.all_seeds:
            about = settings.model_copy(update={"seed": seed})
            yield Cell(
                name=f"s{seed}-{arm.name}",
                about=about,
                client=CORPUS,
                arm=arm.name,
                seed=seed,
                pair=f"s{seed}",
                ticks=about.waves,
                changes=dict(arm.set),
            )


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
    for arm in experiment.conditions:
        world = _world(
            experiment,
            path,
            lines,
            number,
            client,
            seed,
            {**(experiment.past if paired else {}), **arm.set},
            arm.name,
        )
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
    changes: dict[str, Any] = {}
    if experiment.ticks is not None:
        changes["ticks"] = experiment.ticks
    if experiment.models is not None:
        changes["models"] = experiment.models.model_dump()
    if experiment.measurements:
        changes["measurements"] = list(experiment.measurements)
    changes |= {
        **experiment.set,
        **patches,
    }  # last: what an arm changes holds for it, whatever the experiment says of all
    cast = (
        {experiment.in_place_of: path.parent / client} if client and experiment.in_place_of else {}
    )
    try:
        return load_world(
            path.parent / experiment.worlds[number],
            cast=cast,
            seen_from=path.parent,
            **json.loads(json.dumps(changes, default=str)),
        )
    except SpecError as error:
        place = (
            f"{path}:{line_of(lines, ('worlds', number))}: with condition"
            f" {arm!r}{f' and client {client}' if client else ''}"
        )
        raise SpecError([f"{place}: {error.problems[0]}", *error.problems[1:]]) from None


def _client_of(world: World) -> str:
    """The first client's name, in name order; a world is about its clients."""
    return next(
        (r.name for r in sorted(world.residents, key=lambda r: r.name) if r.role == "client"),
        "nobody",
    )


MISSING = "(none)"
SHOWN = 3
"""So much of what a part is told stands behind its name."""


def differences(cells: tuple[Cell, ...]) -> list[str]:
    """What differs between the conditions, key by key: `condition: client_only | everyone`."""
    first: dict[str, Cell] = {}
    for cell in cells:
        if cell.arm is not None:
            first.setdefault(cell.arm, cell)
    return list(
        _differing("", {arm: cell.about.model_dump(mode="json") for arm, cell in first.items()})
    )


def _differing(at: str, arms: dict[str, Any]) -> Iterator[str]:
    """Down to single values; but where the arms have parts of different names there, such as
    policies, these are named as a whole.
    """
    if len({json.dumps(value, sort_keys=True) for value in arms.values()}) == 1:
        return
    inner = [value for value in arms.values() if isinstance(value, dict | list) and value]
    names = {_name(value) for value in arms.values()}
    if not inner or (at and len(names) > 1 and any(names)):
        yield f"{at}: " + " | ".join(f"{arm} {_shown(value)}" for arm, value in arms.items())
        return
    keys = dict.fromkeys(
        key for value in inner for key in (value if isinstance(value, dict) else range(len(value)))
    )
    for key in sorted(keys, key=str):
        yield from _differing(
            f"{at}.{key}" if at else str(key),
            {arm: _part(value, key) for arm, value in arms.items()},
        )


def _part(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return value.get(key, MISSING)
    return (
        value[key]
        if isinstance(value, list) and isinstance(key, int) and key < len(value)
        else MISSING
    )


def _name(value: Any) -> str | None:
    named = (value.get("id") or value.get("name")) if isinstance(value, dict) else None
    return named if isinstance(named, str) else None


def _shown(value: Any) -> str:
    """A value; of a part with a name only that, and what it is told."""
    name = _name(value)
    if name is None:
        return str(value)
    told = (
        (key, _name(inner) or inner)
        for key, inner in value.items()
        if key not in ("id", "name") and inner
    )
    some = [
        f"{key} {what}"
        for key, what in islice((one for one in told if isinstance(one[1], int | str)), SHOWN)
    ]
    return f"{name} ({', '.join(some)})" if some else name
