"""`--bot [NAME=]SPEC`: a bot in a resident's seat, and whether it keeps its contract."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from simcounsel.cli.finding import Finding
from simcounsel.cli.guest_options import GuestOption

if TYPE_CHECKING:
    from simcounsel.specs.world import World

_NAMED = re.compile(r"([^=:/]+)=(.+)", re.DOTALL)
SEATS = ("counselor", "layperson")
"""Whose seat a bot takes where none is named: the first of them in the world."""


def _sets(values: list[str], arguments: Mapping[str, Any]) -> list[str]:
    """The seats of a world, or of a run's, as `--set` has them. SpecError."""
    import json

    from simcounsel.bots.file import PREFIX
    from simcounsel.errors import SpecError

    world = _world(arguments)
    found: list[str] = []
    for value in values:
        name, spec = _seat(value, world)
        if name in (arguments.get("human") or ()):
            raise SpecError([f"--bot {value}: --human {name} seats a person there; leave one out"])
        seat = next(one for one in world.residents if one.name == name)
        allow(spec)
        mind = PREFIX + spec.removeprefix(PREFIX)
        found.append(f"residents.{name}.mind={json.dumps(mind, ensure_ascii=False)}")
        if seat.policy is not None:
            found.append(f"residents.{name}.policy=null")
        if seat.role == "counselor" and world.safety.counselors == "protocol":
            found.append("safety.counselors=assess")
    return found


def allow(spec: str) -> None:
    """The user named this bot: its code may be run, and its hosts be sent the keys it asks for."""
    from simcounsel.bots.file import PREFIX, bot_of
    from simcounsel.hosts import name_hosts
    from simcounsel.named_code import allow_code

    bot = bot_of(spec)
    if bot.runs_code:
        allow_code(PREFIX + spec.removeprefix(PREFIX))
    calls = (bot.endpoint.turn, bot.endpoint.start, bot.endpoint.end) if bot.endpoint else ()
    name_hosts([*(one.url for one in calls if one), *([bot.model] if bot.model else [])])


def _world(arguments: Mapping[str, Any]) -> "World":
    if "run" in arguments:
        from simcounsel.runs.run import Run

        return Run.open(arguments["run"]).world
    from simcounsel.specs.world_file import load_world

    return load_world(arguments["world"])


def _seat(value: str, world: "World") -> tuple[str, str]:
    """Whose seat, and the bot. SpecError where nobody has that name."""
    from simcounsel.errors import SpecError
    from simcounsel.specs.problems import suggest

    names = [one.name for one in world.residents]
    told = _NAMED.fullmatch(value)
    if told and told.group(1).strip() in names:
        return told.group(1).strip(), told.group(2).strip()
    if told and re.fullmatch(r"[\w .'’-]+", told.group(1)):
        raise SpecError(
            [f"--bot {value}: nobody is named {told.group(1)!r}; {suggest(told.group(1), names)}"]
        )
    for role in SEATS:
        if name := next((one.name for one in world.residents if one.role == role), None):
            return name, value.strip()
    raise SpecError(
        [f"--bot {value}: name the seat, --bot NAME=SPEC; there are {', '.join(names)}"]
    )


def _findings(values: list[str]) -> Iterator[Finding]:
    from simcounsel.bots.contract import examined

    for value in values:
        yield from examined(value)


BOT = GuestOption(
    metavar="[NAME=]SPEC",
    help=(
        "A bot speaks for this resident (the counselor if none is named): FILE.yaml,"
        " http(s)://.../v1/MODEL, command:PROGRAM, python:module:NAME, byhand:FOLDER."
    ),
    sets=_sets,
    findings=_findings,
)
