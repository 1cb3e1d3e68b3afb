"""A world's file, and the files that it names: personas, scales, manuals, therapies, plans."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.named_code import name_code
from simcounsel.specs import shipped
from simcounsel.specs.load import Lines, load_spec, parse_spec, read_yaml
from simcounsel.specs.patching import names_a_file, patch
from simcounsel.specs.persona import AnyPersona
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.policy_file import bring_policy
from simcounsel.specs.problems import Unread, each_once, in_its_file, suggest
from simcounsel.specs.prompt_set import prompts_named
from simcounsel.specs.scale import Scale
from simcounsel.specs.world import World
from simcounsel.specs.world_problems import at_odds, at_odds_beside


def load_world(
    path: str | Path,
    /,
    *,
    cast: Mapping[str, Path] = MappingProxyType({}),
    seen_from: Path = Path(),
    **changes: Any,
) -> World:
    """A world from its file, or one that is included by its bare name (`insomnia`), with the
    personas it names.

    changes: patches by key, as `--set` on the command line: `load_world(p, seed=3)` or
    `load_world(p, **{"conversation.max_turns": 6})`; code that they name may be run. cast: persona
    files for residents, by the name of the resident whose part they take; the name changes wherever
    it is in the world. seen_from: the folder in which files of personas and policies that
    changes name are looked for first; then beside the world's own file. SpecError names every
    problem with its line.
    """
    name_code(changes)
    return read_world(path, changes, cast=cast, seen_from=seen_from)


def read_world(
    path: str | Path,
    changes: Mapping[str, Any],
    /,
    *,
    cast: Mapping[str, Path] = MappingProxyType({}),
    seen_from: Path = Path(),
) -> World:
    """As `load_world`, where the changes may come from a file too: code that only they name is not
    run.
    """
    path = shipped.found("worlds", Path(path))
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    for key, what in (
        ("conditions", "an experiment; live it with `simcounsel sweep`"),
        ("role", "a persona; a world names it under `residents:`"),
        ("cells", f"a sweep of trainings: simcounsel train sweep {path}"),
    ):
        if key in data and "places" not in data:
            raise SpecError([f"{path}:1: not a world but {what}"])
    problems: list[str] = []
    for key, value in changes.items():
        with _noted(problems):
            patch(data, key, value, lambda name: _found(seen_from / name) or name)
    for bring in (_bring_personas, bring_policies, bring_prompts):
        with _noted(problems):
            bring(data, path, lines)
    for name, file in cast.items():
        with _noted(problems):
            data = _recast(data, name, file, path)
    with _noted(problems):
        _bring_scales(data, path, lines)
    try:
        world = parse_spec(data, World, path, lines)
    except SpecError as error:
        problems += error.problems
        problems += at_odds_beside(data, path, lines, problems)
    else:
        problems += at_odds(world, path, lines)
    if problems:
        raise SpecError(each_once(problems))
    return world


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """What is wrong is kept, and the rest looked at."""
    try:
        yield
    except SpecError as error:
        problems += error.problems


def _found(file: Path) -> str | None:
    """Where a file or folder lies, for whoever looks from elsewhere; None where there is none."""
    try:
        return str(file.absolute()) if file.exists() else None
    except OSError:  # no name of a file
        return None


def _bring_personas(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the persona itself where the file names one, and its first name where no name stands."""
    residents = data.get("residents")
    problems: list[str] = []
    for index, resident in enumerate(residents if isinstance(residents, list) else []):
        named = resident.get("persona") if isinstance(resident, dict) else None
        if not isinstance(named, str):
            continue
        file = (path.parent / named).resolve()
        file = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
        persona_data: Any = None
        persona: AnyPersona | Unread
        try:
            persona_data, persona_lines = read_yaml(file)
            persona = parse_persona(persona_data, file, persona_lines)
        except SpecError as error:
            problems += in_its_file(path, lines, ("residents", index, "persona"), error)
            persona = Unread(persona_data, file.stem)
        resident["persona"] = persona
        resident.setdefault("name", (persona.name.split() or [file.stem])[0])
    if problems:
        raise SpecError(problems)


def bring_policies(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put manuals, therapies and plans themselves where a policy names their files."""
    residents = data.get("residents")
    problems: list[str] = []
    for index, resident in enumerate(residents if isinstance(residents, list) else []):
        if not isinstance(resident, dict) or "policy" not in resident:
            continue
        try:
            resident["policy"] = bring_policy(resident["policy"], path.parent)
        except SpecError as error:
            problems += in_its_file(path, lines, ("residents", index, "policy"), error)
            resident["policy"] = Unread()
    if problems:
        raise SpecError(problems)


def bring_prompts(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the texts themselves where a set of prompts is named."""
    if not isinstance(data.get("prompts"), str):
        return
    try:
        data["prompts"] = prompts_named(data["prompts"], path.parent)
    except SpecError as error:
        data["prompts"] = Unread()
        raise SpecError(list(in_its_file(path, lines, ("prompts",), error))) from None


def _recast(data: Any, name: str, file: Path, path: Path) -> Any:
    """The world's data with another persona in the part of the resident called `name`."""
    residents = data.get("residents")
    known = (
        [str(r.get("name")) for r in residents if isinstance(r, dict)]
        if isinstance(residents, list)
        else []
    )
    if name not in known:
        raise SpecError(
            [
                f"{path}: no resident {name!r} in this world whose part could be taken;"
                f" {suggest(name, known)}"
            ]
        )
    persona_data, persona_lines = read_yaml(file)
    persona = parse_persona(persona_data, file, persona_lines)
    new = persona.name.split()[0]
    if new in known and new != name:
        raise SpecError(
            [f"{path}: {new} lives in this world already and cannot take the part of {name}"]
        )
    word = re.compile(rf"\b{re.escape(name)}\b")

    def renamed(value: Any) -> Any:
        if isinstance(value, str):
            return word.sub(new, value)
        if isinstance(value, dict):
            return {key: renamed(inner) for key, inner in value.items()}
        return [renamed(inner) for inner in value] if isinstance(value, list) else value

    data = renamed(data)
    for resident in data["residents"]:
        if resident.get("name") == new:
            resident["persona"] = persona
    return data


def _bring_scales(data: dict[str, Any], path: Path, lines: Lines) -> None:
    """Put the scale itself beside its file's name, as with personas, so that a world is
    complete.
    """
    listed = data.get("measurements")
    problems: list[str] = []
    for index, one in enumerate(listed if isinstance(listed, list) else []):
        named = one.get("instrument") if isinstance(one, dict) else None
        if not names_a_file(named):
            continue
        try:
            one["scale"] = load_spec(path.parent / named, Scale)[0]
        except SpecError as error:
            problems += in_its_file(path, lines, ("measurements", index, "instrument"), error)
            one["scale"] = Unread()
    if problems:
        raise SpecError(problems)
