"""The JSON schema of an answer's type, as it is sent to a model and stands in a question's key."""

import json
import re
from typing import Any

from pydantic import BaseModel

from simcounsel.prompts.twins import described

_SCHEMAS: dict[tuple[type, str], dict[str, Any]] = {}
_SCHEMA_TEXTS: dict[tuple[type, str], str] = {}
_DATA = ("default", "enum", "const", "examples")
"""Parts of a schema that hold values, not schemas."""


def schema_of(schema: type, language: str = "en") -> dict[str, Any]:
    """The JSON schema of a pydantic model, without the titles that only repeat names; shared, not
    to be changed. In another language its descriptions are in that language, as far as
    `prompts/LANGUAGE/descriptions.txt` has them, and the words of a closed list that has an
    explanation there are explained; the words themselves stay, for they are ids.
    """
    if (schema, language) not in _SCHEMAS:
        assert issubclass(schema, BaseModel)
        plain = _untitled(schema.model_json_schema())
        _SCHEMAS[schema, language] = plain if language == "en" else _told(plain, language)
    return _SCHEMAS[schema, language]


def _told(schema: Any, language: str) -> Any:
    """A schema with its descriptions in a language."""
    if isinstance(schema, list):
        return [_told(one, language) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told = {
        key: {name: _told(part, language) for name, part in value.items()}
        if key in ("properties", "$defs")
        else value
        if key in _DATA
        else _told(value, language)
        for key, value in schema.items()
    }
    own = schema.get("description")
    words = described(", ".join(map(str, schema.get("enum", ()))), language)
    texts = [text for text in (own and (described(own, language) or own), words) if text]
    return told | ({"description": " ".join(texts)} if texts else {})


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
        if key in _DATA
        else _untitled(value)
        for key, value in schema.items()
        if key != "title"
    }


def response_format(schema: type, language: str = "en") -> dict[str, Any]:
    """The schema as a chat completion takes it beside its messages."""
    name = re.sub(r"\W", "_", schema.__name__, flags=re.ASCII)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": False, "schema": schema_of(schema, language)},
    }


def schema_text(schema: type, language: str = "en") -> str:
    """The JSON schema of a pydantic model, as it is sent."""
    if (schema, language) not in _SCHEMA_TEXTS:
        _SCHEMA_TEXTS[schema, language] = json.dumps(
            schema_of(schema, language), ensure_ascii=False, separators=(",", ":")
        )
    return _SCHEMA_TEXTS[schema, language]
