"""Designs of studies go from one form into another; what is lost has a name."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from simcounsel.specs import shipped
from simcounsel.specs.experiment import Experiment
from simcounsel.specs.yaml_text import parse_yaml
from tests.commands import Command
from tests.each import each

SHIPPED = [
    one.stem for one in shipped.files("experiments") if "\nrecipe:" not in one.read_text("utf-8")
]
STUDY = """schema_version: 1
study:
  name: Tea at night
  study_id: tea
  question: Does tea keep a village awake?
  scenarios: [village]
  run_defaults: {seed_start: 4, seed_repeats: 2, config_path: village/conf, overrides: {num_agents: 9}}
evaluations: [{id: acts, preset: builtin.activity_summary}]
hypotheses:
  h1_cups:
    statement: "More cups: less sleep."
    independent_variable: env.cups
    prediction: Sleep falls with cups.
    status: testing
    overrides: {sim.memory: null}
    conditions:
      cups=0.5: {overrides: {env.cups: 0.5}}
      cups=0,5: {overrides: {env.cups: 2, ++env.kinds: []}, seeds: [7]}
  h2_green:
    statement: Green tea differs.
    conditions:
      green: {overrides: {env.kind: green}}
      black: {}
"""
DESIGN = """study: tea_party
title: Who is asked to tea
question: Whom do hosts ask?
track: shared
anchors: [{id: a, kind: literature, source: a book}]
hypotheses:
  h1: {statement: Hosts ask friends., rationale: They know them., signal_variables: [host]}
variables:
  host: {role: signal, base: shy, values: [shy, bold, 3], path: env.host}
  cake:
    {role: signal, base: "no cake at all", kind: group, group: world,
     values: [{value: no cake at all, label: none}, {value: big, label: big, overrides: {env.plates: 4}}, lemon]}
  model: {role: design_variation, base: m1, kind: model, values: [m1, m2]}
sweep:
  signal_grid: [host, cake]
  variations: {model: {cross: subset, subset: [{host: bold}]}}
  seeds: {start: 30, count: 3}
  world: garden
