"""Personas drawn from written ones, for studies with more clients than anybody can write by hand.

A drawn client has the life of a written one, another name, and other features within bounds: age,
how strongly each belief is held, which situations and ways of coping there are, how strong feelings
are, and its manner (how much it says, how soon it opens up, how much it sees of its own part).
Everything is drawn from a seed, and the file says what it is drawn from. Two clients drawn from one
life are more alike than two people: a study should say so, and its report does.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from simcounsel.chance import chance
from simcounsel.errors import SpecError
from simcounsel.packaged import packaged
from simcounsel.specs.load import read_yaml, refuse_existing, write_yaml
from simcounsel.specs.persona import ClientPersona
from simcounsel.specs.persona_file import parse_persona

MANNERS: dict[str, tuple[str, str]] = {
    "talk": (
        "Says less than most people do: a sentence, often only half of one.",
        "Says more than most people do, and one thing leads to the next.",
    ),
    "openness": (
        "Gives little away at first and answers no more than what was asked.",
        "Says early what others would keep back for long.",
    ),
    "insight": (
        "Puts things down to circumstances and sees little in them that could be done otherwise.",
        "Often notices how one thing led to another, and says so.",
    ),
}
"""By feature: what is added to the style for little and for much of it."""
LEVELS = ("little", "as written", "much")
FEWEST_SITUATIONS, FEWEST_WAYS = 4, 3
"""So many are kept where there are as many."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """How far a drawn client may be from the written one."""

    years: int = 2
    """Of age, up and down."""
    belief: int = 20
    """Of 100, up and down, for each belief by itself."""
    intensity: int = 2
    """Of 10, up and down, for each situation."""
    left_out: float = 0.3
    """The largest share of situations, and of ways of coping, that are left out."""


def names_of(file: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Other first names by a written client's first name, from a YAML file of lists, else ours.
    SpecError when the file is no such thing.
    """
    if file is None:
        data = packaged("simcounsel.specs", "other_names.yaml")
    else:
        data, _ = read_yaml(file)
    if not isinstance(data, dict) or not all(
        isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        for names in data.values()
    ):
        raise SpecError(
            [f"{file}: expected a list of first names for each client, as `Ines: [Marta, Joana]`"]
        )
    return {str(key): tuple(names) for key, names in data.items()}


def draw_personas(
    files: Sequence[Path],
    count: int,
    seed: int,
    out: Path,
    *,
    bounds: Bounds | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
) -> list[Path]:
    """Write `count` drawn clients as NUMBER_NAME.yaml into `out`; the same seed and files give the
    same clients. Each written one serves once before any serves twice. SpecError where a file is
    no client's, where there are not names enough, or where a file is there already.
    """
    bounds, names = bounds or Bounds(), names_of() if names is None else names
    written = [(file, _client(file)) for file in sorted(files)]
    order: list[int] = []
    while len(order) < count:
        turn = list(range(len(written)))
        chance(seed, "order", len(order)).shuffle(turn)
        order += turn
    ready: list[tuple[Path, dict[str, Any]]] = []
    used: set[str] = set()
    for number, which in enumerate(order[:count], 1):
        file, data = written[which]
        name = _other_name(data, names, used, seed, file)
        used.add(name)
        drawn = _drawn(data, name, seed, number, bounds)
        path = out / f"{number:03d}_{re.sub(r'[^a-z]+', '_', name.lower())}.yaml"
        parse_persona(drawn, path, {})
        refuse_existing(path)
        ready.append((path, drawn))
    for path, drawn in ready:
        write_yaml(path, _heading(drawn), drawn)
    return [path for path, _ in ready]


def drawn_persona(file: Path, number: int, seed: int) -> ClientPersona:
    """One of many: the same numbers draw the same client from a written one. Clients of several
    numbers may have one name. SpecError as `draw_personas`.
    """
    data = _client(file)
    name = _other_name(data, names_of(), set(), number, file)
    made = parse_persona(_drawn(data, name, seed, number, Bounds()), file, {})
    assert isinstance(made, ClientPersona)
    return made


