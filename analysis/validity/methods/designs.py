"""Designs of studies from one form into another: experiments of ours, SiliSocS's `study.yaml`
(EASE's form too, arXiv 2605.30258), and the `design.yaml` of the shared task Many Worlds.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import yaml

from simcounsel.errors import SpecError
from simcounsel.record_kinds import KINDS
from simcounsel.specs import shipped
from simcounsel.specs.experiment import Arm, Experiment, Hypothesis
from simcounsel.specs.experiment_file import load_experiment
from simcounsel.specs.file_text import Lines, read_text
from simcounsel.specs.load import parse_spec, read_yaml
from simcounsel.specs.problems import At, Problem
from simcounsel.specs.yaml_text import parse_yaml

Json = dict[str, Any]
To = Literal["silisocs", "ours"]
T = TypeVar("T")
OURS = "simcounsel"
"""The free key under which a study.yaml of ours keeps the whole experiment."""
FOR_ALL = ("ticks", "models", "measurements")
OWN = "name about worlds seeds repetitions set conditions hypotheses".split()
"""Keys of an experiment with a place of their own in a study.yaml; notes hold the others."""
TOLD = ("statement", "independent_variable", "prediction")
WORDS = {dict: "a map (`key: value` lines)", list: "a list", str: "text", int: "a whole number"}
NOTHING: tuple[object, ...] = (None, "", [], {})


@dataclass(frozen=True)
class Source:
    """A file of others; what is not taken out of it is lost."""

    file: Path
    data: Json
    lines: Lines
    taken: set[At] = field(default_factory=set)

    def wrong(self, at: At, what: str) -> SpecError:
        """An error that names a place in the file."""
        place = tuple(map(str, at))
        return SpecError([Problem(self.file, self.lines, place, f"{_dotted(at)}: {what}")])

    def take(self, kind: type[T], *at: str | int, instead: T | None = None) -> T:
        """The value at a place, or `instead` where there is none. SpecError for another kind."""
        found: Any = self.data
        for part in at:
            fits = isinstance(found, dict) and isinstance(part, str | int)
            found = found.get(part) if fits else None
        if found in NOTHING and instead is not None:
            found = instead
        elif type(found) is not kind or found in NOTHING:
            raise self.wrong(at, f"{_short(found)}: write {WORDS[kind]} here")
        if kind is not dict:
            self.taken.add(at)
        return cast(T, found)

    def lost(self) -> list[str]:
        """What was not taken."""
        return [
            f"{_dotted(at)} = {_short(value)}"
            for at, value in _leaves(self.data)
            if value not in NOTHING or "overrides" in at
            if not any(at[:size] in self.taken for size in range(1, len(at) + 1))
        ]


def translate(file: Path, to: To | None, folder: Path) -> tuple[str, list[str]]:
    """A design in the other form, and sentences on what was lost. folder: where it will be.
    SpecError where the file cannot be read, or has that form already.
    """
    file = shipped.found("experiments", file)
    data, lines = read_yaml(file)
    keys = data.keys() if isinstance(data, dict) else set()
    if keys & {"variables", "sweep"}:
        form, target = "a design.yaml of the shared task", "ours"
    elif keys & {"study", "schema_version"}:
        form, target = "a study.yaml of SiliSocS", "ours"
    elif keys & {"conditions", "worlds", "recipe"}:
        form, target = "an experiment of ours", "silisocs"
    else:
        has = "`study` (SiliSocS), `variables` (the shared task) or `conditions` (ours)"
        raise SpecError([f"{file}:1: not the design of a study; one has {has}"])
    if to not in (None, target):
        raise SpecError([f"{file}:1: --to {to}: this is {form}; write --to {target}"])
    source = Source(file, parse_yaml(read_text(file))[0], lines)  # with models' paths as they are
    if target == "silisocs":
        return _out(source)
    if OURS in keys:
        return _back(source, folder)
    return _from_study(source) if "study.yaml" in form else _from_design(source)


def _out(source: Source) -> tuple[str, list[str]]:
    study = study_of(load_experiment(source.file)[0], source.data)
    head = (
        f"# {source.file.name}, an experiment of simcounsel, as a study of SiliSocS.\n"
        "# SiliSocS reads and checks it. Only simcounsel can run it: the overrides are its keys.\n"
    )
    notes = [f"study.notes.{key}" for key in study["study"]["notes"]]
    told = f"not read by SiliSocS: {', '.join([*notes, 'about and do of conditions', OURS])}"
    return head + _yaml(study), ["lost: comments", told]


def study_of(experiment: Experiment, data: Json) -> Json:
    """An experiment as a study.yaml of SiliSocS. data: the same, as its file has it."""
    plain = experiment.model_dump(mode="json", exclude_unset=True)
    tests: Json = {}
    for one in experiment.hypotheses:
        arms = [arm for name in one.contrast for arm in experiment.conditions if arm.name == name]
        tests[_free(one.id, tests)] = _test(one, arms)
    named = {name for one in experiment.hypotheses for name in one.contrast}
    if others := [arm for arm in experiment.conditions if arm.name not in named]:
        says = "No planned test names these conditions."
        tests[_free("exploration", tests)] = {"statement": says, "conditions": _nodes(others)}
    scenarios: list[str] = []
    for world in experiment.worlds or (_kind_of(data)[0],):
        scenarios.append(_free(Path(world).stem, scenarios))
    for_all = {key: plain[key] for key in FOR_ALL if key in plain} | plain.get("set", {})
    study = {
        "name": experiment.name,
        "study_id": _slug(experiment.name),
        "question": experiment.about,
        "scenarios": scenarios,
        "notes": {key: value for key, value in plain.items() if key not in (*OWN, *FOR_ALL)},
        "run_defaults": {"seeds": list(experiment.all_seeds), "overrides": for_all},
    }
    return {"schema_version": 1, "study": study, "hypotheses": tests, OURS: data}


def _test(one: Hypothesis, arms: Sequence[Arm]) -> Json:
    own = [{**arm.set, "do": arm.do} for arm in arms]
    keys = dict.fromkeys(key for arm in own for key in arm)
    differ = [key for key in keys if any(arm.get(key, ...) != own[0].get(key, ...) for arm in own)]
    first, second = one.contrast[:2]
    what = f"{one.instrument} ({one.score})"
    prediction = f"{what} differs between {', '.join(one.contrast)}."
    if one.direction != "differs":
        prediction = f"{what} is {one.direction} with {first} than with {second}."
    return {
        "statement": one.says or prediction,
        "independent_variable": ", ".join(differ),
        "prediction": prediction,
        "analysis": one.model_dump(mode="json", exclude={"id", "says"}, exclude_none=True),
        "conditions": _nodes(arms),
    }


def _nodes(arms: Sequence[Arm]) -> Json:
    plain = {arm.name: arm.model_dump(mode="json", exclude={"name"}) for arm in arms}
    free = {key: {k: arm[k] for k in ("about", "do") if arm[k]} for key, arm in plain.items()}
    return {key: {**free[key], "overrides": arm["set"]} for key, arm in plain.items()}


def _back(source: Source, folder: Path) -> tuple[str, list[str]]:
    """The experiment that a study.yaml of ours keeps."""
    data: Json = source.take(dict, OURS)
    lines = {at[1:]: line for at, line in source.lines.items() if at[:1] == (OURS,)}
    experiment = parse_spec(data, _kind_of(data)[1], source.file, lines)
    kept, now = dict(_leaves(study_of(experiment, data))), dict(_leaves(source.data))
    told = [
        f"lost: {_dotted(at)}: changed outside `{OURS}`; change the new file as well"
        for at in {**kept, **now}
        if kept.get(at) != now.get(at)
    ]
    told += [
        f"{one}: not found from {folder}; correct this path in the new file"
        for one in (*experiment.worlds, *experiment.clients)
        if not (folder / one).exists()
    ]
    return f"# The experiment that {source.file.name} holds.\n{_yaml(data)}", told


def _kind_of(data: Json) -> tuple[str, type[Experiment]]:
    """Whose experiment it is, by the key that names a kind of records; else of worlds."""
    plugin = next((one for one in KINDS.plugins() if one.name in data), None)
    kind = KINDS.load(plugin).part("experiment") if plugin else None
    return (plugin.name, kind.spec) if plugin and kind else ("worlds", Experiment)


def _from_study(source: Source) -> tuple[str, list[str]]:
    if source.take(int, "schema_version") != 1:
        raise source.wrong(("schema_version",), "only 1 can be read; write the study in that form")
    name = source.take(str, "study", "name")
    if source.data["study"].get("study_id") == name:
        source.taken.add(("study", "study_id"))
    arms: dict[str, str] = {}
    known: dict[str, str] = {}
    tests: dict[str, list[str]] = {}
    for key, test in source.take(dict, "hypotheses").items():
        at = ("hypotheses", key, "conditions")
        tests[key] = []
        for one in source.take(dict, *at):
            node = source.take(dict, *at, one, instead={})
            same = json.dumps([one, test.get("overrides"), node], default=str)
            if same not in known:  # several hypotheses may share a condition
                known[same] = _free(_slug(one), arms)
                says = source.take(str, *at[:2], "statement", instead="not stated")
                arms[known[same]] = f"{one} of {key}: {says}"
            tests[key].append(known[same])
    about = source.take(str, "study", "question", instead="")
    seeds = _seeds(source, ("study", "run_defaults"), "seed_start", "seed_repeats")
    return _skeleton(source, {"name": name, "about": about, "seeds": seeds}, arms, tests)


def _from_design(source: Source) -> tuple[str, list[str]]:
    """Its base, and each other level of the grid's variables alone."""
    base, others, cells = [], dict[str, str](), 1
    for key in source.take(list, "sweep", "signal_grid"):
        at = ("variables", key)
        levels = source.take(list, *at, "values")
        cells *= len(levels)
        wanted = str(source.take(dict, *at).get("base", "not stated"))
        source.taken.update({(*at, "role"), (*at, "base")})
        for number, level in enumerate(levels):
            here: At = (*at, "values", number)
            label = value = level
            if isinstance(level, dict):
                value = level.get("value")
                label = level.get("label", value)
                source.taken.discard(here[:-1])
                here = (*here, "label" if "label" in level else "value")
            source.taken.add(here)
            if wanted in (str(label), str(value)):
                wanted = str(label)
            else:
                others[_free(_slug(f"{key}-{label}"), {"base", *others})] = f"{key}: {label}"
        base.append(f"{key}: {wanted}")
    arms = {"base": ", ".join(base), **others}
    tests = {key: [*arms] for key in source.take(dict, "hypotheses", instead={})}
    head = {
        "name": source.take(str, "title", instead="") or source.take(str, "study"),
        "about": source.take(str, "question", instead=""),
        "seeds": _seeds(source, ("sweep", "seeds"), "start", "count"),
    }
    grid = f"sweep.signal_grid: of {cells} combinations, all but the base with one level changed"
    return _skeleton(source, head, arms, tests, [grid] if cells > len(arms) else [])


