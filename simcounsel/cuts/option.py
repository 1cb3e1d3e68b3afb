"""`--do`: what is cut, as an option of `fork` and `run`, and as `do` of a condition."""

from collections.abc import Mapping
from typing import Any

from simcounsel.cli.guest_options import GuestOption


def _sets(values: list[str], arguments: Mapping[str, Any]) -> list[str]:
    """What `--do` changes. SpecError."""
    from simcounsel.cuts.cut import changes, sets_of
    from simcounsel.errors import SpecError
    from simcounsel.runs.run import Run
    from simcounsel.specs.world_file import load_world

    forked, seated = "run" in arguments, arguments.get("human") or ()
    world = Run.open(arguments["run"]).world if forked else load_world(arguments["world"])
    found = changes(values, world, int(arguments["at"]) if forked else 0)
    if who := next((one for one in seated if f"residents.{one}.mind" in found), None):
        raise SpecError([f"--do: --human {who} seats a person there; leave one out"])
    given = {one.partition("=")[0].strip() for one in arguments.get("sets") or ()}
    if both := sorted(given & set(found)):
        raise SpecError([f"--do: `{both[0]}` is set by another option, too; leave one out"])
    return sets_of(found)


DO = GuestOption(
    metavar="CUT",
    help=(
        "Cut one thing from there on, in the client if nobody is named: freeze:beliefs=NAME,"
        " block:memory, scramble:recall, mute:NAME, swap:model=MODEL (everybody's), say:NAME=TEXT,"
        " rule:NAME=silent; again for more."
    ),
    sets=_sets,
)
