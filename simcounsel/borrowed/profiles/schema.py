"""The JSON schema of our client persona, as it is published: docs/client.schema.json."""

import json
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from simcounsel.specs.persona import CHINESE_PRONOUNS, ClientPersona

ID = "urn:simcounsel:client:1"
BELIEFS = ("core_beliefs", "intermediate_beliefs", "coping_strategies")
TIME = "^([01]?[0-9]|2[0-3]):[0-5][0-9]$|^24:00$"


class _Untitled(GenerateJsonSchema):
    """Without a title for each key, which says the key again."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def client_schema() -> dict[str, Any]:
    """What pydantic makes of the model, with what only its validators know. Two rules are not in
    it: routines cover the day, and a `voice` has lines enough without slots.
    """
    made = ClientPersona.model_json_schema(schema_generator=_Untitled)
    fields, parts = made["properties"], made["$defs"]
    fields["pronouns"]["enum"] += list(CHINESE_PRONOUNS)
    fields["name"]["pattern"] = r"^[^\s\d_]"  # \w means other letters outside Python
    fields["days"]["items"] |= {"minItems": 5, "maxItems": 8}
    for part, keys in (("Stroke", ("at",)), ("Routine", ("since", "until"))):
        for key in keys:
            parts[part]["properties"][key]["pattern"] = TIME
    for key in BELIEFS:
        fields[key].pop("default", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "A client of simcounsel",
        **{key: made[key] for key in ("description", "type", "additionalProperties")},
        "required": made["required"],
        "anyOf": [
            {"required": ["case"], "properties": {"case": {"minItems": 1}}},
            {"required": list(BELIEFS), "properties": {k: {"minItems": 1} for k in BELIEFS}},
        ],
        "properties": fields,
        "$defs": parts,
    }


def schema_text() -> str:
    """The published file."""
    return json.dumps(client_schema(), ensure_ascii=False, indent=1) + "\n"
