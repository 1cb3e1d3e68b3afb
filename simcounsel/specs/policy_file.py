"""A policy as a file or a command line names it: by its name, and by files that hold its
settings.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.specs.patching import names_a_file
from simcounsel.specs.practice import PolicySpec, policy_files, policy_of_file


def bring_policy(policy: Any, folder: Path) -> Any:
    """A policy's data with what it names by a file in that file's place, seen from `folder`; a
    manual's file alone is a policy, too. SpecError when a file cannot be read, or holds something
    else.
    """
    if names_a_file(policy):
        policy = policy_of_file(policy)
    if not isinstance(policy, dict):
        return policy
    found = dict(policy)
    kind = policy_files().get(str(found.get("name")))
    for key, read in kind.reads.items() if kind else ():
        if names_a_file(found.get(key)):
            found[key] = read(folder / found[key])
    return found


def policy_named(text: str) -> PolicySpec:
    """A policy from a command line: `socratic`, `staged:insomnia_cbt`, `staged:mine.yaml`,
    `mine.yaml`, `course:postmodern`. SpecError names what is wrong.
    """
    name, _, argument = text.partition(":")
    takes = {one: kind.argument for one, kind in policy_files().items()}
    if argument and name not in takes:
        raise SpecError(
            [
                f"policy {text}: {name} takes nothing behind a colon; {', '.join(takes)} do, as"
                " in staged:insomnia_cbt or course:postmodern"
            ]
        )
    try:
        return PolicySpec.model_validate(
            bring_policy({"name": name, takes[name]: argument} if argument else name, Path())
        )
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise SpecError([f"policy {text}: {said}"]) from None
