"""A synthesis from its file, or as a command line asks for it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.corpus.synthesis.settings import Synthesis, SynthesisModels
from simcounsel.corpus.synthesis.situations import SHIPPED, Situation, read_situations
from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, Spec, explain, line_of, load_spec, parse_spec, read_yaml
from simcounsel.specs.patching import patch


def load_synthesis(path: Path, **changes: Any) -> Synthesis:
    """A synthesis from its file, with changes by KEY=VALUE. SpecError names every problem with
    file, line and remedy.
    """
    data, lines = read_yaml(path)
    if not isinstance(data, dict):
        raise SpecError([f"{path}:1: expected `key: value` lines, found {type(data).__name__}"])
    return synthesis_of(data, path, lines, changes)


def synthesis_of(
    data: dict[str, Any],
    path: Path,
    lines: Lines,
    changes: dict[str, Any],
    at: tuple[str | int, ...] = (),
) -> Synthesis:
    """The same from data that is in a file, at a place in it; `situations` and `themes` there
    become the situations.
    """
    data = dict(data)
    for key, value in changes.items():
        patch(data, key, value)
    named = data.pop("situations", SHIPPED)
    themes = data.pop("themes", None)
    if not isinstance(named, list | tuple):
        named = [named]
    if all(isinstance(one, str | Path) for one in named):
        place = f"{path}:{line_of(lines, (*at, 'situations'))}"
        found = _chosen(
            _situations(named, path.parent, place),
            themes,
            f"{path}:{line_of(lines, (*at, 'themes'))}",
        )
        data["situations"] = [situation.model_dump() for situation in found]
    else:
        data["situations"] = named
    inner = {place[len(at) :]: line for place, line in lines.items() if place[: len(at)] == at}
    return parse_spec(data, Synthesis, path, inner)


def settings_from(
    seeds: Sequence[Path],
    changes: dict[str, Any],
    *,
    model: str | None = None,
    roles: Mapping[str, str] | None = None,
    models: Path | None = None,
    themes: Sequence[str] | None = None,
    without: Sequence[str] | None = None,
    strategies: Path | None = None,
) -> Synthesis:
    """A synthesis as the command line asks for it: a YAML file, or seeds, with what is said beside
    it.

    Of models what is more special goes before: those of the settings' file, then `model` for every
    role in their place, then `models`, a YAML file of some roles, then `roles`, then `changes`.
    """
    named = dict(roles or {})
    unknown = [role for role in named if role not in SynthesisModels.model_fields]
    if unknown:
        raise SpecError(
            [
                f"--role {unknown[0]}: no such role; there are"
                f" {', '.join(SynthesisModels.model_fields)}"
            ]
        )
    asked: dict[str, Any] = {"models": {"default": model}} if model else {}
    if models is not None:
        asked |= {
            f"models.{role}": name
            for role, name in (
                load_spec(models, SynthesisModels)[0].model_dump(exclude_unset=True).items()
            )
        }
    changes = asked | {f"models.{role}": name for role, name in named.items()} | changes
    if themes:
        changes["themes"] = list(themes)
    if without:
        changes["without"] = list(without)
    if strategies is not None:
        changes["strategies"] = list(load_spec(strategies, StrategyFile)[0].strategies)
    if len(seeds) == 1 and seeds[0].suffix in (".yaml", ".yml"):
        return load_synthesis(seeds[0], **changes)
    stem = seeds[0].stem if len(seeds) == 1 and seeds[0].stem.isascii() else "synthesis"
    data = {"name": stem, "situations": [str(Path(seed).absolute()) for seed in seeds] or [SHIPPED]}
    return synthesis_of(data, Path("synthesize"), {(): 1}, changes)


class StrategyFile(Spec):
    """What `strategies RUN -o FILE` writes."""

    strategies: tuple[str, ...]


def _situations(named: list[str], beside: Path, place: str) -> tuple[Situation, ...]:
    try:
        return read_situations(named, beside)
    except SpecError as error:
        raise SpecError(
            [f"{place}: situations: {error.problems[0]}", *error.problems[1:]]
        ) from None


def _chosen(found: tuple[Situation, ...], themes: Any, place: str) -> tuple[Situation, ...]:
    if themes is None:
        return found
    wanted = [themes] if isinstance(themes, str) else list(themes)
    there = sorted({situation.theme for situation in found if situation.theme})
    for theme in wanted:
        if theme not in there:
            raise SpecError(
                [
                    f"{place}: themes: no situation on {theme!r}; there are"
                    f" {', '.join(there) or 'no themes at all'}"
                ]
            )
    return tuple(situation for situation in found if situation.theme in wanted)


def changed(synthesis: Synthesis, changes: dict[str, Any]) -> Synthesis:
    """The settings with changes by KEY=VALUE. SpecError when a key leads nowhere or a value does
    not fit.
    """
    data = synthesis.model_dump(mode="json")
    for key, value in changes.items():
        patch(data, key, value)
    try:
        return Synthesis.model_validate(data)
    except ValidationError as error:
        raise SpecError(
            [
                explain(e, Synthesis, Path("--set"), {}).replace("--set:1:", "--set", 1)
                for e in error.errors(include_url=False)
            ]
        ) from None
