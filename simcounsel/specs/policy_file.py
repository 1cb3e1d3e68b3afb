"""A policy as a file or a command line names it: by its name, and by files that hold its
settings.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.specs.course import find_plan
from simcounsel.specs.exercises import load_exercises
from simcounsel.specs.manual_file import load_manual
from simcounsel.specs.patching import names_a_file
from simcounsel.specs.practice import PolicySpec
from simcounsel.specs.therapy import find_therapy

SETTING = {"staged": "manual", "single": "manual", "course": "therapy"}
"""The setting that stands behind a policy's name and a colon."""


def bring_policy(policy: Any, folder: Path) -> Any:
    """A policy's data with the manual, exercises, therapy and plan themselves where it names their
    files, seen from `folder`; a manual's file alone is a `staged` policy. SpecError when a file
    cannot be read, or holds something else.
    """
    if names_a_file(policy):
        policy = {"name": "staged", "manual": policy}
    if not isinstance(policy, dict):
        return policy
    found = dict(policy)
    for key, find in (
        ("manual", load_manual),
        ("exercises", load_exercises),
        ("therapy", lambda file: find_therapy(str(file))),
        ("plan", find_plan),
    ):
        if names_a_file(found.get(key)):
            found[key] = find(folder / found[key])
    return found


def policy_named(text: str) -> PolicySpec:
    """A policy from a command line: `socratic`, `staged:insomnia_cbt`, `staged:mine.yaml`,
    `mine.yaml`, `course:postmodern`. SpecError names what is wrong.
    """
    name, _, argument = text.partition(":")
    if argument and name not in SETTING:
        raise SpecError(
            [
                f"policy {text}: {name} takes nothing behind a colon; {', '.join(SETTING)} do, as"
                " in staged:insomnia_cbt or course:postmodern"
            ]
        )
    try:
        return PolicySpec.model_validate(
            bring_policy({"name": name, SETTING[name]: argument} if argument else name, Path())
        )
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise SpecError([f"policy {text}: {said}"]) from None
