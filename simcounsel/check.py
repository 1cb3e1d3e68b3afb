"""Validate any file that people write."""

from pathlib import Path
from typing import Any

from simcounsel.errors import SpecError
from simcounsel.instruments.scale import TALK_MEASURES, read_scale, shipped_names, unknown_instrument
from simcounsel.policies import POLICIES
from simcounsel.specs.course import CoursePlan
from simcounsel.specs.experiment import load_experiment
from simcounsel.specs.load import Lines, load_spec, read_yaml
from simcounsel.specs.persona import parse_persona
from simcounsel.specs.synthesis import load_synthesis
from simcounsel.specs.therapy import Therapy
from simcounsel.specs.world import load_world


def check_file(path: Path) -> list[str]:
    """Every problem of a world, persona, therapy, plan, experiment or synthesis file as `file:line: what; remedy`; empty when there is none.

    What a file is follows from its keys: `places` makes a world, `role` a persona, `conceptualization` a therapy, `therapy` and
    `stages` a plan, `conditions` an experiment, `situations` a synthesis.
    """
    try:
        data, lines = read_yaml(path)
        if isinstance(data, dict) and "places" in data:
            load_world(path)
            return [*_policy_problems(path, data, lines), *_instrument_problems(path, data, lines)]
        if isinstance(data, dict) and "role" in data:
            parse_persona(data, path, lines)
        elif isinstance(data, dict) and "conceptualization" in data:
            load_spec(path, Therapy)
        elif isinstance(data, dict) and {"therapy", "stages"} <= set(data):
            load_spec(path, CoursePlan)
        elif isinstance(data, dict) and {"respondent", "scoring"} & set(data) and "items" in data:
            read_scale(path)
        elif isinstance(data, dict) and "conditions" in data:
            load_experiment(path)
        elif isinstance(data, dict) and "situations" in data:
            load_synthesis(path)
        else:
            return [
                f"{path}:1: neither a world (it has no `places:`) nor a persona (no `role:`) nor an experiment (no `conditions:`) "
                "nor a synthesis (no `situations:`)"
            ]
    except SpecError as error:
        return error.problems
    return []


def _policy_problems(path: Path, data: dict[str, Any], lines: Lines) -> list[str]:
    """A world may name policies of one's own, so loading it does not look them up."""
    policies = ((number, resident.get("policy")) for number, resident in enumerate(data["residents"]))
    named = ((number, policy.get("name") if isinstance(policy, dict) else policy) for number, policy in policies)
    return [
        f"{path}:{lines.get(('residents', number, 'policy'), 1)}: no policy {policy!r}; there are {', '.join(sorted(POLICIES))}"
        for number, policy in named if policy is not None and policy not in POLICIES
    ]


def _instrument_problems(path: Path, data: dict[str, Any], lines: Lines) -> list[str]:
    """Names of instruments are looked up here and when a run begins, not when a world is loaded; files are read by then."""
    named = ((number, measurement["instrument"]) for number, measurement in enumerate(data.get("measurements") or []))
    return [
        f"{path}:{lines.get(('measurements', number, 'instrument'), 1)}: {unknown_instrument(name)}"
        for number, name in named if name not in (*shipped_names(), TALK_MEASURES) and not name.endswith((".yaml", ".yml"))
    ]