"""


def loads(text: str) -> Experiment:
    """What a skeleton is once a world is named."""
    data, _ = parse_yaml(text)
    assert data["worlds"] == []
    return Experiment.model_validate({**data, "worlds": ["w.yaml"]})


def lost(err: str) -> set[str]:
    return {line.removeprefix("lost: ") for line in err.splitlines() if line.startswith("lost: ")}


@pytest.mark.slow(4)
@each("name", SHIPPED)
def test_an_experiment_goes_out_and_comes_back(
    name: str, simcounsel: Command, tmp_path: Path
) -> None:
    out, back = tmp_path / "a" / "study.yaml", tmp_path / "back.yaml"
    done = simcounsel("study", "design", name, "--to", "silisocs", "--out", out)
    assert done.code == 0, done.err
    assert "lost: comments" in done.err and "simcounsel" in done.err
    study = yaml.safe_load(out.read_text("utf-8"))  # YAML 1.1, as SiliSocS reads it
    file = shipped.folder("experiments") / f"{name}.yaml"
    original = parse_yaml(file.read_text("utf-8"))[0]
    assert study["simcounsel"] == original and study["study"]["scenarios"]
    arms = [arm for test in study["hypotheses"].values() for arm in test["conditions"]]
    assert {*arms} == {arm["name"] for arm in original["conditions"]}
    again = original.get("repetitions", 1)
    seeds = original.get("seeds", [*range(1, again + 1)])
    assert study["study"]["run_defaults"]["seeds"] == seeds
    returned = simcounsel("study", "design", out, "-o", back)
    assert returned.code == 0 and not lost(returned.err)
    assert all(f"{world}: not found from" in returned.err for world in original.get("worlds", ()))
    assert parse_yaml(back.read_text("utf-8"))[0] == original


@pytest.mark.slow(4)
@each("name", SHIPPED)
def test_silisocs_takes_what_is_written(name: str, simcounsel: Command) -> None:
    schema = pytest.importorskip("silisocs.studies.study_schema")
    study = yaml.safe_load(simcounsel("study", "design", name).out)
    schema.validate_schema(study)
    with pytest.raises(Exception, match="name"):
        schema.validate_schema(study | {"study": {}})
    assert study["schema_version"] == 1


def test_planned_tests_are_hypotheses(simcounsel: Command) -> None:
    study = yaml.safe_load(simcounsel("study", "design", "planted_channels").out)
    planted, others = study["hypotheses"].values()
    assert planted["independent_variable"] == "condition"
    assert planted["prediction"].endswith("(total) is lower with everyone than with alone.")
    assert planted["analysis"]["test"] == "clients" and planted["analysis"]["alpha"] == 0.05
    assert [*planted["conditions"]] == ["everyone", "alone"]
    assert planted["conditions"]["alone"] == {"overrides": {"condition": "client_only"}}
    assert others["conditions"]["no-friend"]["do"] == ["mute:layperson"]
    assert study["study"]["notes"]["in_place_of"] == "Ines"
    for_all = study["study"]["run_defaults"]["overrides"]
    assert for_all["memory.top_k"] == 40 and for_all["ticks"] == 119
    (only,) = yaml.safe_load(simcounsel("study", "design", "quick").out)["hypotheses"].items()
    assert only[0] == "exploration" and [*only[1]["conditions"]] == ["alone", "counselor"]


def test_what_was_changed_beside_our_key_is_named(simcounsel: Command) -> None:
    text = simcounsel("study", "design", "quick").out
    Path("as_it_was.yaml").write_text(text, encoding="utf-8")
    done = simcounsel("study", "design", "as_it_was.yaml")
    assert not lost(done.err) and yaml.safe_load(done.out) == yaml.safe_load(text)["simcounsel"]
    Path("study.yaml").write_text(
        text.replace("study_id: quick-look", "study_id: other"), encoding="utf-8"
    )
    done = simcounsel("study", "design", "study.yaml")
    assert lost(done.err) == {
        "study.study_id: changed outside `simcounsel`; change the new file as well"
    }


def test_a_study_of_silisocs_becomes_a_skeleton(simcounsel: Command) -> None:
    Path("study.yaml").write_text(STUDY, encoding="utf-8")
    done = simcounsel("study", "design", "study.yaml", "--to", "ours", "--out", "ours.yaml")
    assert done.code == 0 and "name `worlds`" in done.err
    text = Path("ours.yaml").read_text("utf-8")
    ours = loads(text)
    assert (ours.name, ours.about) == ("Tea at night", "Does tea keep a village awake?")
    assert ours.seeds == (4, 5)
    assert [arm.name for arm in ours.conditions] == ["cups-0-5", "cups-0-5-2", "green", "black"]
    assert ours.conditions[0].about == "cups=0.5 of h1_cups: More cups: less sleep."
    assert lost(done.err) == {
        'study.study_id = "tea"',
        'study.scenarios = ["village"]',
        'study.run_defaults.config_path = "village/conf"',
        "study.run_defaults.overrides.num_agents = 9",
        'evaluations.0.id = "acts"',
        'evaluations.0.preset = "builtin.activity_summary"',
        'hypotheses.h1_cups.status = "testing"',
        "hypotheses.h1_cups.overrides.sim.memory = null",
        "hypotheses.h1_cups.conditions.cups=0.5.overrides.env.cups = 0.5",
        "hypotheses.h1_cups.conditions.cups=0,5.overrides.env.cups = 2",
        "hypotheses.h1_cups.conditions.cups=0,5.overrides.++env.kinds = []",
        "hypotheses.h1_cups.conditions.cups=0,5.seeds = [7]",
        'hypotheses.h2_green.conditions.green.overrides.env.kind = "green"',
    }
    assert all(f"#   {one}\n" in text for one in lost(done.err))
    plan = text[text.index("# hypotheses:") :]
    tests = yaml.safe_load("\n".join(line.removeprefix("# ") for line in plan.splitlines()))
    first, second = tests["hypotheses"]
    assert first["says"] == "More cups: less sleep." and first["contrast"] == [
        "cups-0-5",
        "cups-0-5-2",
    ]
    assert first["instrument"] is None and second["id"] == "h2_green"
    assert "predicted: Sleep falls with cups." in plan and "varies env.cups" in plan
    assert simcounsel("study", "design", "ours.yaml").code == 1, "a world is not named yet"


def test_a_condition_that_hypotheses_share_is_one(simcounsel: Command) -> None:
    text = STUDY.replace("      black: {}", "      cups=0.5: {overrides: {env.cups: 0.5}}")
    Path("study.yaml").write_text(text.replace("    overrides: {sim.memory: null}\n", ""), "utf-8")
    ours = loads(simcounsel("study", "design", "study.yaml").out)
    assert [arm.name for arm in ours.conditions] == ["cups-0-5", "cups-0-5-2", "green"]


def test_a_design_of_the_shared_task_becomes_a_skeleton(simcounsel: Command) -> None:
    Path("design.yaml").write_text(DESIGN, encoding="utf-8")
    done = simcounsel("study", "design", "design.yaml")
    ours = loads(done.out)
    assert ours.name == "Who is asked to tea" and ours.seeds == (30, 31, 32)
    assert {arm.name: arm.about for arm in ours.conditions} == {
        "base": "host: shy, cake: none",
        "host-bold": "host: bold",
        "host-3": "host: 3",
        "cake-big": "cake: big",
        "cake-lemon": "cake: lemon",
    }
    assert "contrast: [base, host-bold, host-3, cake-big, cake-lemon]" in done.out
    assert lost(done.err) == {
        "sweep.signal_grid: of 9 combinations, all but the base with one level changed",
        'study = "tea_party"',
        'track = "shared"',
        'anchors.0.id = "a"',
        'anchors.0.kind = "literature"',
        'anchors.0.source = "a book"',
        'hypotheses.h1.rationale = "They know them."',
        'hypotheses.h1.signal_variables = ["host"]',
        'variables.host.path = "env.host"',
        'variables.cake.kind = "group"',
        'variables.cake.group = "world"',
        'variables.cake.values.0.value = "no cake at all"',
        'variables.cake.values.1.value = "big"',
        "variables.cake.values.1.overrides.env.plates = 4",
        'variables.model.role = "design_variation"',
        'variables.model.base = "m1"',
        'variables.model.kind = "model"',
        'variables.model.values = ["m1", "m2"]',
        'sweep.variations.model.cross = "subset"',
        'sweep.variations.model.subset.0.host = "bold"',
        'sweep.world = "garden"',
    }


def broken(file: str, old: str, new: str, says: str) -> Any:
    return pytest.param(file, old, new, says, id=says[:40])


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        broken("study.yaml", "version: 1", "version: 2", ":1: schema_version: only 1 can be read"),
        broken("study.yaml", "  name: Tea at night\n", "", "study.name: null: write text here"),
        broken("study.yaml", "study:\n", "study: []\nold:\n", ":2: study.name: null: write text"),
        broken("study.yaml", "seed_repeats: 2", "seed_repeats: two", '"two": write a whole number'),
        broken("study.yaml", "seed_start: 4", "seed_start: -4", "whole numbers from 0 on"),
        broken(
            "study.yaml", "seed_repeats: 2", "seed_repeats: 99999999", "10000 at most; correct them"
        ),
        broken(
            "study.yaml", "black: {}", "black: [1]", ":23: hypotheses.h2_green.conditions.black: [1"
        ),
        broken("study.yaml", "black: {}", "black: {", "not valid YAML"),
        broken("design.yaml", "signal_grid: [host,", "signal_grid: [hosts,", "variables.hosts."),
        broken("design.yaml", "signal_grid: [host, cake]", "signal_grid: [[a]]", "write a list"),
        broken("design.yaml", "study: tea_party\ntitle: Who is asked to tea\n", "", "study: null"),
        broken("ours.yaml", DESIGN, "a: 1\n", ":1: not the design of a study"),
        broken("ours.yaml", DESIGN, "- 1\n", ":1: not the design of a study"),
        broken("ours.yaml", DESIGN, "recipe: 1\ncells: 1\n", "this is a sweep of trainings"),
        broken("ours.yaml", DESIGN, "study: {}\nsimcounsel: 3\n", ":2: simcounsel: 3: write a map"),
        broken(
            "ours.yaml",
            DESIGN,
            "study: {}\nsimcounsel:\n  name: a\n  worlds: [w]\n  arms: 1\n",
            ":5: arms: unknown key",
        ),
    ],
)
def test_what_is_broken_is_told(
    file: str, old: str, new: str, says: str, simcounsel: Command
) -> None:
    text = STUDY if file == "study.yaml" else DESIGN
    assert old in text
    Path(file).write_text(text.replace(old, new), encoding="utf-8")
    done = simcounsel("study", "design", file, "--out", "new.yaml")
    assert done.code == 1 and file in done.err and says in done.err, done.err
    assert not Path("new.yaml").exists()


def test_nothing_is_written_over_and_nothing_is_translated_into_itself(simcounsel: Command) -> None:
    Path("study.yaml").write_text(STUDY, encoding="utf-8")
    over = simcounsel("study", "design", "quick", "--out", "study.yaml")
    assert over.code == 1 and "exists already" in over.err
    assert Path("study.yaml").read_text("utf-8") == STUDY
    same = simcounsel("study", "design", "study.yaml", "--to", "silisocs")
    assert same.code == 1 and "this is a study.yaml of SiliSocS; write --to ours" in same.err
    ours = simcounsel("study", "design", "quick", "--to", "ours")
    assert ours.code == 1 and "this is an experiment of ours; write --to silisocs" in ours.err
    assert simcounsel("study", "design", "quick", "-o", "-").out.startswith("# quick.yaml, an exp")
