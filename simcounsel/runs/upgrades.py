"""Runs of older versions, read as if this version had written them.

UPGRADES[N] takes what log version N wrote to version N + 1: first the manifest's fields, then each
event's. Whoever changes events in a way that old logs do not fit raises events.SCHEMA_VERSION and
adds a step here. Files are never rewritten: an older run can be looked at, measured and forked, but
not gone on with.
"""

from collections.abc import Callable
from typing import Any

from simcounsel.events import SCHEMA_VERSION

Fields = dict[str, Any]
Step = tuple[Callable[[Fields], Fields], Callable[[Fields], Fields]]


def _same(fields: Fields) -> Fields:
    return fields


_NAMES_OF_1: dict[str, dict[str, str]] = {
    "said": {"stressed": "emphasis"},
    "client_shifted": {"guard": "defense"},
}
"""Fields that version 1 called otherwise, by the kind of event."""


def _from_1(fields: Fields) -> Fields:
    """Version 1 had other names for some fields, and said in prose why a protocol moved on."""
    names = _NAMES_OF_1.get(str(fields.get("kind")), {})
    fields = {names.get(name, name): value for name, value in fields.items()}
    if fields.get("kind") != "transitioned":
        return fields
    reason = str(fields["reason"])
    return fields | {
        "forced": reason.startswith("broken off: "),
        "resumed": reason.startswith("taken up again"),
    }


def _from_2(fields: Fields) -> Fields:
    """Version 2 had other names for who was present, for a client's move, for the end of a session
    and for a question of the safety audit.
    """
    match fields:
        case {"kind": "remembered", "memory": {"company": present, **memory}}:
            return fields | {"memory": memory | {"present": present}}
        case {"kind": "decided", "policy": "changing", "move": move, "options": options}:
            named = {"guard": "defending"}
            return fields | {
                "move": named.get(move, move),
                "options": [named.get(option, option) for option in options],
            }
        case {"kind": "session_ended", "cause": "told"}:
            return fields | {"cause": "disclosed"}
        case {"kind": "measured", "instrument": "safety_audit", "items": items}:
            ids = {"taken_up": "acknowledged"}
            return fields | {
                "items": [item | {"id": ids.get(item["id"], item["id"])} for item in items]
            }
    return fields


def _manifest_from_3(fields: Fields) -> Fields:
    """What were policies of clients in version 3 is how their state moves; and everything could
    come to mind.
    """
    world = fields.get("world")
    if not isinstance(world, dict) or not isinstance(world.get("residents"), list):
        return fields
    changed: Fields = {
        "residents": [_client_of_3(one) for one in world["residents"]],
        "feelings_fade_minutes": world.get("feelings_fade_minutes"),
    }
    if isinstance(memory := world.get("memory"), dict):
        changed["memory"] = _RECALL_OF_3 | memory
    return fields | {"world": world | changed}


_RECALL_OF_3 = {
    "only_lived": False,
    "habituation_lines": 0,
    "initial_most": None,
    "initial_age_hours": 0,
    "conclusions_replace": False,
}
"""The paper's plain recall, which was the only one."""


def _client_of_3(resident: Any) -> Any:
    modes = {"changing": "moves", "disclosing": "still"}
    policy = resident.get("policy") if isinstance(resident, dict) else None
    mode = modes.get(policy.get("name", "")) if isinstance(policy, dict) else None
    return resident if mode is None else resident | {"policy": None, "client_state": mode}


def _from_3(fields: Fields) -> Fields:
    """Version 3 counted a client's resistance where this one has its openness, and knew one skill
    of a line.
    """
    match fields:
        case {"kind": "reasoned", "skill": skill}:
            named = () if skill is None else (skill,)
            return {name: value for name, value in fields.items() if name != "skill"} | {
                "skills": named
            }
        case {"kind": "client_shifted", "resistance": resistance}:
            kept = {name: fields[name] for name in OF_EVERY_EVENT if name in fields}
            openness, defense = round(10 - resistance, 2), fields.get("defense")
            return kept | {
                "before": openness,
                "openness": openness,
                "claimed": openness,
                "touched": None if defense is None else f"D{defense + 1}",
            }
    return fields


def _from_4(fields: Fields) -> Fields:
    """In version 4 only words could hear danger without a model."""
    if fields.get("kind") == "assessed" and fields.get("by") == "detector":
        return fields | {"by": "words"}
    return fields


OF_EVERY_EVENT = "seq tick minute kind calls fallback who chat".split()

UPGRADES: dict[int, Step] = {
    # version 2: events name the calls that they came from, which 1 did not know; a transition has
    # fields for being forced and resumed; fields have the field's own words (`_NAMES_OF_1`)
    1: (_same, _from_1),
    # version 3: each tick's end, a fork's mark and the manifest carry hashes, which 2 had not;
    # names (`_from_2`)
    2: (_same, _from_2),
    # version 4: openness instead of resistance and mood in client_shifted (moods, what was agreed
    # and what a client came to see stand in the file and are not read on), events belief_moved,
    # homework_agreed and material_opened; a client's state instead of two policies and settings of
    # what may come to mind (`_manifest_from_3`); slots say what they feel like; a line of a course
    # may use several skills
    3: (_manifest_from_3, _from_3),
    # version 5: who heard danger is words or a classifier, not "detector"; the end of a talk says
    # what danger was open
    4: (_same, _from_4),
}


def readable(version: object) -> bool:
    """Whether a run of that log version can be read: this one's, or one from which steps lead
    here.
    """
    return version == SCHEMA_VERSION or (
        isinstance(version, int)
        and version < SCHEMA_VERSION
        and all(step in UPGRADES for step in range(version, SCHEMA_VERSION))
    )


def manifest_of_today(data: Fields) -> Fields:
    """A readable manifest in this version's fields."""
    for step in range(int(data["schema_version"]), SCHEMA_VERSION):
        data = UPGRADES[step][0](data) | {"schema_version": step + 1}
    return data


def event_of_today(fields: Fields, version: int) -> Fields:
    """An event of a readable version in this version's fields."""
    for step in range(version, SCHEMA_VERSION):
        fields = UPGRADES[step][1](fields)
    return fields
