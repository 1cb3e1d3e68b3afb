"""The JSON schema of an answer's type, as it is sent to a model and stands in a question's key."""

import json
import re
from typing import Any

from pydantic import BaseModel

_SCHEMAS: dict[type, dict[str, Any]] = {}
_SCHEMA_TEXTS: dict[type, str] = {}


def schema_of(schema: type) -> dict[str, Any]:
    """The JSON schema of a pydantic model, without the titles that only repeat names; shared, not
    to be changed.
    """
    if schema not in _SCHEMAS:
        assert issubclass(schema, BaseModel)
        _SCHEMAS[schema] = _untitled(schema.model_json_schema())
    return _SCHEMAS[schema]


def _untitled(schema: Any) -> Any:
    """A schema whose parts have no `title`: it says what the name of the field says, and costs a
    tenth of what is sent. A field that is named so stays.
    """
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _untitled(part) for name, part in value.items()}
        if key in ("properties", "$defs")
        else value
        if key in ("default", "enum", "const", "examples")
        else _untitled(value)
        for key, value in schema.items()
        if key != "title"
    }


def response_format(schema: type) -> dict[str, Any]:
    """The schema as a chat completion takes it beside its messages."""
    name = re.sub(r"\W", "_", schema.__name__, flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": False, "schema": schema_of(schema)},
    }


def schema_text(schema: type) -> str:
    """The JSON schema of a pydantic model, as it is sent."""
    if schema not in _SCHEMA_TEXTS:
        _SCHEMA_TEXTS[schema] = json.dumps(
            schema_of(schema), ensure_ascii=False, separators=(",", ":")
        )
    return _SCHEMA_TEXTS[schema]