def _seeds(source: Source, at: At, start: str, number: str) -> list[int]:
    """As SiliSocS takes them: repetitions from a start, else `seeds`, else `seed`, else 1."""
    many = source.take(int, *at, number, instead=0)
    first = source.take(int, *at, start, instead=source.take(int, *at, "seed", instead=1))
    listed = source.take(list, *at, "seeds", instead=[first])
    found = [*range(first, first + many)] if 0 < many <= 10_000 else listed
    if many > 10_000 or many < 0 or not all(type(one) is int and one >= 0 for one in found):
        raise source.wrong(at, "seeds are whole numbers from 0 on, 10000 at most; correct them")
    return found


def _skeleton(
    source: Source,
    head: Json,
    arms: Mapping[str, str],
    tests: Mapping[str, list[str]],
    lost: Sequence[str] = (),
) -> tuple[str, list[str]]:
    """An experiment of ours to be completed, and what was lost."""
    plans = ["hypotheses:  # take out each `# `, and name what is measured"] if tests else []
    for key, contrast in tests.items():
        statement, variable, prediction = (
            source.take(str, "hypotheses", key, one, instead="") for one in TOLD
        )
        says = json.dumps(statement, ensure_ascii=False)
        plans += [
            f"  - id: {_slug(key)}",
            f"    says: {says}",
            "    instrument:  # needed: a scale, which `measurements` names too",
            f"    contrast: [{', '.join(contrast)}]  # needed: two of them; more with test: anova",
            f"    direction: differs  # or lower or higher; predicted: {prediction or 'not said'}",
            *([f"    # it varies {variable}"] if variable else []),
        ]
    end = [f"the name's end = {_short(head['name'][60:])}"] if head["name"][60:] else []
    lost = [*lost, *end, *source.lost()]
    conditions = [{"name": one, "about": about, "set": {}} for one, about in arms.items()]
    comments = [
        f"A skeleton, read from {source.file.name}. It does not load until `worlds` names a world.",
        "Then fill in `set` of each condition, and add `measurements`.",
        "Lost, since an experiment of ours has no place for it:",
        *(f"  {one}" for one in lost),
    ]
    text = f"{_comments(comments)}worlds: []  # needed: files of your worlds\n"
    text += _yaml({**head, "name": head["name"][:60], "conditions": conditions}) + _comments(plans)
    told = [f"lost: {one}" for one in lost]
    return text, [*told, "now name `worlds`: until then the experiment does not load"]


def _comments(lines: Sequence[str]) -> str:
    """Each as one line of comment, its indent kept."""
    ends = [len(one) - len(one.lstrip(" ")) for one in lines]
    return "".join(
        f"# {' ' * end}{' '.join(one.split())}\n" for one, end in zip(lines, ends, strict=True)
    )


def _leaves(node: Any, at: At = ()) -> Iterator[tuple[At, Any]]:
    """All that data say, by place."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _leaves(value, (*at, key))
    elif isinstance(node, list) and any(isinstance(one, dict) for one in node):
        for index, value in enumerate(node):
            yield from _leaves(value, (*at, index))
    elif node != {}:
        yield at, node


def _free(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken."""
    numbered = (name if number == 1 else f"{name[:34]}-{number}" for number in count(1))
    return next(one for one in numbered if one not in taken)


def _slug(name: object) -> str:
    found = re.sub(r"[^a-z0-9_]+", "-", str(name).casefold()).strip("-_")
    return found[:40] or "unnamed"


def _dotted(at: At) -> str:
    return ".".join(map(str, at))


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _yaml(data: Json) -> str:
    return yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
