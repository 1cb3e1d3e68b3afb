"""A persona from its file."""

from copy import deepcopy
from pathlib import Path

from pydantic import ValidationError

from simcounsel.errors import SpecError
from simcounsel.specs.load import Lines, parse_spec, read_yaml
from simcounsel.specs.persona import AnyPersona, ClientPersona, CounselorPersona, LaypersonPersona
from simcounsel.specs.problems import Unread, without

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


def as_far_as_read(unread: Unread) -> AnyPersona | None:
    """A persona without what is wrong in it, to look at what stands beside it; None where too
    little is left.
    """
    kind = BY_ROLE.get(str(unread.fields.get("role")), ClientPersona)
    fields = deepcopy({"role": "client", "name": unread.name, **unread.fields})
    for filler in ("unknown", None, 30, None):
        try:
            return kind.model_validate(fields)
        except ValidationError as error:
            found = error.errors(include_url=False)
        missing = [one["loc"] for one in found if one["type"] == "missing"]
        fields |= {at[0]: filler for at in missing if len(at) == 1}
        wrong = {one["loc"] for one in found} | {at[:-1] for at in missing}
        for at in sorted(wrong - {*missing}, key=lambda at: tuple(map(str, at)), reverse=True):
            without(fields, at)
    return None