def _other_name(
    data: Mapping[str, Any],
    names: Mapping[str, Sequence[str]],
    used: set[str],
    seed: int,
    file: Path,
) -> str:
    """One that nobody else in the study or in this life has."""
    first = first_name(data)
    others = [one for one in names.get(first, ()) if one not in used and not _within(one, data)]
    if not others:
        raise SpecError(
            [
                f"{file}: no other first name is left for {first}; name more with --names FILE"
                f" (`{first}: [...]`), or draw fewer"
            ]
        )
    return chance(seed, "name", first, len(used)).choice(others)


def first_name(data: Mapping[str, Any]) -> str:
    """As it is in the persona's texts."""
    return str(data["name"]).split()[0]


def _client(file: Path) -> dict[str, Any]:
    data, lines = read_yaml(file)
    persona = parse_persona(data, file, lines)
    if not isinstance(persona, ClientPersona):
        raise SpecError([f"{file}: the persona of a {persona.role}; only clients are drawn"])
    if persona.drawn is not None:
        raise SpecError([f"{file}: drawn itself; draw from written personas"])
    assert isinstance(data, dict)
    return data


def _drawn(
    data: dict[str, Any], name: str, seed: int, number: int, bounds: Bounds
) -> dict[str, Any]:
    """The other life: what a reader of the file must know of it is under `drawn`."""
    rng = chance(seed, number)
    found: dict[str, Any] = _renamed(data, first_name(data), name)
    age = int(data["age"]) + rng.randint(-bounds.years, bounds.years)
    manner = {feature: rng.choice(LEVELS) for feature in MANNERS}
    added = [
        MANNERS[feature][0 if level == "little" else 1]
        for feature, level in manner.items()
        if level != "as written"
    ]
    return found | {
        "age": max(16, min(110, age)),
        "style": " ".join([str(found["style"]).strip(), *added]),
        **{
            key: [
                one | {"strength": _moved(one.get("strength", 80), bounds.belief, rng, 5, 100)}
                for one in found[key]
            ]
            for key in ("core_beliefs", "intermediate_beliefs")
        },
        "situations": [
            one | {"intensity": _moved(one["intensity"], bounds.intensity, rng, 1, 10)}
            for one in _some(found["situations"], FEWEST_SITUATIONS, rng, bounds)
        ],
        "coping_strategies": _some(found["coping_strategies"], FEWEST_WAYS, rng, bounds),
        "days": rng.sample(found["days"], len(found["days"])),
        "drawn": {"of": str(data["name"]), "seed": seed, "number": number} | manner,
    }


def _moved(value: int, reach: int, rng: Random, low: int, high: int) -> int:
    return max(low, min(high, value + rng.randint(-reach, reach)))


def _some(whole: list[Any], fewest: int, rng: Random, bounds: Bounds) -> list[Any]:
    """In their order, without some."""
    most_out = max(0, min(len(whole) - fewest, int(len(whole) * bounds.left_out)))
    kept = sorted(rng.sample(range(len(whole)), len(whole) - rng.randint(0, most_out)))
    return [whole[at] for at in kept]


def _renamed(value: Any, old: str, new: str) -> Any:
    """With the name in every text."""
    if isinstance(value, str):
        return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, value)
    if isinstance(value, list):
        return [_renamed(one, old, new) for one in value]
    if isinstance(value, dict):
        return {key: _renamed(one, old, new) for key, one in value.items()}
    return value


def _within(name: str, data: Mapping[str, Any]) -> bool:
    """Whether somebody in this life has that name already."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", str(data)) is not None


def _heading(data: Mapping[str, Any]) -> str:
    drawn = data["drawn"]
    return (
        f"# {data['name']}, {data['age']} (client, {data['theme']}): drawn from {drawn['of']}, seed"
        f" {drawn['seed']}, number {drawn['number']}; not written by hand.\n"
    )
