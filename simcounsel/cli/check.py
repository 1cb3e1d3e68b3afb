"""Validate any file that people write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from simcounsel import named_code
from simcounsel.errors import PluginError, SpecError
from simcounsel.instruments.naming import unknown_instruments
from simcounsel.instruments.scale import read_scale
from simcounsel.policies import POLICIES, policy_for
from simcounsel.policies.listening import LISTENERS
from simcounsel.record_kinds import MANIFEST, is_record, other_kinds
from simcounsel.specs import shipped
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.file_kind import file_kinds
from simcounsel.specs.load import Lines, line_of, read_yaml
from simcounsel.specs.patching import names_a_file
from simcounsel.specs.persona_file import parse_persona
from simcounsel.specs.problems import At, Problem, each_once, file_of
from simcounsel.specs.world import World
from simcounsel.specs.world_file import load_world

KEYS = frozenset("places role respondent conditions".split())
"""Each is in one kind of the core's files and in none of the others."""
NAMING = frozenset({"places", "conditions"})
"""Kinds of files that name instruments."""
PERSONAS = frozenset({"role", "voice", "routines"})
"""By any of these a persona is known, so that a `role` that is misspelt is found."""


def files_of(path: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What to check of a name on the command line: the file itself, or what is included under that
    name; of a folder the YAML files in it and in its folders, runs and what is hidden left out.
    Then the YAML files there that are none of simcounsel's. SpecError when there is nothing to
    check.
    """
    for kind in get_args(shipped.Kind):
        path = shipped.found(kind, path)
    if not path.is_dir():
        return (path,), ()
    found = tuple(_yaml_files(path))
    ours = tuple(file for file in found if _is_ours(file))
    if not ours:
        raise SpecError(
            [
                f"{path}: a folder without a file to check; name a folder with .yaml files of a"
                " study, or a file"
            ]
        )
    return ours, tuple(file for file in found if file not in ours)


def _yaml_files(folder: Path) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise SpecError(
            [f"{folder}: cannot be read ({error.strerror}); look at its permissions"]
        ) from None
    for one in entries:
        if one.name.startswith("."):
            continue
        if one.is_dir() and not one.is_symlink() and not _is_made(one):
            yield from _yaml_files(one)
        elif one.is_file() and one.suffix in (".yaml", ".yml"):
            yield one


def _is_made(folder: Path) -> bool:
    """Whether it is what a run, a training or the like left behind."""
    return is_record(folder) or (folder / MANIFEST).exists()


def _is_ours(file: Path) -> bool:
    """Whether it is for simcounsel, as far as its keys tell; what cannot be read is, so that its
    problem is told.
    """
    try:
        data, _ = read_yaml(file)
    except SpecError:
        return True
    of_guests = {key for kind in file_kinds() for key in kind.keys}
    keys = KEYS | of_guests | {kind.key for kind in other_kinds()}
    return isinstance(data, dict) and bool(keys & data.keys())


def check_file(path: Path) -> list[str]:
    """Every problem of a world, persona, manual, therapy, plan, experiment or settings of another
    kind of record as `file:line: what; remedy`; empty when there is none.

    What a file is follows from its keys: `places` makes a world, `role` a persona, `phases` a
    manual, `conceptualization` a therapy, `therapy` and `stages` a plan, `conditions` an
    experiment, the key of a kind of records its settings (`FileKind`, `RecordKind`).
    """
    problems: list[str] = []
    try:
        data, lines = read_yaml(path)
        if isinstance(data, dict) and not PERSONAS & data.keys() and NAMING & data.keys():
            problems += unknown_instruments(path, data, lines)
        problems += _read(path, data, lines)
    except SpecError as error:
        problems += error.problems
    return each_once(problems)


def ok_line(path: Path, problems: list[str]) -> str:
    """What is said of a file none of whose problems is new: that it has none, or waits for the
    files that it names; '' where its own are told already.
    """
    others = dict.fromkeys(str(file_of(one) or "what it names") for one in problems)
    if path.resolve() in {Path(one).resolve() for one in others}:
        return ""
    are = "is" if len(others) == 1 else "are"
    return f"{path}: ok" + (f" once {' and '.join(others)} {are} corrected" if others else "")


def _read(path: Path, data: Any, lines: Lines) -> list[str]:
    """Read a file as what its keys make it. SpecError, or the problems of what is looked up only
    when it is used.
    """
    if not isinstance(data, dict):
        data = {}
    if "places" in data:
        return _policy_problems(path, load_world(path), lines)
    if PERSONAS & data.keys():
        parse_persona(data, path, lines)
    elif {"respondent", "scoring"} & set(data) and "items" in data:
        read_scale(path)
    elif "conditions" in data:
        return [*_unknown_policies(path, data, lines), *_experiment_problems(path)]
    else:
        return _of_a_guest(path, data, lines)
    return []


def _of_a_guest(path: Path, data: dict[str, Any], lines: Lines) -> list[str]:
    """Read a file of a guest, or the settings of a record of another kind. SpecError, or that it is
    nothing known.
    """
    for file in file_kinds():
        if set(file.keys) <= set(data):
            file.check(path, data, lines)
            return []
    kinds = [kind for kind in other_kinds() if kind.key]
    for kind in kinds:
        if kind.key in data:
            kind.part("check")(path)
            return []
    others = [f" nor a {kind.noun} (no `{kind.key}:`)" for kind in kinds]
    others += [
        f" nor {file.noun} (no {' and '.join(f'`{key}:`' for key in file.keys)})"
        for file in file_kinds()
    ]
    return [
        f"{path}:1: neither a world (it has no `places:`) nor a persona (no `role:`) nor an"
        f" experiment (no `conditions:`){''.join(others)}"
    ]


def graph_of_file(path: Path) -> str:
    """A manual's states and transitions as a Mermaid flowchart. SpecError if it is no manual."""
    data, _ = read_yaml(path)
    for file in file_kinds():
        if file.graph and isinstance(data, dict) and set(file.keys) <= set(data):
            return file.graph(path)
    raise SpecError(
        [f"{path}: not a manual (it has no `phases:`); --graph draws the states of a manual"]
    )


def _experiment_problems(path: Path) -> list[str]:
    try:
        load_experiment(path)
    except SpecError as error:
        return error.problems
    return []


def _unknown_policies(path: Path, data: dict[str, Any], lines: Lines) -> Iterator[Problem]:
    """Names of policies that an experiment sets and that there are not."""
    arms = enumerate(data["conditions"] if isinstance(data["conditions"], list) else ())
    places: list[tuple[At, Any]] = [(("conditions", n, "set"), _of(arm, "set")) for n, arm in arms]
    for at, changed in [*places, (("set",), data.get("set")), (("past",), data.get("past"))]:
        for key, value in changed.items() if isinstance(changed, dict) else ():
            named = _of(value, "name") or value
            if str(key).split(".")[-1] != "policy" or not isinstance(named, str):
                continue
            if not names_a_file(named) and ":" not in named and named not in POLICIES:
                what = f"{key}: no policy {named!r}; there are {POLICIES.known()}"
                yield Problem(path, lines, (*at, key), what)


def _of(data: Any, key: str) -> Any:
    return data.get(key) if isinstance(data, dict) else None


def _policy_problems(path: Path, world: World, lines: Lines) -> list[str]:
    """A world may name policies and listeners of one's own: loading it does not look them up."""
    problems = [
        f"{path}:{line_of(lines, ('listeners', number))}: no listener {name!r}; there are"
        f" {LISTENERS.known()}"
        for number, name in enumerate(world.listeners)
        if ":" not in name and name not in LISTENERS
    ]
    for number, resident in enumerate(world.residents):
        line = line_of(lines, ("residents", number, "policy"))
        named = resident.policy.name if resident.policy else ""
        if ":" in named:
            continue
        if named and named not in POLICIES:
            problems.append(f"{path}:{line}: no policy {named!r}; there are {POLICIES.known()}")
            continue
        try:
            policy_for(resident.role, resident.policy, world.language)
        except SpecError as error:
            problems += [f"{path}:{line}: {what}" for what in error.problems]
        except PluginError as error:
            problems.append(f"{path}:{line}: {error}")
    return problems


def code_in(path: Path) -> tuple[list[str], list[str]]:
    """Which code a sound world or experiment names, as notes, then as problems where its module is
    not found. Nothing is imported.
    """
    data, _ = read_yaml(path)
    if not isinstance(data, dict):
        return [], []
    worlds: list[World] = [load_world(path)] if "places" in data else []
    if "conditions" in data:
        abouts = [cell.about for cell in load_experiment(path)[1]]
        worlds += [about for about in abouts if isinstance(about, World)]
    notes, problems = [], []
    for name in dict.fromkeys(name for world in worlds for name in world.code_names()):
        place = f"{path}:{_first_line(path, name)}: "
        if named_code.file_of(name) is None:
            problems.append(place + named_code.missing(name))
        else:
            notes.append(
                f"{place}{named_code.described(name)}. Nothing was imported; a run imports it only"
                " where you allow it (`--allow-code`)"
            )
    return notes, problems


def _first_line(path: Path, words: str) -> int:
    """The first line of a file with these words; 1 where another file says them."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if words in line), 1)
