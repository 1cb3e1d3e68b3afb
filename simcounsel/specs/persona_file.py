"""A persona from its file."""

from pathlib import Path

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, parse_spec, read_yaml
from simcounsel.specs.persona import (
    AnyPersona,
    ClientPersona,
    CounselorPersona,
    LaypersonPersona,
    Routine,
)
from simcounsel.specs.problems import Unread

BY_ROLE: dict[str, type[ClientPersona] | type[CounselorPersona] | type[LaypersonPersona]] = {
    "client": ClientPersona,
    "counselor": CounselorPersona,
    "layperson": LaypersonPersona,
}


def load_persona(path: Path) -> AnyPersona:
    """A persona file; SpecError names every problem in it with its line."""
    data, lines = read_yaml(path)
    return parse_persona(data, path, lines)


def parse_persona(data: object, path: Path, lines: Lines) -> AnyPersona:
    """A persona out of what was read from `path`."""
    role = data.get("role") if isinstance(data, dict) else None
    kind = BY_ROLE.get(role) if isinstance(role, str) else None
    if kind is None:
        line = lines.get(("role",), 1)
        raise SpecError(
            [
                f"{path}:{line}: role: {role!r} is not one of client, counselor, layperson; add"
                " `role: client`"
            ]
        )
    return parse_spec(data, kind, path, lines)


def stand_in(unread: Unread) -> AnyPersona:
    """A persona of which only the role and the name count, in place of one that cannot be read, so
    that what is beside it is looked at all the same.
    """
    role = str(unread.fields.get("role"))
    role = role if role in BY_ROLE else "client"
    day = Routine.model_construct(since="00:00", until="23:59")
    return BY_ROLE[role].model_construct(role=role, name=unread.name, routines=(day,))
