"""The file of a sweep: a recipe, and cells, each with the keys in which it differs from the
recipe.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, Spec, line_of, parse_spec, read_yaml
from training.recipe import Recipe
from training.recipe_file import check, load_recipe
from training.sites import place

Name = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[a-z0-9][a-z0-9_-]*$")]
Kind = Literal["tune", "federate"]
AUDIT = "audit.json"
"""Of a training's folder."""
AUDITS = "audits"
"""Of a training's folder: an audit of the adapter after each round."""
NO_SWEEP = {
    "worlds": "an experiment in worlds: simcounsel sweep {}",
    "synthesis": "an experiment with corpora: simcounsel sweep {}",
    "places": "a world: simcounsel run {}",
    "privacy": "a single training: simcounsel train tune {}",
}
"""Keys that tell other kinds of file, and what to do with these."""


class CellChange(Spec):
    """A cell as it is in the file."""

    name: Name
    about: str = ""
    set: dict[str, Any] = Field(default_factory=dict)
    """Keys of a recipe, nested as there. A mapping is laid over the recipe's own, key by key; any
    other value takes its place.
    """


class TrainingSweep(Spec):
    """Several trainings of one recipe."""

    name: Annotated[str, Field(min_length=1)]
    about: str = ""
    recipe: dict[str, Any] | str
    """A recipe that could be trained as it is, written out here or in another file."""
    cells: Annotated[tuple[CellChange, ...], Field(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class TrainingCell:
    """One training of a sweep."""

    name: str
    about: str
    recipe: Recipe
    data: Mapping[str, Any]
    """Its recipe as it would be in a file of its own, with paths as seen from `file`."""
    file: Path
    lines: Lines

    @property
    def kind(self) -> Kind:
        """A recipe with sites is federated, one without is tuned in one place."""
        return "federate" if self.recipe.deal or self.recipe.folders else "tune"

    def written_for(self, folder: Path) -> str:
        """The recipe as YAML, with paths as seen from `folder`."""
        data = dict(self.data)
        if self.recipe.corpus:
            data["corpus"] = self._from(folder, self.recipe.corpus)
        if self.recipe.folders:
            data["folders"] = {
                site: self._from(folder, source) for site, source in self.recipe.folders.items()
            }
        about = f"# {self.about}\n" if self.about else ""
        return about.replace("\n", "\n# ").removesuffix("# ") + yaml.safe_dump(
            data, sort_keys=False, allow_unicode=True
        )

    def _from(self, folder: Path, source: str) -> str:
        found = place(source, self.file)
        return os.path.relpath(found, folder) if found.exists() else source


def load_sweep(path: Path) -> tuple[TrainingSweep, tuple[TrainingCell, ...]]:
    """A sweep out of its file, all cells checked. SpecError names every problem with file:line and
    remedy.
    """
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    for key, what in NO_SWEEP.items():
        if key in data and "cells" not in data:
            raise SpecError([f"{path}:1: not a sweep of trainings but {what.format(path)}"])
    sweep = parse_spec(data, TrainingSweep, path, lines)
    names = [one.name for one in sweep.cells]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise SpecError(
                [
                    f"{path}:{line_of(lines, ('cells', at))}: cells.{at}.name: {name!r} is here"
                    " a second time; rename one"
                ]
            )
    base, file = _base(sweep, path, lines)
    return sweep, tuple(
        _cell(change, at, base, file, path, lines) for at, change in enumerate(sweep.cells)
    )


def _base(sweep: TrainingSweep, path: Path, lines: Lines) -> tuple[dict[str, Any], Path]:
    """The recipe's data, checked, and the file whose folder its paths are seen from."""
    if isinstance(sweep.recipe, str):
        file = path.parent / sweep.recipe
        load_recipe(file)
        return dict(read_yaml(file)[0]), file
    below = {at[1:]: line for at, line in lines.items() if at[:1] == ("recipe",)}
    check(parse_spec(sweep.recipe, Recipe, path, below), path, below)
    return sweep.recipe, path


def _cell(
    change: CellChange, at: int, base: Mapping[str, Any], file: Path, path: Path, lines: Lines
) -> TrainingCell:
    data = laid_over(base, change.set)
    here = {place[3:]: line for place, line in lines.items() if place[:3] == ("cells", at, "set")}
    here |= {(): line_of(lines, ("cells", at))}
    recipe = parse_spec(data, Recipe, path, here)
    check(recipe, path, here)
    if recipe.sites:
        raise SpecError(
            [
                f"{path}:{here[()]}: cell {change.name!r}: `sites:` holds numbers only, for"
                " `account`; name a `corpus:` or `folders:`"
            ]
        )
    return TrainingCell(
        name=change.name, about=change.about, recipe=recipe, data=data, file=file, lines=here
    )


def laid_over(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes`: mappings are merged key by key, everything else is replaced. Neither
    is changed.
    """
    made = dict(base)
    for key, value in changes.items():
        old = made.get(key)
        made[key] = (
            laid_over(old, value)
            if isinstance(old, Mapping) and isinstance(value, Mapping)
            else value
        )
    return made
